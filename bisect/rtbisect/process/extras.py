# SPDX-License-Identifier: GPL-2.0-or-later
"""Extras of the package: what a plain `pip install` leaves out, since `rtbisect run` needs none."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from rtbisect.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra of pyproject.toml, by the package that no other one brings."""

    name: str
    #: Name of the module that Python imports.
    module: str
    #: Requirement as pip takes it, for example with a version.
    requirement: str

    @property
    def installed(self) -> bool:
        """Whether it can be imported; it is not."""
        return find_spec(self.module) is not None

    @property
    def hint(self) -> str:
        """How to install it, in a line."""
        pip = shlex.join((sys.executable, "-m", "pip", "install", self.requirement))
        return f"install rtbisect[{self.name}], or run: {pip}"

    @contextmanager
    def needed_by(self, what: str) -> Iterator[None]:
        """Imports of it; where they fail, ConfigError says that `what` needs it."""
        try:
            yield
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"{what} needs the extra [{self.name}]: {error.msg}", self.hint
            ) from error


LAB = Extra("lab", "kernelci", "kernelci==1.1")
DEMO = Extra("demo", "unidiff", "unidiff>=1.0")
KCIDB = Extra("kcidb", "kcidb_io", "kcidb-io>=141")
ALL = (LAB, DEMO, KCIDB)


def bringing(module: str | None) -> Extra | None:
    """The extra that brings a module; None for one that belongs to none."""
    top = (module or "").partition(".")[0]
    return next((extra for extra in ALL if extra.module == top), None)
