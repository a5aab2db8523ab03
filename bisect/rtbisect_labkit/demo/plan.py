# SPDX-License-Identifier: GPL-2.0-or-later
"""What a demo history looks like, drawn from a seed: pure, no file of the source is read."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtbisect.errors import ConfigError
from rtbisect_labkit.demo.cases import CASES, KINDS
from rtbisect_labkit.demo.edits import Catalogue, Edit, load_catalogue

MIN_COMMITS = 4
MAX_COMMITS = 240

#: Up to so many commits the history is a line that builds and boots everywhere.
PLAIN_COMMITS = 12

#: From so many commits on there are side branches; from the second number on a third one.
BRANCHED_COMMITS = 24
THREE_SIDES_COMMITS = 48

SIDE_MIN, SIDE_MAX = 3, 8

#: 2026-01-05 09:00 UTC; good is one hour older.
EPOCH = 1767603600

TOPICS = ("cleanups", "small-fixes", "next", "docs", "for-6.13", "misc", "tidy", "comments")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCommit:
    """One commit of a plan."""

    #: Indices of earlier steps; -1 is good.
    parents: tuple[int, ...]
    #: Edit that the commit makes; None for a merge.
    edit: Edit | None
    subject: str
    body: str
    #: Numbers of persons (people.py).
    author: int
    committer: int
    #: Seconds since 1970.
    when: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A history as it is drawn."""

    #: Differs for other arguments of `plan` and other histories, and does not tell the kind.
    name: str
    seed: int
    #: Merges included.
    commits: int
    #: A key of CASES.
    kind: str
    #: The culprit lies in a stretch that does not build.
    hard: bool
    #: Parents first; the last one is bad.
    steps: tuple[PlannedCommit, ...]
    #: Its index in `steps`; None for the kind "nothing".
    culprit: int | None
    #: Indices of the commits that nobody can tell apart: the culprit alone, or the whole
    #: unbuildable stretch that it hides in.
    culprit_set: tuple[int, ...]
    #: Indices of those that do not build, and of those that do not boot.
    build_failures: tuple[int, ...]
    boot_failures: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Item:
    """An edit in its place in a history."""

    edit: Edit
    #: Fault of the kernel at this point: "", "build" or "boot".
    fault: str = ""
    culprit: bool = False
    #: The commit cannot be told from the culprit.
    in_set: bool = False


_Block = tuple[_Item, ...]


def plan(
    seed: int,
    commits: int = 64,
    kind: str | None = None,
    *,
    hard: bool = False,
) -> Plan:
    """Draw a history of `commits` commits (merges included). The same arguments give the
    same plan. ConfigError for sizes and kinds that do not exist.
    """
    _check(commits, kind, hard=hard)
    arguments = f"rtbisect demo {seed} {commits} {kind} {hard}"
    # Cases that plant the same commit have the same history: what one of them names as its
    # culprit, another one names as what repairs.
    same = _planted(kind) if kind else None
    rng = random.Random(f"rtbisect demo {seed} {commits} {same} {hard}")  # noqa: S311
    choices = KINDS[:2] if hard else KINDS
    drawn = kind or rng.choice(choices)
    blocks, sides = _draw(rng, commits, _planted(drawn), load_catalogue(), hard=hard)
    line, parents = _weave(rng, blocks, sides)
    steps = _dress(rng, line, parents)
    culprit = [i for i, item in enumerate(line) if item and item.culprit]
    unsure = tuple(i for i, item in enumerate(line) if item and item.in_set)
    # Of the steps, too: another version of the edits draws another history.
    digest = hashlib.sha256(f"{arguments} {steps}".encode()).hexdigest()
    return Plan(
        name=f"{seed}-{commits}-{digest[:6]}",
        seed=seed,
        commits=commits,
        kind=drawn,
        hard=hard,
        steps=steps,
        culprit=culprit[0] if culprit else None,
        culprit_set=unsure or tuple(culprit),
        build_failures=tuple(i for i, item in enumerate(line) if item and item.fault == "build"),
        boot_failures=tuple(i for i, item in enumerate(line) if item and item.fault == "boot"),
    )


def _planted(kind: str) -> str:
    """The edit that a kind plants; of "nothing" its own name."""
    return CASES[kind].plants or kind


def _check(commits: int, kind: str | None, *, hard: bool) -> None:
    if not MIN_COMMITS <= commits <= MAX_COMMITS:
        raise ConfigError(
            f"a demo history cannot have {commits} commits",
            f"give a number from {MIN_COMMITS} to {MAX_COMMITS}",
        )
    if kind is not None and kind not in CASES:
        raise ConfigError(f"{kind!r} is no kind of demo history", f"use {', '.join(CASES)}")
    if hard and (commits <= PLAIN_COMMITS or kind == "nothing"):
        raise ConfigError(
            "a hard demo history needs a culprit and commits that do not build",
            f"ask for more than {PLAIN_COMMITS} commits and a kind other than nothing",
        )


def _draw(
    rng: random.Random, commits: int, kind: str, table: Catalogue, *, hard: bool
) -> tuple[list[_Block], int]:
    """All edits as blocks that stay together, and the number of side branches."""
    sides = 0 if commits < BRANCHED_COMMITS else 2 if commits < THREE_SIDES_COMMITS else 3
    edits = commits - sides
    special = _planted_blocks(rng, edits, kind, table, hard=hard)
    fixed = sum(item.edit is not _HOLE for block in special for item in block)
    decoys = [_Item(edit) for edit in _decoys(rng, edits - fixed, kind, table)]
    blocks: list[_Block] = []
    for block in special:
        inner = tuple(_fill(item, decoys) for item in block)
        # A harmless neighbour on both sides, so that the culprit can be tested.
        guarded = any(item.culprit for item in block)
        blocks.append((decoys.pop(), *inner, decoys.pop()) if guarded else inner)
    blocks += [(item,) for item in decoys]
    rng.shuffle(blocks)
    return blocks, sides


#: Stands for a harmless edit inside a stretch that does not build.
_HOLE = Edit(area="hole", file="", subject="", body="", changes=())


def _fill(item: _Item, decoys: list[_Item]) -> _Item:
    if item.edit is not _HOLE:
        return item
    return replace(item, edit=decoys.pop().edit)


def _planted_blocks(
    rng: random.Random, edits: int, kind: str, table: Catalogue, *, hard: bool
) -> list[_Block]:
    culprit = None if kind == "nothing" else table.culprits[kind]
    if edits <= PLAIN_COMMITS:
        return [] if culprit is None else [(_Item(culprit, culprit=True),)]
    pair = rng.choice(table.build_pairs)
    broken = _Item(pair.breaks, "build", in_set=hard)
    hole = _Item(_HOLE, "build", in_set=hard)
    mended = _Item(pair.mends, in_set=hard)
    if hard and culprit is not None:
        hidden = _Item(culprit, "build", culprit=True, in_set=True)
        before, after = [hole] * rng.randint(0, 1), [hole] * rng.randint(0, 1)
        blocks: list[_Block] = [(broken, *before, hidden, *after, mended)]
    else:
        blocks = [(broken, *[hole] * rng.randint(1, 2), mended)]
        if culprit is not None:
            blocks.append((_Item(culprit, culprit=True),))
    boot = rng.choice(table.boot_pairs)
    blocks.append((_Item(boot.breaks, "boot"), _Item(boot.mends)))
    return blocks


def _decoys(rng: random.Random, room: int, kind: str, table: Catalogue) -> list[Edit]:
    """`room` harmless edits in random order. The twins of the other culprits and three
    edits each of the epoll and the RCU code come first when room is scarce.
    """
    usable = [edit for edit in table.harmless if edit.twin_of != kind]
    twins = [edit for edit in usable if edit.twin_of]
    epoll = _shuffled(rng, usable, "epoll")
    rcu = _shuffled(rng, usable, "rcu")
    near = [e for both in zip(epoll[:3], rcu[:3], strict=True) for e in both]
    chosen = [*twins, *near][:room]
    pools = [
        [*_shuffled(rng, usable, "built"), *epoll[3:], *rcu[3:]],
        _shuffled(rng, usable, "docs"),
        _shuffled(rng, usable, "drivers"),
    ]
    rng.shuffle(pools[0])
    weights = [0.45, 0.25, 0.30]
    while len(chosen) < room:
        pool = rng.choices(pools, weights)[0]
        if pool:
            chosen.append(pool.pop())
        elif not any(pools):
            raise ConfigError("there are too few edits for so many commits")
    rng.shuffle(chosen)
    return chosen


def _shuffled(rng: random.Random, edits: Sequence[Edit], area: str) -> list[Edit]:
    of_area = [edit for edit in edits if edit.area == area and not edit.twin_of]
    rng.shuffle(of_area)
    return of_area


def _weave(
    rng: random.Random, blocks: list[_Block], sides: int
) -> tuple[list[_Item | None], list[tuple[int, ...]]]:
    """Items in topological order (None: a merge) with the parents of each.

    Branches fork and join only between blocks of the main line, so a stretch that does
    not build never leaks into another line.
    """
    lines = _split(rng, blocks, sides)
    main = lines[0]
    span: list[tuple[int, int]] = []
    for _ in range(sides):
        fork = rng.randrange(len(main))
        span.append((fork, rng.randint(fork + 1, len(main))))
    order: list[_Item | None] = []
    parents: list[tuple[int, ...]] = []
    forked: dict[int, int] = {}

    def add(line: Sequence[_Block], tip: int) -> int:
        for item in (item for block in line for item in block):
            parents.append((tip,))
            order.append(item)
            tip = len(order) - 1
        return tip

    tip = -1
    for at in range(len(main) + 1):
        for side in [s for s in range(sides) if span[s][1] == at]:
            end = add(lines[side + 1], forked[side])
            parents.append((tip, end))
            order.append(None)
            tip = len(order) - 1
        forked |= {side: tip for side in range(sides) if span[side][0] == at}
        if at < len(main):
            tip = add(main[at : at + 1], tip)
    return order, parents


def _split(rng: random.Random, blocks: list[_Block], sides: int) -> list[list[_Block]]:
    """Blocks of the main line first, then those of each side branch of 3 to 8 commits."""
    rest = list(blocks)
    total = sum(len(block) for block in blocks)
    most = min(SIDE_MAX, total // (sides + 2))
    lines: list[list[_Block]] = []
    for _ in range(sides):
        length = rng.randint(SIDE_MIN, max(SIDE_MIN, most))
        line: list[_Block] = []
        for block in list(rest):
            if sum(map(len, line)) + len(block) <= length:
                line.append(block)
                rest.remove(block)
        lines.append(line)
    return [rest, *lines]


def _dress(
    rng: random.Random, line: Sequence[_Item | None], parents: Sequence[tuple[int, ...]]
) -> tuple[PlannedCommit, ...]:
    """Names, dates and messages."""
    people = rng.sample(range(1, 400), 24)
    topics = rng.sample(TOPICS, len(TOPICS))
    when, steps = EPOCH, []
    for item, above in zip(line, parents, strict=True):
        when += rng.randint(600, 7200)
        author, committer = rng.choice(people), rng.choice(people[:6])
        if item is None:
            subject, body, author = f"Merge branch '{topics.pop()}'", "", committer
        else:
            subject, body = item.edit.subject, item.edit.body
        steps.append(
            PlannedCommit(
                parents=above,
                edit=item.edit if item else None,
                subject=subject,
                body=body,
                author=author,
                committer=committer,
                when=when,
            )
        )
    return tuple(steps)
