# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: from a built kernel to a boot with its numbers, through LAVA."""
