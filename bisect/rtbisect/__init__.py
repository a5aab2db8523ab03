# SPDX-License-Identifier: GPL-2.0-or-later
"""rtbisect: automated kernel bisection and regression bot."""

__version__ = "0.1.0"
