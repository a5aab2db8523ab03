# SPDX-License-Identifier: GPL-2.0-or-later
"""What a table of words holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from rtbisect.model.finding import Value

#: A format string (see `speak`), or what makes one of the data where words depend on them.
Words: TypeAlias = str | Callable[[Mapping[str, Value]], str]
