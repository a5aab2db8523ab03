# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines that somebody runs to see the same as a mail."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rtbisect.judge.scale import all_badness, badness, halfway
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.recipe import Recipe
from rtbisect.report.averages import threshold_of
from rtbisect.report.headline_figure import headline
from rtbisect.report.text import PROSE, ascii_line, foreign, public_address, wrap
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.model.report import ReportInput


class Step(NamedTuple):
    """A part of a recipe."""

    #: A `Recipe` that tells what the lines do.
    about: Finding
    #: Lines for a shell.
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Published:
    """Addresses that a reader can fetch; "" for what is nowhere."""

    #: URL that pip installs this program from.
    program: str = ""
    #: URL of the campaign's data, with a slash at its end.
    evidence: str = ""


def recipe(report: ReportInput, published: Published, *, emulator: bool = True) -> tuple[Step, ...]:
    """How somebody who has only this mail measures the same again. Nothing points to what is not
    published; a step whose lines would not run as they are printed is left out. Without `emulator`
    who can measure on a machine is not told how to do it in QEMU.
    """
    program = _program(published.program)
    if report.culprit is None or not published.evidence:
        return (*program, *_again(report))
    archive = f"{published.evidence.rstrip('/')}.tar.gz"
    data = Step(
        Finding.of(Recipe.DATA),
        (f"wget {archive}", f"tar xf {report.campaign}.tar.gz && cd {report.campaign}"),
    )
    steps = _kernels(report)
    return (data, *program, *(steps if emulator or len(steps) == 1 else steps[:-1]))


def in_data(report: ReportInput) -> tuple[Step, ...]:
    """The same for who has the evidence; () where no commit is named."""
    if report.culprit is None:
        return ()
    return (Step(Finding.of(Recipe.IN_DATA, campaign=report.campaign), ()), *_kernels(report))


def own_boots(report: ReportInput) -> tuple[Step, ...]:
    """How the operator boots the commit and its parent in QEMU; () where no commit is named."""
    if report.culprit is None:
        return ()
    bundle = f"rtbisect report bundle {report.campaign} {report.campaign}"
    boot = _boot(report, f"{report.campaign}/boot.sh", other=True, told=False)
    return (boot._replace(lines=(bundle, *boot.lines)),)


def recipe_of_command(report: ReportInput, program: str) -> tuple[Step, ...]:
    """How somebody runs the same search of a command; `program` is an address as in `Published`."""
    command = _whole(report.command)
    again = Step(Finding.of(Recipe.REPOSITORY), _continued(command))
    return (*_program(program), again) if command else ()


def lines_of(steps: Iterable[Step]) -> tuple[str, ...]:
    """A recipe as it is printed; a long command is continued with a backslash, never wrapped. What
    a line is for stands behind it where both fit on one.
    """
    lines: list[str] = []
    for step in steps:
        about = foreign(str(speak(step.about)), 300)
        if len(step.lines) == 1 and len(both := f"  {step.lines[0]}  # {about}") <= PROSE:
            lines.append(both)
            continue
        lines += wrap(about, first="  # ", rest="  # ").split("\n")
        lines += [f"  {line}" for line in step.lines]
    return tuple(lines)


def _program(url: str) -> tuple[Step, ...]:
    if not url:
        return ()
    lines = ("python3 -m venv venv && . venv/bin/activate", *_continued(f"pip install {url}"))
    return (Step(Finding.of(Recipe.PROGRAM), lines),)


def _kernels(report: ReportInput) -> tuple[Step, ...]:
    """Parent and commit, built and measured by the scripts of the evidence."""
    url = _fetched(report.repo)
    # Without its source nobody boots a kernel on a machine of his own.
    on_machine = bool(url) and not report.host.device.emulated
    steps = []
    if url:
        lines = (*_continued(f"git clone {url} linux"), "sh build.sh linux")
        steps.append(Step(Finding.of(Recipe.BUILD), lines))
    if on_machine:
        steps.append(Step(_about_machine(_boots(report)), ("sh measure.sh",)))
    return (*steps, _boot(report, "boot.sh", other=on_machine, told=on_machine))


class _Boots(NamedTuple):
    """How many boots of each kernel are enough, and what that rests on."""

    wanted: int
    #: Of `of` boots of the worse kernel `seen` show the difference.
    seen: int
    of: int


def _about_machine(boots: _Boots | None) -> Finding:
    if boots is None:
        return Finding.of(Recipe.MEASURE)
    return Finding.of(Recipe.MEASURE_OFTEN, boots=boots.wanted, seen=boots.seen, of=boots.of)


def _boot(report: ReportInput, script: str, *, other: bool, told: bool) -> Step:
    """Boots in QEMU; `told` where the reader knows already why one is not enough."""
    boots, emulated = _boots(report), report.host.device.emulated
    about = Finding.of(Recipe.BOOT, emulated=emulated, other=other)
    if boots and not told:
        about = Finding.of(
            Recipe.BOOT_OFTEN, emulated=emulated, other=other, seen=boots.seen, of=boots.of
        )
    return Step(about, (f"sh {script} {boots.wanted}" if boots else f"sh {script}",))


#: One of the wanted boots shows the effect as likely as this.
_SEEN = 0.95
#: Who has no lab has no patience for more.
_MOST_BOOTS = 20


def _boots(report: ReportInput) -> _Boots | None:
    """The boots until one of the kernel that is worse is beyond the limit between both; None where
    nearly all are, or nothing is known.
    """
    opening = headline(report)
    limit = threshold_of(report, opening[0].key) if opening else None
    if opening is None or limit is None or opening[0].figure or not opening[0].two_sided:
        return None
    sides = [opening[0].base.values, opening[0].new.values]
    between = badness(limit, halfway(limit, *sides))
    seen, of = max(
        ((sum(each > between for each in all_badness(limit, side)), len(side)) for side in sides),
        key=lambda side: side[0] / side[1],
    )
    if not 0 < seen / of < _SEEN:
        return None
    wanted = math.ceil(math.log(1 - _SEEN) / math.log(1 - seen / of))
    return _Boots(min(wanted, _MOST_BOOTS), seen, of)


def _again(report: ReportInput) -> tuple[Step, ...]:
    """The commit, and the search for who has a lab."""
    commit = report.culprit.sha if report.culprit else report.newer
    if report.repo and not public_address(report.repo):
        about = Finding.of(Recipe.LOCAL_CLONE, tree=foreign(report.tree, 40))
    else:
        about = Finding.of(Recipe.CLONE, source=foreign(report.repo, 200))
    clone = Step(about, (f"git checkout {ascii_line(shlex.quote(commit), 60)}",))
    command = _whole(report.command)
    return (clone, *([Step(Finding.of(Recipe.LAB), _continued(command))] if command else []))


def _fetched(repo: str) -> str:
    """The address of a repository as a word for a shell; "" for one that nobody else can fetch."""
    return shlex.quote(repo) if _whole(repo) and re.match(r"(https?|git)://", repo) else ""


def _whole(text: str) -> str:
    """A text for a shell; "" for one that a mail would not have as it is."""
    return text if text and foreign(text, 500) == text else ""


def _continued(command: str) -> tuple[str, ...]:
    """A command over several lines, broken between words only, before options if it can."""
    lines, current = [], ""
    for group in _groups(command):
        joined = " ".join(group)
        for part in [joined] if len(joined) <= 66 else group:
            if current and len(current) + len(part) > 66:
                lines.append(current)
                current = part
            else:
                current = f"{current} {part}".strip()
    lines.append(current)
    ends = [f"{line} \\" for line in lines[:-1]] + [lines[-1]]
    return tuple(line if i == 0 else f"    {line}" for i, line in enumerate(ends))


def _groups(command: str) -> list[list[str]]:
    """Words of a command line, an option together with its values."""
    try:
        words = [shlex.quote(word) for word in shlex.split(command)]
    except ValueError:
        words = command.split()
    groups: list[list[str]] = []
    for word in words:
        if word.startswith("--") or not groups:
            groups.append([word])
        else:
            groups[-1].append(word)
    return groups
