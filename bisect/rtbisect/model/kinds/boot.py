# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a boot, or the run of a command, is no evidence."""

from __future__ import annotations
