# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said of replies, reports and those who get them."""

import pytest

from rtbisect.model.finding import Finding
from rtbisect.model.kinds import mail
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
from rtbisect.words.mail import SENTENCES
from rtbisect.words.speak import speak

pytestmark = pytest.mark.words

REFUSED = Finding.of(Outcomes.REFUSED, command="test", error="there is no patch")
SEARCHED = Finding.of(Outcomes.SEARCHED, command="bisect", campaign="bisect-4")
SHA = "a" * 40
INTERNAL = "Internal: for the operator alone, not for a list"
LISTS = {"isolated": "2-7", "housekeeping": "0-2"}

SAID = [
    (Ignored.UNREADABLE, {"error": "KeyError"}, "cannot be read (KeyError)"),
    (Ignored.NESTED_PARTS, {}, "has too many parts within parts"),
    (Ignored.MANY_PARTS, {}, "has too many parts"),
    (Ignored.ENDLESS_HEADER, {}, "has a header without end"),
    (Ignored.TWO_HEADERS, {"header": "from"}, "has two headers from:"),
    (Ignored.NO_SENDER, {}, "has no sender"),
    (Ignored.OURS, {}, "is from ourselves"),
    (Ignored.PROGRAM, {}, "was sent by a program"),
    (Ignored.MAIL_SERVER, {}, "was sent by a mail server"),
    (Ignored.NO_THREAD, {}, "is in no thread of ours"),
    (Ignored.ONE_TOO_MANY, {"most": 3},
     "is one too many of today (3 of unknown senders are kept)"),
    (NoText.TOO_LARGE, {}, "is too large"),
    (NoText.NOT_PLAIN, {}, "has no plain text"),
    (Untrusted.STRANGER, {"sender": "{a}@x.org"},
     "{a}@x.org is not among those whose commands count"),
    (Untrusted.NO_SERVER, {}, "no server that we trust says whether it is signed"),
    (Untrusted.NO_SIGNATURE, {"domain": "x.org"}, "it has no good DKIM signature of x.org"),
    (Untrusted.SIGNATURE_GONE, {}, "the signature that was found good is not in it"),
    (Untrusted.MALFORMED, {}, "it is malformed"),
    (Untrusted.BODY_OPEN, {}, "its signature covers a part of the body only"),
    (Untrusted.SENDER_OPEN, {}, "its signature does not cover who wrote it"),
    (Untrusted.TYPE_OPEN, {},
     "its signature does not cover how its text is read (Content-Type:)"),
    (Untrusted.TIME_OPEN, {}, "its signature does not say when it was written"),
    (Untrusted.THREAD_OPEN, {"about": "for", "campaign": "bisect-1"},
     ("its signature does not cover which report it answers: it needs a line"
      " `#rtbisect for bisect-1`")),
    (Untrusted.FUTURE, {}, "it was signed in the future"),
    (Untrusted.OLD, {"most_days": 14}, "it was signed more than 14 days ago"),
    (Untrusted.MANY_COMMANDS, {"most": 9}, "asks for more than 9 things a day"),
    (Replied.SIGNED, {}, "signed by who may ask"),
    (Replied.COPY, {"key": "0123"}, "has come before, as 0123"),
    (Replied.SIGNED_COPY, {"key": "0123"}, "has come again, signed, as 0123"),
    (Replied.ACCEPTED, {"person": "A <a@x.org>"}, "accepted by A <a@x.org>"),
    (Replied.CLOSED, {"person": "A <a@x.org>"}, "closed by A <a@x.org>"),
    (Replied.WAITS, {"error": "x" * 400}, "waits: " + "x" * 293),
    (Replied.CARRIED_OUT, {"outcomes": (REFUSED, SEARCHED)},
     "test: there is no patch; bisect: campaign bisect-4"),
    (Replied.CARRIED_OUT, {"outcomes": ()}, ""),
    (Replied.UNREADABLE, {"database": "/s/db"},
     ("its row in the table reply of /s/db cannot be read: use the version of rtbisect that wrote"
      " it, or mend the columns state, asked and why by hand")),
    (Outcomes.TO_DECIDE, {"command": "dup", "campaign": "bisect-1"},
     "dup: for you to decide, `rtbisect report withdraw bisect-1`"),
    (Outcomes.SEARCHED, {"command": "bisect", "campaign": "bisect-4"},
     "bisect: campaign bisect-4"),
    (Outcomes.ANSWERED, {"command": "retest", "answer": "better", "path": "/s/a.eml"},
     "retest: better, /s/a.eml"),
    (Newer.PATCH, {"title": "rcu: {mend} it"}, 'The patch "rcu: {mend} it"'),
    (Newer.SERIES, {"title": "rcu: x", "others": 1}, 'The patch "rcu: x" with 1 other'),
    (Newer.SERIES, {"title": "rcu: x", "others": 2}, 'The patch "rcu: x" with 2 others'),
    (Newer.REVISION, {"name": "linux-6.12.y"}, "Revision linux-6.12.y"),
    (Outcomes.REFUSED, {"command": "test", "error": "no {x}"}, "test: no {x}"),
    (Obstacle.EMULATED_AND_SYNTHETIC, {},
     "Emulator data, synthetic workload: for the operator, not for a list"),
    (Obstacle.EMULATED, {},
     "Emulator data: this draft is for the operator alone, not for a list"),
    (Obstacle.SYNTHETIC, {},
     "Synthetic workload: this draft is for the operator, not for a list"),
    (Obstacle.NOT_MEASURED, {},
     "It was not measured on both sides: for the operator, not for a list"),
    (Obstacle.NO_CONSOLE, {},
     "No console of what stands still: for the operator, not for a list"),
    (Obstacle.GATE, {"gate": "G10 A/A"},
     "Gate G10 A/A failed: for the operator alone, not for a list"),
    (Obstacle.NO_CULPRIT, {}, INTERNAL),
    (Obstacle.REPAIR, {}, INTERNAL),
    (Obstacle.CAUSE, {}, INTERNAL),
    (CpuLists.OTHER_MACHINE,
     {**LISTS, "sockets": 1, "cores": 16, "threads": 2, "smt": True},
     "isolated 2-7 and housekeeping 0-2 are not the CPUs of 1 x 16 x 2 with SMT on"),
    (CpuLists.SHARED, LISTS, "isolated 2-7 and housekeeping 0-2 share CPUs"),
    (CpuLists.NOT_ISOLATED, {"watched": "1-4", "isolated": "2-7"},
     "watched 1-4 are not all isolated (2-7)"),
    (CpuLists.SETTING, {"name": "nohz_full", "cpus": "2-6", **LISTS},
     "nohz_full=2-6 does not fit isolated 2-7, housekeeping 0-2"),
    (AddressSource.AUTHOR, {}, "author of the commit"),
    (AddressSource.COMMITTER, {}, "committer"),
    (AddressSource.REGRESSIONS, {"tree": "next"}, "the list for regressions in next"),
    (AddressSource.STABLE, {}, "the commit is in a stable series"),
    (AddressSource.BACKPORT, {}, "is asked to pick the repair"),
    (AddressSource.SITE, {"word": "rcu"}, "the site's list for rcu"),
    (AddressSource.MAINTAINER, {"role": "reviewer"}, "get_maintainer.pl: reviewer"),
    (AddressSource.MAINTAINER, {"role": ""}, "get_maintainer.pl: named"),
    (AddressSource.SIGNED_OFF, {}, "signed it off"),
    (AddressSource.HAS_REPORT, {}, "has the report"),
    (Refusal.NO_ADDRESS, {}, "is no mail address"),
    (Refusal.TAKES_NO_MAIL, {}, "takes no mail"),
    (Refusal.DENIED, {}, "the site denies it"),
    (Refusal.OPTED_OUT, {}, "opted out"),
    (Refusal.NOT_ALLOWED, {}, "is not among those that the site allows"),
    (Refusal.TOO_MANY, {"most": 20}, "a report goes to 20 at most"),
    (Refusal.NOT_PROPOSED, {},
     "was not proposed; put it into mail: allow: or lists: of the site file"),
    (Thread.NO_PATCH, {}, "a thread of its own: the commit links to no patch"),
    (Thread.UNKNOWN_AGE, {}, "a thread of its own: the age of the patch is not known"),
    (Thread.NOT_FRESH, {"age_days": 147}, "a thread of its own: the patch is 147 days old"),
    (Thread.ANSWER, {"age_days": 1}, "an answer to the patch, which is 1 days old"),
    (NoMaintainers.BUSY, {"error": "it is in use"},
     "get_maintainer.pl was not asked: it is in use"),
    (NoMaintainers.NO_SCRIPT, {"script": "s.pl"}, "the tree has no s.pl"),
    (NoMaintainers.NO_FILES, {}, "none of the files of the commit is in the tree now"),
    (NoMaintainers.NOT_STARTED, {"script": "s.pl", "error": "no room"}, "s.pl: no room"),
    (NoMaintainers.FAILED, {"script": "s.pl", "said": "no word"}, "s.pl failed: no word"),
    (Digested.CAMPAIGN, {"campaign": "bisect-1", "what": Finding.of(Digested.KILLED)},
     "bisect-1: its process was killed"),
    (Digested.CAMPAIGN, {"campaign": "bisect-1", "what": "no device fits"},
     "bisect-1: no device fits"),
    (Digested.MAIL, {"state": "held", "campaign": "bisect-1", "mail": "report", "answer": "451"},
     "held: bisect-1 report, 451"),
    (Digested.REPLY, {"key": "0123", "campaign": "bisect-1", "why": Finding.of(Ignored.OURS)},
     "reply 0123 to bisect-1: is from ourselves"),
    (Digested.DEVICE, {"host": "vm1", "why": "BMC is away"}, "vm1: BMC is away"),
    (Digested.OTHER_VERSION, {}, "made by another version of rtbisect"),
    (Digested.KILLED, {}, "its process was killed"),
    (Digested.NO_ANSWER, {}, "no answer"),
    (Digested.ANSWER, {"outcome": "culprit", "culprit": SHA, "cause": "kernel",
                       "confidence": 0.99961, "better": ()},
     "culprit aaaaaaaaaaaa, cause kernel, confidence 1.000"),
    (Digested.ANSWER, {"outcome": "no-regression", "culprit": None, "cause": "none",
                       "confidence": None, "better": ("a.b@c", "d.e@f")},
     "no-regression, cause none; better: a.b@c, d.e@f"),
    (Overclaims.KERNEL, {},
     str(speak(Finding.of(Overclaims.KERNEL)))),
    (Overclaims.TAGS, {},
     "offers tags for a fix of what it does not call a regression of the kernel"),
    (Overclaims.BOTH, {"known": "a", "untested": "b"},
     "says what was measured (a), and that it was not tested (b)"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data", "said"), SAID, ids=[str(row[0]) for row in SAID])
def test_what_is_said(kind, data, said):
    assert str(speak(Finding.of(kind, **data))) == said


def test_every_kind_has_words():
    areas = (each for each in vars(mail).values() if isinstance(each, type))
    kinds = {kind for area in areas if issubclass(area, mail.Kind) for kind in area}
    assert kinds == set(SENTENCES) == {row[0] for row in SAID}
