# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of replies, reports and those who get them.

Those on why a reply is ignored or has no text go on behind "it", those on why an address is refused
behind the address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.kinds.mail import (
    AddressSource,
    CpuLists,
    Digested,
    Ignored,
    Newer,
    NoMaintainers,
    NoText,
    Obstacle,
    Outcomes,
    Overclaims,
    Refusal,
    Replied,
    Thread,
    Untrusted,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.finding import Value
    from rtbisect.words.template import Words


def _answer(data: Mapping[str, Value]) -> str:
    culprit = " {culprit:.12}" if data["culprit"] else ""
    confidence = ", confidence {confidence:.3f}" if data["confidence"] else ""
    better = "; better: {better}" if data["better"] else ""
    return f"{{outcome}}{culprit}, cause {{cause}}{confidence}{better}"


_REPLIES: Mapping[str, Words] = {
    Ignored.UNREADABLE: "cannot be read ({error})",
    Ignored.NESTED_PARTS: "has too many parts within parts",
    Ignored.MANY_PARTS: "has too many parts",
    Ignored.ENDLESS_HEADER: "has a header without end",
    Ignored.TWO_HEADERS: "has two headers {header}:",
    Ignored.NO_SENDER: "has no sender",
    Ignored.OURS: "is from ourselves",
    Ignored.PROGRAM: "was sent by a program",
    Ignored.MAIL_SERVER: "was sent by a mail server",
    Ignored.NO_THREAD: "is in no thread of ours",
    Ignored.ONE_TOO_MANY: "is one too many of today ({most} of unknown senders are kept)",
    NoText.TOO_LARGE: "is too large",
    NoText.NOT_PLAIN: "has no plain text",
    Untrusted.STRANGER: "{sender} is not among those whose commands count",
    Untrusted.NO_SERVER: "no server that we trust says whether it is signed",
    Untrusted.NO_SIGNATURE: "it has no good DKIM signature of {domain}",
    Untrusted.SIGNATURE_GONE: "the signature that was found good is not in it",
    Untrusted.MALFORMED: "it is malformed",
    Untrusted.BODY_OPEN: "its signature covers a part of the body only",
    Untrusted.SENDER_OPEN: "its signature does not cover who wrote it",
    Untrusted.TYPE_OPEN: "its signature does not cover how its text is read (Content-Type:)",
    Untrusted.TIME_OPEN: "its signature does not say when it was written",
    Untrusted.THREAD_OPEN: (
        "its signature does not cover which report it answers: it needs a line"
        " `#rtbisect {about} {campaign}`"
    ),
    Untrusted.FUTURE: "it was signed in the future",
    Untrusted.OLD: "it was signed more than {most_days} days ago",
    Untrusted.MANY_COMMANDS: "asks for more than {most} things a day",
    Replied.SIGNED: "signed by who may ask",
    Replied.COPY: "has come before, as {key}",
    Replied.SIGNED_COPY: "has come again, signed, as {key}",
    Replied.ACCEPTED: "accepted by {person}",
    Replied.CLOSED: "closed by {person}",
    Replied.WAITS: "waits: {error:.293}",
    Replied.CARRIED_OUT: "{outcomes:; }",
    Replied.UNREADABLE: (
        "its row in the table reply of {database} cannot be read: use the version of rtbisect that"
        " wrote it, or mend the columns state, asked and why by hand"
    ),
    Outcomes.TO_DECIDE: "{command}: for you to decide, `rtbisect report withdraw {campaign}`",
    Outcomes.SEARCHED: "{command}: campaign {campaign}",
    Outcomes.ANSWERED: "{command}: {answer}, {path}",
    Outcomes.REFUSED: "{command}: {error}",
    Newer.PATCH: 'The patch "{title}"',
    Newer.SERIES: 'The patch "{title}" with {others:many other}',
    Newer.REVISION: "Revision {name}",
}

_INTERNAL = "Internal: for the operator alone, not for a list"

_REPORTS: Mapping[str, Words] = {
    Obstacle.EMULATED_AND_SYNTHETIC: (
        "Emulator data, synthetic workload: for the operator, not for a list"
    ),
    Obstacle.EMULATED: "Emulator data: this draft is for the operator alone, not for a list",
    Obstacle.SYNTHETIC: "Synthetic workload: this draft is for the operator, not for a list",
    Obstacle.NOT_MEASURED: "It was not measured on both sides: for the operator, not for a list",
    Obstacle.NO_CONSOLE: "No console of what stands still: for the operator, not for a list",
    Obstacle.GATE: "Gate {gate} failed: for the operator alone, not for a list",
    Obstacle.NO_CULPRIT: _INTERNAL,
    Obstacle.REPAIR: _INTERNAL,
    Obstacle.CAUSE: _INTERNAL,
    Overclaims.KERNEL: (
        "says that the kernel itself does it, which takes the workload on and off, a revert and"
        " another code layout"
    ),
    Overclaims.TAGS: "offers tags for a fix of what it does not call a regression of the kernel",
    Overclaims.BOTH: "says what was measured ({known}), and that it was not tested ({untested})",
    CpuLists.OTHER_MACHINE: lambda data: (
        "isolated {isolated} and housekeeping {housekeeping} are not the CPUs of"
        f" {{sockets}} x {{cores}} x {{threads}} with SMT {'on' if data['smt'] else 'off'}"
    ),
    CpuLists.SHARED: "isolated {isolated} and housekeeping {housekeeping} share CPUs",
    CpuLists.NOT_ISOLATED: "watched {watched} are not all isolated ({isolated})",
    CpuLists.SETTING: (
        "{name}={cpus} does not fit isolated {isolated}, housekeeping {housekeeping}"
    ),
    AddressSource.AUTHOR: "author of the commit",
    AddressSource.COMMITTER: "committer",
    AddressSource.REGRESSIONS: "the list for regressions in {tree}",
    AddressSource.STABLE: "the commit is in a stable series",
    AddressSource.BACKPORT: "is asked to pick the repair",
    AddressSource.SITE: "the site's list for {word}",
    AddressSource.MAINTAINER: lambda data: (
        "get_maintainer.pl: {role}" if data["role"] else "get_maintainer.pl: named"
    ),
    AddressSource.SIGNED_OFF: "signed it off",
    AddressSource.HAS_REPORT: "has the report",
    Refusal.NO_ADDRESS: "is no mail address",
    Refusal.TAKES_NO_MAIL: "takes no mail",
    Refusal.DENIED: "the site denies it",
    Refusal.OPTED_OUT: "opted out",
    Refusal.NOT_ALLOWED: "is not among those that the site allows",
    Refusal.TOO_MANY: "a report goes to {most} at most",
    Refusal.NOT_PROPOSED: ("was not proposed; put it into mail: allow: or lists: of the site file"),
    Thread.NO_PATCH: "a thread of its own: the commit links to no patch",
    Thread.UNKNOWN_AGE: "a thread of its own: the age of the patch is not known",
    Thread.NOT_FRESH: "a thread of its own: the patch is {age_days} days old",
    Thread.ANSWER: "an answer to the patch, which is {age_days} days old",
    NoMaintainers.BUSY: "get_maintainer.pl was not asked: {error}",
    NoMaintainers.NO_SCRIPT: "the tree has no {script}",
    NoMaintainers.NO_FILES: "none of the files of the commit is in the tree now",
    NoMaintainers.NOT_STARTED: "{script}: {error}",
    NoMaintainers.FAILED: "{script} failed: {said}",
}

_DIGEST: Mapping[str, Words] = {
    Digested.CAMPAIGN: "{campaign}: {what}",
    Digested.MAIL: "{state}: {campaign} {mail}, {answer}",
    Digested.REPLY: "reply {key} to {campaign}: {why}",
    Digested.DEVICE: "{host}: {why}",
    Digested.OTHER_VERSION: "made by another version of rtbisect",
    Digested.KILLED: "its process was killed",
    Digested.NO_ANSWER: "no answer",
    Digested.ANSWER: _answer,
}

SENTENCES: Mapping[str, Words] = {**_REPLIES, **_REPORTS, **_DIGEST}
