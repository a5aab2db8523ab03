# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages of the program and of each of its commands, from what `--help` says.

.venv/bin/python tools/man_pages.py FOLDER     writes FOLDER/rtbisect.1, rtbisect-run.1, ...
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect import __version__
from rtbisect.cli.app import main

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "rtbisect"


def pages(
    group: click.Command = main, above: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Name and text of the page of a command, then of those in it."""
    name = NAME if above is None else str(group.name)
    context = group.make_context(name, [], parent=above, resilient_parsing=True)
    inner = group.commands if isinstance(group, click.Group) else {}
    yield context.command_path.replace(" ", "-"), _page(group, context)
    for each in inner.values():
        yield from pages(each, context)


def _page(command: click.Command, context: click.Context) -> str:
    path = context.command_path
    title = path.replace(" ", "-")
    about = command.get_short_help_str(limit=200).rstrip(".")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        '.\\" SPDX-License-Identifier: GPL-2.0-or-later',
        f'.TH "{title.upper()}" 1 "" "{NAME} {__version__}" ""',
        ".SH NAME",
        f"{_text(title)} \\- {_text(about)}",
        ".SH SYNOPSIS",
        f".B {_text(path)}",
        _text(usage),
        ".SH DESCRIPTION",
        *_paragraphs(command.help or ""),
    ]
    records = [record for each in command.get_params(context) if (record := _record(each, context))]
    if records:
        lines.append(".SH OPTIONS")
        for option, told in records:
            lines += [".TP", f".B {_text(option)}", _text(told)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for name, each in command.commands.items():
            lines += [".TP", f".BR {_text(f'{title}-{name}')} (1)"]
            lines.append(_text(each.get_short_help_str(limit=200)))
    if command.epilog:
        lines += [".SH EXAMPLE", ".EX", _text(command.epilog.removeprefix("Example: ")), ".EE"]
    if context.parent is not None:
        parent = context.parent.command_path.replace(" ", "-")
        lines += [".SH SEE ALSO", f".BR {_text(parent)} (1)"]
    return "\n".join(lines) + "\n"


def _record(parameter: click.Parameter, context: click.Context) -> tuple[str, str] | None:
    """An option and what is told of it; None of an argument, of which the description tells."""
    found = parameter.get_help_record(context)
    return (found[0], " ".join(found[1].split())) if found and found[1] else None


def _paragraphs(told: str) -> Iterator[str]:
    """Paragraphs as click has them: a line with \\b before one keeps its lines."""
    for number, paragraph in enumerate(told.strip().split("\n\n")):
        lines = [line.strip() for line in paragraph.splitlines()]
        kept = lines[0] == "\b"
        if number:
            yield ".PP"
        if kept:
            yield from (".EX", *map(_text, lines[1:]), ".EE")
        else:
            yield _text(" ".join(lines))


def _text(told: str) -> str:
    """Text of ours that troff shows as it is: neither a macro nor an escape, with real hyphens."""
    escaped = told.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def write(folder: Path) -> int:
    """Write all pages; how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for name, text in pages():
        (folder / f"{name}.1").write_text(text, encoding="utf-8")
        written += 1
    return written


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: man_pages.py FOLDER")
    print(f"{write(Path(sys.argv[1]))} pages in {sys.argv[1]}")
