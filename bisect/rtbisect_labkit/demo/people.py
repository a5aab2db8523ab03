# SPDX-License-Identifier: GPL-2.0-or-later
"""Example people in place of real ones, so that no report of a demo names or reaches anybody."""

from __future__ import annotations

import re
from collections.abc import Callable

#: Files at the top of a kernel source that consist of names and addresses.
FILES = ("MAINTAINERS", "CREDITS", ".mailmap", ".get_maintainer.ignore")

MAIL = re.compile(r"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")
URL = re.compile(r"\b(?:[a-z][a-z0-9+.-]*://|mailto:)[^\s<>\"]+")


def name(number: int) -> str:
    return f"Person {number:03d}"


def email(number: int) -> str:
    return f"person-{number:03d}@example.org"


def sign_off(number: int) -> str:
    return f"Signed-off-by: {name(number)} <{email(number)}>"


def _numbers() -> Callable[[str], int]:
    """Numbers from 1 on, the same one for the same text."""
    numbers: dict[str, int] = {}
    return lambda text: numbers.setdefault(text.lower(), len(numbers) + 1)


def rewrite_maintainers(text: str) -> str:
    """MAINTAINERS with example people, lists and addresses of web pages and trees; sections,
    states and file patterns stay, so that scripts/get_maintainer.pl works as before.
    """
    person, mailing, place = _numbers(), _numbers(), _numbers()
    lines = []
    for line in text.split("\n"):
        tag, _, rest = line.partition("\t") if re.match(r"[A-Z]:\t", line) else ("", "", "")
        if tag in {"M:", "R:"}:
            address = MAIL.search(rest)
            number = person(address[0] if address else rest)
            line = f"{tag}\t{name(number)} <{email(number)}>"  # noqa: PLW2901
        elif tag == "L:":
            note = re.search(r"\s\([^)]*\)\s*$", rest)
            number = mailing(rest.split()[0])
            line = f"{tag}\tlist-{number:03d}@lists.example.org{note[0] if note else ''}"  # noqa: PLW2901
        elif tag == "W:":
            line = f"{tag}\thttps://www.example.org/{place(rest)}"  # noqa: PLW2901
        elif tag in {"F:", "X:", "N:", "K:", "S:"}:
            pass
        else:
            line = URL.sub(lambda m: f"https://www.example.org/{place(m[0])}", line)  # noqa: PLW2901
            line = MAIL.sub(lambda m: email(person(m[0])), line)  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)


def replacement(file: str, text: str) -> str:
    """New contents of one of FILES."""
    if file == "MAINTAINERS":
        return rewrite_maintainers(text)
    person = f"{name(1)} <{email(1)}>\n"
    if file == "CREDITS":
        return f"N: {name(1)}\nE: {email(1)}\nD: Stands for everybody who wrote this source\n"
    return f"# {person}" if file == ".mailmap" else person
