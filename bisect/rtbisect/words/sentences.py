# SPDX-License-Identifier: GPL-2.0-or-later
"""The look-up: the words of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rtbisect.model.finding import Kept
from rtbisect.words import (
    answer,
    boot,
    counts,
    difference,
    judge,
    layouts,
    mail,
    page,
    pipeline,
    recipe,
    report,
    screen,
    search,
)  # fmt: skip

if TYPE_CHECKING:
    from rtbisect.words.template import Words

_TABLES: tuple[Mapping[str, Words], ...] = (
    {Kept.AS_SAID: "{text}"},
    judge.SENTENCES,
    search.SENTENCES,
    pipeline.SENTENCES,
    boot.SENTENCES,
    mail.SENTENCES,
    recipe.SENTENCES,
    report.SENTENCES,
    page.SENTENCES,
    answer.SENTENCES,
    screen.SENTENCES,
    counts.SENTENCES,
    difference.SENTENCES,
    layouts.SENTENCES,
)
_SENTENCES: Mapping[str, Words] = {
    kind: words for table in _TABLES for kind, words in table.items()
}


def words_of(kind: str) -> Words | None:
    """The words of a kind; None of one that this version does not know."""
    return _SENTENCES.get(kind)
