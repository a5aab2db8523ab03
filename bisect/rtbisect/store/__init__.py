# SPDX-License-Identifier: GPL-2.0-or-later
"""What survives a kill: campaigns, their journal and the revisions seen."""
