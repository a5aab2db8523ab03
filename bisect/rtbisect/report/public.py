# SPDX-License-Identifier: GPL-2.0-or-later
"""What a mail to other people has that its draft has not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbisect.model.mail import Recipients


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """A mail to other people beside the report that it is of."""

    recipients: Recipients
    #: Who has read the mail and answers for it: `Name <user@host>`.
    approver: str
    #: ISO 8601.
    date: str
    #: The address where its data are published, with a slash at its end; "" for nowhere.
    evidence: str = ""
    #: Whom it hurts, a sentence: only with it, and the kernel as the cause, the mail is a
    #: [REGRESSION].
    use_case: str = ""
    #: The mainline commit for regzbot, "" for none, and the title of the regression there.
    introduced: str = ""
    title: str = ""
    #: Pages for regzbot: threads with a fix that it has to watch, and what else belongs to it.
    monitored: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    #: Replies may ask for tests.
    commands: bool = False
