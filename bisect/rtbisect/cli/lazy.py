# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that are imported when somebody asks for one: most need what the others do not, and all
together take a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cache
from importlib import import_module
from typing import TypeAlias

import click

Loader: TypeAlias = Callable[[], click.Command]


class Commands(MutableMapping[str, click.Command]):
    """What click takes as the commands of a group. Their names are known without them."""

    def __init__(self, loaders: Mapping[str, Loader]) -> None:
        self._loaders: dict[str, Loader] = {}
        for name, loader in loaders.items():
            self.later(name, loader)

    def __getitem__(self, name: str) -> click.Command:
        return self._loaders[name]()

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaders[name] = lambda: command

    def __delitem__(self, name: str) -> None:
        del self._loaders[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaders)

    def __len__(self) -> int:
        return len(self._loaders)

    def __contains__(self, name: object) -> bool:
        return name in self._loaders

    def later(self, name: str, loader: Loader) -> None:
        """Give the command of that name, which may be there already, another loader."""
        self._loaders[name] = cache(loader)

    def loader(self, name: str) -> Loader:
        """What gives the command of that name; KeyError where there is none."""
        return self._loaders[name]


def command_of(module: str, name: str) -> click.Command:
    """The command of that name in a module of this folder."""
    command: click.Command = getattr(import_module(f".{module}", __package__), name)
    return command
