# SPDX-License-Identifier: GPL-2.0-or-later
"""Whom a report on a commit goes to, for the mail and for who approves it; who that is,
`report.policy` decides.

Sources: Documentation/admin-guide/reporting-regressions.rst and reporting-issues.rst.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rtbisect.errors import ConfigError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import AddressSource, Refusal, Thread
from rtbisect.model.mail import Recipient, Recipients
from rtbisect.report.lint.form import MESSAGE_ID
from rtbisect.report.message import answers_to
from rtbisect.report.policy import Addressee, Purpose, addressees
from rtbisect.report.text import ascii_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.config.schema import MailEntry
    from rtbisect.model.report import CommitText

#: A patch is answered while people have it in mind: about one release.
_FRESH = timedelta(days=70)

_LINK = re.compile(
    r"https?://(?:lore\.kernel\.org/[A-Za-z0-9._-]+|patch\.msgid\.link)/([^/\s]{3,200})/?"
)

#: What a name in a header may not have if it is to go without quotes.
_NAME = re.compile(r"[^A-Za-z0-9 .'_+-]")


def plain_name(text: str) -> str:
    """A name that needs neither quotes nor an encoded word; "" when nothing of it is left."""
    name = " ".join(_NAME.sub("", ascii_line(text, 80)).split())[:60].strip()
    return name if re.search(r"[A-Za-z]", name) else ""


def refused(why: Refusal, rules: MailEntry) -> Finding:
    """Why an address is not written to."""
    return Finding.of(why, **({"most": rules.most} if why is Refusal.TOO_MANY else {}))


def propose(  # noqa: PLR0913  (one commit, and all that is known about it)
    commit: CommitText,
    kind: str,
    rules: MailEntry,
    maintainers: Sequence[str],
    now_iso: str,
    purpose: Purpose,
) -> Recipients:
    """Recipients of a report on `commit` in a tree of this kind, `maintainers` being lines of
    get_maintainer.pl. ConfigError when nobody is left to write to.
    """
    chosen = addressees(commit, kind, rules, maintainers, purpose)
    if not chosen.to:
        problem = f"nobody is left to write to about {commit.sha[:12]}"
        raise ConfigError(problem, "see what was dropped, and the section mail: of the site file")
    parent, thread = parent_of(commit, now_iso)
    return Recipients(
        to=tuple(_recipient(addressee) for addressee in chosen.to),
        cc=tuple(_recipient(addressee) for addressee in chosen.cc),
        dropped=tuple(
            Recipient(
                ascii_line(addressee.address, 80), plain_name(addressee.name), refused(why, rules)
            )
            for addressee, why in chosen.refused
        ),
        parent=parent,
        thread=thread,
    )


def _recipient(addressee: Addressee) -> Recipient:
    source, detail = addressee.source, addressee.detail
    if source is AddressSource.MAINTAINER:
        detail = ascii_line(detail, 60)
    reason = Finding.of(source, **dict.fromkeys(source.parameters, detail))
    return Recipient(addressee.address, plain_name(addressee.name), reason)


def parent_of(commit: CommitText, now_iso: str) -> tuple[str, Finding]:
    """Message-ID of the patch where it is fresh enough to be answered, and what was decided."""
    patch_id = ""
    for link in commit.links:
        match = _LINK.match(link.strip())
        identity = f"<{unquote(match[1])}>" if match else ""
        if answers_to(identity) and MESSAGE_ID.fullmatch(identity):
            patch_id = identity
    if not patch_id:
        return "", Finding.of(Thread.NO_PATCH)
    try:
        age = datetime.fromisoformat(now_iso) - datetime.fromisoformat(commit.date)
    except (ValueError, TypeError):
        return "", Finding.of(Thread.UNKNOWN_AGE)
    if not timedelta(days=-1) <= age <= _FRESH:
        return "", Finding.of(Thread.NOT_FRESH, age_days=age.days)
    # Clocks of others may be ahead.
    return patch_id, Finding.of(Thread.ANSWER, age_days=max(age.days, 0))
