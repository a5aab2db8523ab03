# SPDX-License-Identifier: GPL-2.0-or-later
"""What a table of words holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

#: A format string (see `speak`), or what makes one where words depend on the data.
Words: TypeAlias = str | Callable[[Mapping[str, Any]], str]
