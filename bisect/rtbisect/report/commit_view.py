# SPDX-License-Identifier: GPL-2.0-or-later
"""A commit as mails and pages print it: foreign text made harmless."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.report.text import ascii_line, foreign, short
from rtbisect.words.numbers import further

if TYPE_CHECKING:
    from rtbisect.model.report import CommitText, ReportInput


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitView:
    """A commit as a template prints it."""

    #: The first 12 digits of its sha.
    short: str
    subject: str
    author: str
    email: str
    #: The first ones by name, of more the number.
    files: str
    #: A Fixes: trailer on one line, without its title where that is not plain ASCII.
    fixes: str


def revision_name(report: ReportInput, sha: str) -> str:
    """How a tag of a version calls a revision; one that none has by the first 12 digits of its
    sha.
    """
    names = (name for known, name in report.names if sha and known.startswith(sha))
    return foreign(next(names, ""), 60) or short(sha)


def commit_view(commit: CommitText) -> CommitView:
    head = foreign(commit.sha, 40)[:12]
    subject = ascii_line(commit.subject, 90)
    plain = commit.subject == subject == foreign(subject, 90)
    names = ", ".join(foreign(name, 60) for name in commit.files[:4])
    left = further(len(commit.files) - 4)
    return CommitView(
        short=head,
        subject=foreign(commit.subject, 90),
        author=foreign(commit.author, 60),
        email=foreign(commit.author_email, 60),
        files=f"{names} {left}".rstrip(),
        fixes=f'Fixes: {head} ("{subject}")' if plain else f"Fixes: {head}",
    )
