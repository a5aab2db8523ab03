# SPDX-License-Identifier: GPL-2.0-or-later
"""What a mail to other people has that its draft has not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtbisect.model.mail import Recipients


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """`approver` is who has read the mail and answers for it; `evidence` where its data are
    published, "" for nowhere; `use_case` says in a sentence whom it hurts: only with it, and the
    kernel as the cause, the mail is a [REGRESSION]. `introduced` is the mainline commit for
    regzbot, "" for none; `title` its title there, `monitored` threads with a fix that it has to
    watch, `linked` what else belongs to it. With `commands` replies may ask for tests.
    """

    recipients: Recipients
    approver: str
    date: str
    evidence: str = ""
    use_case: str = ""
    introduced: str = ""
    title: str = ""
    monitored: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    commands: bool = False
