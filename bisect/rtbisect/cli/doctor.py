# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect doctor`: what works on this machine, and what to install for the rest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import click

from rtbisect.campaign import labs
from rtbisect.cli.options import answers, site_option
from rtbisect.errors import ConfigError, Exit, RtbisectError
from rtbisect.kernel import preflight
from rtbisect.mail.accounts import transport_of
from rtbisect.process import extras, plugins

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from rtbisect.cli.output import Output
    from rtbisect.config.site_file import Site

#: Raises an error that says what is missing.
Check: TypeAlias = Callable[[], object]


class Missing(NamedTuple):
    """Something that a part needs and this machine does not have, and what to do about it."""

    what: str
    hint: str


class Row(NamedTuple):
    """A part of the program, and what it lacks here."""

    part: str
    missing: tuple[Missing, ...]


def _run(output: Output, _site: Path | None) -> Iterator[Check]:
    yield _git
    yield lambda: _writable(output.state)


def _demo(output: Output, _site: Path | None) -> Iterator[Check]:
    yield from _kernels(output)
    yield lambda: _installed(extras.LAB)
    yield lambda: labs.check_embedded(output.state)
    for entry in plugins.plugins(plugins.NEEDS):
        yield partial(_as_told_by, entry)


def _lab(output: Output, site: Path | None) -> Iterator[Check]:
    yield from _kernels(output)
    yield from _of_site(lambda: _lab_of(output.state, output.site(site)))


def _mail(output: Output, site: Path | None) -> Iterator[Check]:
    yield from _of_site(lambda: _way_of_mail(output.state, output.site(site)))


#: The parts, with the checks of each and the commands that it is made of.
PARTS: Mapping[str, Callable[[Output, Path | None], Iterator[Check]]] = {
    "run": _run,
    "demo": _demo,
    "lab": _lab,
    "mail": _mail,
}
COMMANDS = {
    "run": "run, resume, status, stop, report lint, rejudge, figures",
    "demo": "demo, case",
    "lab": "check, bisect, watch, try, lab, host",
    "mail": "report propose, mail",
}


@click.command(epilog="Example: rtbisect doctor demo")
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
@site_option
@answers
def doctor(output: Output, parts: tuple[str, ...], site: Path | None) -> int:
    """Show which PARTS of the program work on this machine, and what to install for the others.

    It installs and changes nothing, and contacts no server (`rtbisect lab check` does that).
    Parts are run, demo, lab and mail (default: all). Exit code 2: a part that you name does not
    work.
    """
    rows = [Row(part, _missing(PARTS[part](output, site))) for part in parts or PARTS]
    data = {
        "parts": [
            {
                "part": row.part,
                "works": not row.missing,
                "missing": [each._asdict() for each in row.missing],
            }
            for row in rows
        ]
    }
    output.answer(data, "\n".join(line for row in rows for line in _lines(row)))
    named_fails = bool(parts) and any(row.missing for row in rows)
    return Exit.CONFIG if named_fails else Exit.ANSWERED


def _missing(checks: Iterable[Check]) -> tuple[Missing, ...]:
    """What the checks refuse, each thing once."""
    found: dict[Missing, None] = {}
    for check in checks:
        try:
            check()
        except RtbisectError as error:
            found[Missing(error.message, error.hint)] = None
    return tuple(found)


def _lines(row: Row) -> Iterator[str]:
    yield f"{row.part:<5}{'needs more' if row.missing else 'works':<11} ({COMMANDS[row.part]})"
    for each in row.missing:
        yield f"     {each.what}: {each.hint}"


def _kernels(output: Output) -> Iterator[Check]:
    root = output.state / "build"
    yield lambda: preflight.judge(preflight.look(root), root)


def _as_told_by(entry: EntryPoint) -> None:
    plugins.load(entry)()


def _of_site(check: Check) -> Iterator[Check]:
    """A check that reads the site file, where that can be read at all."""
    yield lambda: _installed(extras.LAB)
    if extras.LAB.installed:
        yield check


def _installed(extra: extras.Extra) -> None:
    if not extra.installed:
        raise ConfigError(f"the extra [{extra.name}] is not installed", extra.hint)


def _git() -> None:
    if shutil.which("git") is None:
        raise ConfigError("git is not installed", "install the package git")


def _writable(state: Path) -> None:
    place = next(path for path in (state, *state.absolute().parents) if path.exists())
    if not os.access(place, os.W_OK | os.X_OK):
        raise ConfigError(f"{place}: not writable", "choose another folder with --state")


def _lab_of(state: Path, site: Site) -> None:
    if site.access is None:
        labs.check_embedded(state)


def _way_of_mail(state: Path, site: Site) -> None:
    transport_of(state, site)
    send = site.ours.mail.send
    program = send.sendmail if send else None
    if program and not os.access(site.beside(str(program)), os.X_OK):
        raise ConfigError(f"{program} cannot be run", "install a mail server, or name another")
