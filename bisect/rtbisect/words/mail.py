# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of replies, reports and those who get them.

Those on why a reply is ignored or has no text go on behind "it", those on why an address is refused
behind the address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.campaign import Cause
from rtbisect.model.kinds.mail import (
    AddressSource,
    CpuLists,
    Delivery,
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
from rtbisect.model.mail import MailKind, MailState
from rtbisect.words.pipeline import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words


#: What is to be known beside a commit that was found.
_HOW = {
    Cause.WORKLOAD_DEPENDENT: ", beside its workload only",
    Cause.TOOL_INDUCED: ", by way of the measuring tool",
    Cause.NONE: ", cause not known",
}


def _answer(data: Mapping[str, Any]) -> str:
    outcome = OUTCOMES.get(data["outcome"], "{outcome}")
    how = _HOW.get(data["cause"], "") if data["culprit"] else ""
    confidence = " (confidence {confidence:probability})" if data["confidence"] else ""
    better = "; better: {better:; }" if data["better"] else ""
    return f"{outcome}{how}{confidence}{better}"


#: How many of each there are, of one and of several.
_STAND = {
    "paused": ("campaign is paused", "campaigns are paused"),
    "mails": ("mail waits for a person", "mails wait for a person"),
    "replies": ("reply waits for a person", "replies wait for a person"),
    "drafts": ("draft waits for approval", "drafts wait for approval"),
    "devices": ("device is in quarantine", "devices are in quarantine"),
}
#: The same for a subject.
_SHORT = {
    "ended": "ended",
    "paused": "paused",
    "waiting": "waiting",
    "drafts": "to approve",
    "devices": "in quarantine",
}


def _standing(data: Mapping[str, Any]) -> str:
    """What there is of it, as the end of a sentence; "" where there is nothing."""
    told = [
        f"{{{name}}} {one if data[name] == 1 else several}"
        for name, (one, several) in _STAND.items()
        if data.get(name)
    ]
    return " and ".join(part for part in (", ".join(told[:-1]), *told[-1:]) if part)


def _summary(data: Mapping[str, Any]) -> str:
    ended = "{ended:many campaign}" if data["ended"] else "no campaign"
    now = _standing(data)
    waits = f"Now {now}." if now else "Nothing waits for a person."
    return f"In the last {{hours:many hour}} {ended} ended. {waits}"


def _lab(data: Mapping[str, Any]) -> str:
    now = _standing(data)
    if not now:
        return "The lab works: no campaign waits for it, and no device is in quarantine."
    return f"{now}. This is about the lab, not about a kernel."


def _in_subject(data: Mapping[str, Any]) -> str:
    told = [f"{{{name}}} {what}" for name, what in _SHORT.items() if data[name]]
    return ", ".join(told) or "nothing"


#: What became of a mail that waits.
_MAILS = {
    MailState.IN_DOUBT: "may have arrived",
    MailState.REFUSED: "was refused",
    MailState.HELD: "was tried too often",
}


def _mail(data: Mapping[str, Any]) -> str:
    whose = " of {campaign}" if data["campaign"] else ""
    kind = "test result" if data["mail"] == MailKind.RESULT else "{mail}"
    said = ": {answer}" if data["answer"] else ""
    return f"the {kind}{whose} {_MAILS.get(data['state'], 'is {state}')}{said}"


def _server(data: Mapping[str, Any]) -> str:
    """What a server answered, and of whom."""
    whom = "{address}: " if data.get("address") else ""
    return f"{whom}{{code}} {{said:quoted}}" if data["said"] else f"{whom}{{code}}"


_DELIVERY: Mapping[str, Words] = {
    Delivery.ACCEPTED: _server,
    Delivery.REFUSED: _server,
    Delivery.NOT_NOW: _server,
    Delivery.UNCLEAR: lambda data: f"unclear answer: {_server(data)}",
    Delivery.NO_ANSWER: "mail server {host} port {port}: {error}",
    Delivery.NO_RECIPIENTS: "it has no recipients",
    Delivery.WRITTEN: "written to {path}",
    Delivery.WAS_THERE: "was in {path}",
    Delivery.NOT_WRITTEN: "{path}: {error}",
    Delivery.HANDED_OVER: "{program} took it",
    Delivery.PROGRAM_ENDED: lambda data: (
        "{program} ended with {code}" + (": {said:quoted}" if data["said"] else "")
    ),
    Delivery.PROGRAM_FAILED: "{error}",
    Delivery.KILLED: "the sender was killed while it sent this mail",
    Delivery.DECIDED: "a person: {why}",
}

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
    Ignored.ONE_TOO_MANY: "exceeds the limit of {most} mails a day from unknown senders",
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
    Untrusted.MANY_COMMANDS: "asks for more than {most} commands a day",
    Replied.SIGNED: "signed by somebody who may send commands",
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


def _no_request(data: Mapping[str, Any]) -> str:
    commit = [] if data["mainline"] else ["its mainline commit is not known"]
    series = [] if data["lacking"] else ["no stable series is known to lack it"]
    missing = " and ".join(commit + series)
    return f"No backport request yet, as {missing}: for the operator, not for a list"


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
    Obstacle.NO_REQUEST: _no_request,
    Obstacle.CAUSE: _INTERNAL,
    Overclaims.KERNEL: (
        "says that the kernel itself does it, which takes the workload on and off, a revert and"
        " another code layout"
    ),
    Overclaims.MACHINE: "names a commit for what it says that the machine does",
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
    Digested.SUMMARY: _summary,
    Digested.LAB: _lab,
    Digested.SUBJECT: _in_subject,
    Digested.CAMPAIGN: "{campaign}: {what}",
    Digested.NAMED: "{campaign}",
    Digested.MAIL: _mail,
    Digested.REPLY: "reply {key} to {campaign}: {why}",
    Digested.DEVICE: "{host}: {why}",
    Digested.OTHER_VERSION: "made by another version of rtbisect",
    Digested.KILLED: "its process was killed",
    Digested.NO_ANSWER: "no answer",
    Digested.ANSWER: _answer,
}

SENTENCES: Mapping[str, Words] = {**_DELIVERY, **_REPLIES, **_REPORTS, **_DIGEST}
