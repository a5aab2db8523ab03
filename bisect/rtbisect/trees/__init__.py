# SPDX-License-Identifier: GPL-2.0-or-later
"""Git repositories under test, through git's command line only.

Revisions and patches come in; commits, what they change, which series lack one, and a worktree
go out.
"""
