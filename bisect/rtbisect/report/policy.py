# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report is for, and who may be mailed. Facts decide that, and it is told in values; the
words are those of `words/mail.py`. Whether a report may leave at all: `own.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.utils import parseaddr
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from rtbisect.judge.verdict import improved
from rtbisect.model.campaign import Cause, Judgement, Outcome, Sought
from rtbisect.model.kinds.mail import AddressSource, Refusal
from rtbisect.report.averages import has_share
from rtbisect.report.headline_figure import headline
from rtbisect.report.lint.form import ADDRESS
from rtbisect.report.lint.tags import REGRESSIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rtbisect.config.schema import MailEntry
    from rtbisect.model.report import CommitText, ReportInput, SeriesState

STABLE = "stable@vger.kernel.org"

#: Kinds of trees whose regressions are tracked.
TRACKED = {"mainline", "next", "stable"}

_NOBODY = re.compile(r"(?i)(no-?reply|do-?not-?reply|mailer-daemon|postmaster)@|@users\.noreply\.")
#: Characters of a name with an address; what is longer is cut, and is no address then.
_LONGEST_PERSON = 500
#: Releases of mainline; a stable one has one number more.
_MAINLINE = re.compile(r"v[0-9]+[.][0-9]+(-rc[0-9]+)?")
_PERSON = re.compile(r"\s*(?P<name>[^<>]{0,200}?)\s*<(?P<address>[^<>\s]{1,200})>\s*")


def stands_still(report: ReportInput) -> bool:
    """Whether the figure is that boots stand still, in some of them and not in others."""
    opening = headline(report)
    if opening is None or report.result.cause is not Cause.KERNEL:
        return False
    judged = opening[0]
    return all(has_share(judged.key, side) for side in (judged.base, judged.new))


def mainline_of(commit: CommitText | None) -> str:
    """The mainline commit of one: that which a backport names, or itself where the first release
    that has it is one of mainline; "" where nobody knows.
    """
    if commit is None:
        return ""
    return commit.upstream or (commit.sha if _MAINLINE.fullmatch(commit.release) else "")


def lacking(report: ReportInput) -> tuple[SeriesState, ...]:
    """The stable series that are known to lack a repair."""
    return tuple(each for each in report.series if each.lacks)


def asks_to_pick(report: ReportInput) -> bool:
    """Whether a report asks stable for something: it is a repair of boots that stand still, whose
    mainline commit is known, and a series that lacks it.
    """
    repairs = report.sought is Sought.REPAIR and stands_still(report)
    return repairs and bool(mainline_of(report.culprit) and lacking(report))


def better(report: ReportInput) -> tuple[Judgement, ...]:
    """Figures of the newer end that are better, where nothing regressed. Of a search for a repair
    none is: there the newer end is asked to be better.
    """
    result = report.result
    if result.outcome is not Outcome.NO_REGRESSION:
        return ()
    return improved(result.judgements, report.thresholds, report.sought)


class Purpose(StrEnum):
    """What a report is for. TRACKED: it is a regression of the kernel itself that hurts somebody,
    for the lists that track such; BACKPORT: it is a repair that stable is asked to pick.
    """

    TOLD = "told"
    TRACKED = "tracked"
    BACKPORT = "backport"


def purpose_of(report: ReportInput, kind: str, *, hurts: bool) -> Purpose:
    """What a report is for in a tree of this kind; `hurts` says that a person named whom it does.
    Where nobody tracks regressions none is called one: the word would say that somebody does.
    """
    if report.sought is Sought.REPAIR:
        return Purpose.BACKPORT if asks_to_pick(report) else Purpose.TOLD
    tracked = hurts and kind in TRACKED and report.result.cause is Cause.KERNEL
    return Purpose.TRACKED if tracked else Purpose.TOLD


@dataclass(frozen=True, slots=True)
class Addressee:
    """An address as it was found, with foreign text."""

    address: str
    #: Name of the person; "" for a list.
    name: str
    source: AddressSource
    #: For REGRESSIONS the kind of the tree, for a list of the SITE the word that it is for, for a
    #: MAINTAINER his role; else "".
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Addressees:
    """Who gets a report, each address once; nobody where all are refused."""

    #: Author and committer, else the first that is left.
    to: tuple[Addressee, ...]
    #: All others by weight: where a cap cuts, the last are missing.
    cc: tuple[Addressee, ...]
    #: Who gets none, and why.
    refused: tuple[tuple[Addressee, Refusal], ...]


def addressees(
    commit: CommitText,
    kind: str,
    rules: MailEntry,
    maintainers: Sequence[str],
    purpose: Purpose,
) -> Addressees:
    """Who gets a report on a commit in a tree of this kind, each address once. Addresses come from
    the commit's own fields and tags, from `maintainers` (lines of get_maintainer.pl) and from the
    site; never from what a mail says in its text.
    """
    accepted: dict[str, Addressee] = {}
    refused: dict[str, tuple[Addressee, Refusal]] = {}
    for addressee in _candidates(commit, kind, rules, maintainers, purpose):
        key = addressee.address.lower()
        if key in accepted:
            continue
        why = refusal(addressee.address, rules)
        if why is None and len(accepted) >= rules.most:
            why = Refusal.TOO_MANY
        if why is None:
            accepted[key] = addressee
        else:
            refused.setdefault(key, (addressee, why))
    main = [
        key
        for key, addressee in accepted.items()
        if addressee.source in (AddressSource.AUTHOR, AddressSource.COMMITTER)
    ]
    main = main or list(accepted)[:1]
    return Addressees(
        to=tuple(accepted[key] for key in main),
        cc=tuple(addressee for key, addressee in accepted.items() if key not in main),
        refused=tuple(pair for key, pair in refused.items() if key not in accepted),
    )


def refusal(
    address: str, rules: MailEntry, proposed: Collection[str] | None = None
) -> Refusal | None:
    """Why nothing may be sent there, None where it may. `proposed` are the addresses, in small
    letters, beside which a person may only add those that the site allows by name.
    """
    return next(_refusals(address, rules, proposed), None)


def of_thread(
    askers: Sequence[str], to: Sequence[str], cc: Sequence[str], rules: MailEntry
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who gets an answer in the thread of a report, as headers have them. To: who asked, where
    somebody did, else whom the report went to; Cc: all others that have the report. Whom the site
    does not write to is left out.
    """
    first = [header for header in (*askers, *to) if refusal(_address(header), rules) is None]
    main = first[:1] if askers else first
    addressed = {_address(header).lower() for header in main}
    rest = []
    for header in (*to, *cc):
        key = _address(header).lower()
        if key not in addressed and refusal(_address(header), rules) is None:
            addressed.add(key)
            rest.append(header)
    return tuple(main), tuple(rest)


def _address(header: str) -> str:
    return parseaddr(header)[1]


def person(text: str) -> tuple[str, str]:
    """Name and address of `Name <address>` or `address`."""
    # Blanks that go on and on would be split in every way between its parts.
    match = _PERSON.fullmatch(" ".join(text[:_LONGEST_PERSON].split()))
    return (match["name"], match["address"]) if match else ("", text.strip())


def _candidates(
    commit: CommitText, kind: str, rules: MailEntry, maintainers: Sequence[str], purpose: Purpose
) -> Iterator[Addressee]:
    """Everybody by weight; the least come last, where a cap cuts."""
    yield Addressee(commit.author_email, commit.author, AddressSource.AUTHOR)
    if commit.committer_email:
        yield Addressee(commit.committer_email, commit.committer, AddressSource.COMMITTER)
    if purpose is Purpose.TRACKED:
        yield Addressee(REGRESSIONS, "", AddressSource.REGRESSIONS, kind)
        if kind == "stable":
            yield Addressee(STABLE, "", AddressSource.STABLE)
    if purpose is Purpose.BACKPORT:
        yield Addressee(STABLE, "", AddressSource.BACKPORT)
    text = " ".join((commit.subject, *commit.files)).lower()
    for word, address in rules.lists.items():
        if word.lower() in text:
            yield Addressee(address, "", AddressSource.SITE, word)
    for line in maintainers:
        # The role stands behind the address: a name may have brackets of its own.
        end = line.find(" (", max(0, line.find("@")))
        named, role = (line[:end], line[end + 2 :]) if end >= 0 else (line, "")
        name, address = person(named)
        yield Addressee(address, name, AddressSource.MAINTAINER, role.removesuffix(")"))
    for tag in commit.signed_off:
        name, address = person(tag)
        yield Addressee(address, name, AddressSource.SIGNED_OFF)


def _refusals(
    address: str, rules: MailEntry, proposed: Collection[str] | None
) -> Iterator[Refusal]:
    if not ADDRESS.fullmatch(address) or len(address) > 120 or not _fits_header(address):
        yield Refusal.NO_ADDRESS
    if _NOBODY.search(address):
        yield Refusal.TAKES_NO_MAIL
    if _matches(address, rules.deny):
        yield Refusal.DENIED
    if _matches(address, rules.opted_out):
        yield Refusal.OPTED_OUT
    if rules.allow and not _matches(address, rules.allow):
        yield Refusal.NOT_ALLOWED
    if proposed is not None and address.lower() not in proposed and not rules.allow:
        yield Refusal.NOT_PROPOSED


def _fits_header(address: str) -> bool:
    """Whether a header takes it as it is."""
    try:
        return Address(addr_spec=address).addr_spec == address
    except (ValueError, HeaderParseError):
        return False


def _matches(address: str, patterns: Sequence[str]) -> bool:
    plain = address.lower()
    return any(
        fnmatchcase(plain, f"*{pattern.lower()}" if pattern.startswith("@") else pattern.lower())
        for pattern in patterns
    )
