# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: the only place that prints or exits."""
