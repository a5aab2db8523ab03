# SPDX-License-Identifier: GPL-2.0-or-later
"""Trust: what has to hold before a culprit is named to anybody. Pure, like the search."""
