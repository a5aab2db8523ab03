# SPDX-License-Identifier: GPL-2.0-or-later
"""Git repositories under test, through git's command line only."""
