# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab: from a built kernel to a boot with its numbers, through LAVA.

A request for a boot comes in; a run with its figures goes out, or whose fault it is.
"""
