# SPDX-License-Identifier: GPL-2.0-or-later
"""What a change is made of as tables tell it: a row for what is one to a reader."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.report import Tasks
from rtbisect.suites.base import source_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.result import Origin

#: The name of a task that the tracer does not know.
_UNKNOWN = "<...>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One source of a change, or several that differ by the number of their task alone."""

    kind: str
    #: One of `Tasks`.
    who: Finding
    functions: tuple[str, ...]
    #: A second and on all watched CPUs together, and a share of the change: of all its tasks.
    parent: float
    culprit: float
    share: float
    tasks: int


def sources(origins: Iterable[Origin]) -> tuple[Source, ...]:
    """The sources of a change, the largest share first; those of equal kind and functions whose
    tasks nobody can tell apart by name are one.
    """
    merged: dict[tuple[str, str, tuple[str, ...]], Source] = {}
    for origin in origins:
        task, functions = source_parts(origin.name)
        name = _name(task)
        known = merged.get((origin.kind, name, functions))
        source = Source(
            kind=origin.kind,
            who=Finding.of(Tasks.NAMED, name=task),
            functions=functions,
            parent=origin.parent,
            culprit=origin.culprit,
            share=origin.share,
            tasks=1,
        )
        merged[origin.kind, name, functions] = _together(name, known, source)
    return tuple(sorted(merged.values(), key=lambda source: -source.share))


def _name(task: str) -> str:
    """A task without its number, which a tracer prints behind a name."""
    name, _, number = task.strip().rpartition("-")
    return name if name and number.isdigit() else task


def _together(name: str, known: Source | None, source: Source) -> Source:
    """Two rows as one, or the only one there is."""
    tasks = known.tasks + 1 if known else 1
    if name == _UNKNOWN:
        source = replace(source, who=Finding.of(Tasks.UNKNOWN, tasks=tasks))
    elif known:
        source = replace(source, who=Finding.of(Tasks.SEVERAL, name=name, tasks=tasks))
    if known is None:
        return source
    return replace(
        source,
        parent=known.parent + source.parent,
        culprit=known.culprit + source.culprit,
        share=known.share + source.share,
        tasks=tasks,
    )
