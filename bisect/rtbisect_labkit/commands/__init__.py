# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that the kit adds to rtbisect."""
