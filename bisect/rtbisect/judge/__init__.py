# SPDX-License-Identifier: GPL-2.0-or-later
"""Judging: is a kernel worse than its baseline, why, and is that believed? Pure.

Figures of boots come in; judgements, causes and gates go out.
"""
