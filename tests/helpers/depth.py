# SPDX-License-Identifier: GPL-2.0-or-later
"""How deep tests look: `quick` at every change, `night` with `--hypothesis-profile=night`."""

from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")


def deep(quick: T, night: T) -> T:
    """The value of the profile that this run has."""
    return night if settings.get_current_profile_name() == "night" else quick
