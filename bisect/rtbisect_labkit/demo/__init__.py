# SPDX-License-Identifier: GPL-2.0-or-later
"""Histories with a known answer, made from a real kernel source: for tests and for show."""
