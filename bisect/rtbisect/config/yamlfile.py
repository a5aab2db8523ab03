# SPDX-License-Identifier: GPL-2.0-or-later
"""YAML files with line numbers: safe values only, duplicate keys refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from rtbisect.errors import ConfigError

#: Larger files, and files that aliases blow up beyond this many nodes, are refused.
MAX_BYTES = 1 << 20
MAX_NODES = 100_000

Place = tuple[str | int, ...]
Checked = TypeVar("Checked", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was parsed."""

    path: Path
    #: All that the file held.
    text: bytes
    data: dict[str, Any]
    #: From 1, of every place in the data: its keys and indices from the top.
    lines: dict[Place, int]

    def where(self, place: Place) -> str:
        """`file:line` of a place, or of its nearest parent that stands in the file."""
        while place and place not in self.lines:
            place = place[:-1]
        return f"{self.path}:{self.lines.get(place, 1)}"

    def refuse(self, place: Place, message: str, hint: str = "") -> ConfigError:
        """The error for a mistake at `place`."""
        return ConfigError(f"{self.where(place)}: {message}", hint)

    def checked(self, kind: type[Checked]) -> Checked:
        """The data as what may stand there; ConfigError for the first finding, with its line."""
        try:
            return kind.model_validate(self.data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = tuple(first["loc"])
            name = ".".join(str(part) for part in place) or "the file"
            raise self.refuse(place, f"{name}: {first['msg']}") from error


def read(path: Path) -> Document:
    """Read one YAML mapping; ConfigError with file and line for anything else."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "check the path") from error
    if len(text) > MAX_BYTES:
        raise ConfigError(f"{path}: larger than {MAX_BYTES} bytes")
    try:
        node = yaml.compose(text.decode("utf-8"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{path}:1: a mapping is needed at the top")
    walk = _Walk(path)
    data = walk.value(node, ())
    return Document(path, text, data, walk.lines)


class _Walk:
    """Turns nodes into values and notes the line of each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: dict[Place, int] = {}
        self.nodes = 0
        self.open: set[int] = set()

    def value(self, node: yaml.Node, place: Place) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise ConfigError(f"{self.path}: more than {MAX_NODES} values", "use fewer aliases")
        line = node.start_mark.line + 1
        self.lines.setdefault(place, line)
        if id(node) in self.open:
            raise ConfigError(f"{self.path}:{line}: an alias that holds itself")
        self.open.add(id(node))
        try:
            return self._inside(node, place, line)
        finally:
            self.open.discard(id(node))

    def _inside(self, node: yaml.Node, place: Place, line: int) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*place, i)) for i, item in enumerate(node.value)]
        loader = yaml.SafeLoader("")
        try:
            return loader.construct_object(node, deep=True)
        except (yaml.YAMLError, ValueError) as error:
            raise ConfigError(f"{self.path}:{line}: a value that is not plain YAML") from error
        finally:
            loader.dispose()

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == "tag:yaml.org,2002:merge":
                parts = (
                    value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]
                )
                for part in parts:
                    inner = self.value(part, place)
                    merged = {**(inner if isinstance(inner, dict) else {}), **merged}
                continue
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                raise ConfigError(f"{self.path}:{line}: keys must be plain text")
            if key in own:
                raise ConfigError(f"{self.path}:{line}: key {key!r} stands here twice")
            own[key] = self.value(value_node, (*place, key))
            self.lines[*place, key] = line
        return {**merged, **own}
