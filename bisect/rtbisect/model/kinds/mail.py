# SPDX-License-Identifier: GPL-2.0-or-later
"""What is found of replies, reports and those who get them."""

from __future__ import annotations
