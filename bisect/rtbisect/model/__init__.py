# SPDX-License-Identifier: GPL-2.0-or-later
"""Values that the rooms hand to each other, frozen and plain, and the ports of the pipeline.

Nothing comes in but values, and nothing goes out: no I/O.
"""
