# SPDX-License-Identifier: GPL-2.0-or-later
"""Whom a report on a commit goes to. Addresses come from the commit's own fields and tags, from the
tree's get_maintainer.pl and from the site; never from what a mail says in its text.

Sources: Documentation/admin-guide/reporting-regressions.rst and reporting-issues.rst.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from email.errors import HeaderParseError
from email.headerregistry import Address
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import unquote

from rtbisect.errors import ConfigError
from rtbisect.model.mail import Recipient, Recipients
from rtbisect.report.lint.form import ADDRESS, MESSAGE_ID
from rtbisect.report.lint.tags import REGRESSIONS
from rtbisect.report.text import ascii_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rtbisect.model.mail import MailRules
    from rtbisect.model.report import CommitText

STABLE = "stable@vger.kernel.org"

#: Trees whose regressions are tracked.
TRACKED = {"mainline", "next", "stable"}


class Purpose(StrEnum):
    """What a report is for. TRACKED: it is a regression of the kernel itself that hurts somebody,
    for the lists that track such; BACKPORT: it is a repair that stable is asked to pick.
    """

    TOLD = "told"
    TRACKED = "tracked"
    BACKPORT = "backport"


#: A patch is answered while people have it in mind: about one release.
_FRESH = timedelta(days=70)

_LINK = re.compile(
    r"https?://(?:lore\.kernel\.org/[A-Za-z0-9._-]+|patch\.msgid\.link)/([^/\s]{3,200})/?"
)
_NOBODY = re.compile(r"(?i)(no-?reply|do-?not-?reply|mailer-daemon|postmaster)@|@users\.noreply\.")
#: Characters of a name with an address; what is longer is cut, and is no address then.
_LONGEST_PERSON = 500
_PERSON = re.compile(r"\s*(?P<name>[^<>]{0,200}?)\s*<(?P<address>[^<>\s]{1,200})>\s*")

#: What a name in a header may not have if it is to go without quotes.
_NAME = re.compile(r"[^A-Za-z0-9 .'_+-]")


def person(text: str) -> tuple[str, str]:
    """Name and address of `Name <address>` or `address`."""
    # Blanks that go on and on would be split in every way between its parts.
    found = _PERSON.fullmatch(" ".join(text[:_LONGEST_PERSON].split()))
    return (found["name"], found["address"]) if found else ("", text.strip())


def plain_name(text: str) -> str:
    """A name that needs neither quotes nor an encoded word; "" when nothing of it is left."""
    name = " ".join(_NAME.sub("", ascii_line(text, 80)).split())[:60].strip()
    return name if re.search(r"[A-Za-z]", name) else ""


def propose(  # noqa: PLR0913  (one commit, and all that is known about it)
    commit: CommitText,
    tree: str,
    rules: MailRules,
    maintainers: Sequence[str],
    now_iso: str,
    purpose: Purpose = Purpose.TOLD,
) -> Recipients:
    """Recipients of a report on `commit` in `tree`, `maintainers` being lines of get_maintainer.pl.
    ConfigError when nobody is left to write to.
    """
    kept: dict[str, Recipient] = {}
    dropped: dict[str, Recipient] = {}
    main: list[str] = []
    for each, first in _found(commit, tree, rules, maintainers, purpose):
        key = each.address.lower()
        if key in kept:
            continue
        why = _why_not(each.address, rules)
        if not why and len(kept) >= rules.most:
            why = f"a report goes to {rules.most} at most"
        if why:
            address = ascii_line(each.address, 80)
            dropped.setdefault(key, Recipient(address, plain_name(each.name), why))
            continue
        kept[key] = Recipient(each.address, plain_name(each.name), each.reason)
        if first:
            main.append(key)
    if not kept:
        said = f"nobody is left to write to about {commit.sha[:12]}"
        raise ConfigError(said, "see what was dropped, and the section mail: of the site file")
    main = main or [next(iter(kept))]
    parent, thread = parent_of(commit, now_iso)
    return Recipients(
        to=tuple(kept[key] for key in main),
        cc=tuple(each for key, each in kept.items() if key not in main),
        dropped=tuple(each for key, each in dropped.items() if key not in kept),
        parent=parent,
        thread=thread,
    )


def _found(
    commit: CommitText,
    tree: str,
    rules: MailRules,
    maintainers: Sequence[str],
    purpose: Purpose,
) -> Iterator[tuple[Recipient, bool]]:
    """Everybody by weight, and whether for To:; the least come last, where a cap cuts."""
    yield Recipient(commit.author_email, commit.author, "author of the commit"), True
    if commit.committer_email:
        yield Recipient(commit.committer_email, commit.committer, "committer"), True
    kind = dict(rules.kinds).get(tree, "other")
    if purpose is Purpose.TRACKED and kind in TRACKED:
        yield Recipient(REGRESSIONS, "", f"the list for regressions in {kind}"), False
        if kind == "stable":
            yield Recipient(STABLE, "", "the commit is in a stable series"), False
    if purpose is Purpose.BACKPORT:
        yield Recipient(STABLE, "", "is asked to pick the repair"), False
    text = " ".join((commit.subject, *commit.files)).lower()
    for word, address in rules.lists:
        if word.lower() in text:
            yield Recipient(address, "", f"the site's list for {word}"), False
    for line in maintainers:
        who, _, role = line.partition(" (")
        name, address = person(who)
        told = ascii_line(role.rstrip(")"), 60) or "named"
        yield Recipient(address, name, f"get_maintainer.pl: {told}"), False
    for tag in commit.signed_off:
        name, address = person(tag)
        yield Recipient(address, name, "signed it off"), False


def _why_not(address: str, rules: MailRules) -> str:
    """Why nothing may be sent there, "" when it may."""
    if not ADDRESS.fullmatch(address) or len(address) > 120 or not _plain(address):
        return "is no mail address"
    if _NOBODY.search(address):
        return "takes no mail"
    for what, patterns in (("the site denies it", rules.deny), ("opted out", rules.opted_out)):
        if _matches(address, patterns):
            return what
    if rules.allow and not _matches(address, rules.allow):
        return "is not among those that the site allows"
    return ""


def _plain(address: str) -> bool:
    """Whether a header takes it as it is."""
    try:
        return Address(addr_spec=address).addr_spec == address
    except (ValueError, HeaderParseError):
        return False


def _matches(address: str, patterns: Sequence[str]) -> bool:
    plain = address.lower()
    return any(
        fnmatchcase(plain, f"*{each.lower()}" if each.startswith("@") else each.lower())
        for each in patterns
    )


def refused(address: str, rules: MailRules) -> str:
    """Why an address that a person has added may not be written to, "" when it may."""
    return _why_not(address, rules)


def parent_of(commit: CommitText, now_iso: str) -> tuple[str, str]:
    """Message-ID of the patch where it is fresh enough to be answered, and what was decided."""
    found = ""
    for link in commit.links:
        match = _LINK.match(link.strip())
        identity = f"<{unquote(match[1])}>" if match else ""
        if identity.isascii() and MESSAGE_ID.fullmatch(identity):
            found = identity
    if not found:
        return "", "a thread of its own: the commit links to no patch"
    try:
        age = datetime.fromisoformat(now_iso) - datetime.fromisoformat(commit.date)
    except (ValueError, TypeError):
        return "", "a thread of its own: the age of the patch is not known"
    if not timedelta(days=-1) <= age <= _FRESH:
        return "", f"a thread of its own: the patch is {age.days} days old"
    return found, f"an answer to the patch, which is {max(age.days, 0)} days old"
