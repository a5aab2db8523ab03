# SPDX-License-Identifier: GPL-2.0-or-later
"""Judging: is a kernel worse than its baseline? Pure: numbers in, a verdict out."""
