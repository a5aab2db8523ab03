# SPDX-License-Identifier: GPL-2.0-or-later
"""What is found of replies, reports and those who get them."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Ignored(Kind):
    """Why nobody looks at a reply."""

    #: The parser of mails gave up; the name of its exception.
    UNREADABLE = "ignored.unreadable", "error"
    NESTED_PARTS = "ignored.nested-parts"
    MANY_PARTS = "ignored.many-parts"
    ENDLESS_HEADER = "ignored.endless-header"
    #: A header that may stand once stands twice; `header` is its name without the colon.
    TWO_HEADERS = "ignored.two-headers", "header"
    NO_SENDER = "ignored.no-sender"
    OURS = "ignored.ours"
    PROGRAM = "ignored.program"
    MAIL_SERVER = "ignored.mail-server"
    NO_THREAD = "ignored.no-thread"
    #: More than the `most` mails a day that are kept of senders who proved nothing.
    ONE_TOO_MANY = "ignored.one-too-many", "most"


class NoText(Kind):
    """Why a reply has no text to find commands in."""

    TOO_LARGE = "no-text.too-large"
    NOT_PLAIN = "no-text.not-plain"


class Untrusted(Kind):
    """Why the commands of a reply wait for a person."""

    STRANGER = "untrusted.stranger", "sender"
    #: No server that the site trusts has checked the signature.
    NO_SERVER = "untrusted.no-server"
    NO_SIGNATURE = "untrusted.no-signature", "domain"
    #: The server found a signature good that is not in the mail.
    SIGNATURE_GONE = "untrusted.signature-gone"
    MALFORMED = "untrusted.malformed"
    #: The signature leaves this out: a part of the body, the sender, Content-Type:, the time.
    BODY_OPEN = "untrusted.body-open"
    SENDER_OPEN = "untrusted.sender-open"
    TYPE_OPEN = "untrusted.type-open"
    TIME_OPEN = "untrusted.time-open"
    #: The line `#rtbisect ABOUT CAMPAIGN` would say it.
    THREAD_OPEN = "untrusted.thread-open", "about campaign"
    FUTURE = "untrusted.future"
    OLD = "untrusted.old", "most_days"
    #: More commands of a person than he may give a day.
    MANY_COMMANDS = "untrusted.many-commands", "most"


class Replied(Kind):
    """What else the state of a reply comes from."""

    SIGNED = "replied.signed"
    #: The reply has come before, or came again with a signature: `key` is that of the other one.
    COPY = "replied.copy", "key"
    SIGNED_COPY = "replied.signed-copy", "key"
    ACCEPTED = "replied.accepted", "person"
    CLOSED = "replied.closed", "person"
    #: A fault of the lab, the site file or an archive stops it for now.
    WAITS = "replied.waits", "error"
    #: The commands were carried out; `outcomes` are findings of `Outcomes`.
    CARRIED_OUT = "replied.carried-out", "outcomes"
    #: This version cannot read the row of the reply in the file `database`.
    UNREADABLE = "replied.unreadable", "database"


class Delivery(Kind):
    """How a try to deliver a mail ended; where the mail stands by that is its `MailState`. `said`
    is one line of the other side, foreign text that may be "".
    """

    #: What a mail server answered (RFC 5321), with the code that it begins with. `address` is whom
    #: it did not take, the sender or a recipient; "" where it was the mail.
    ACCEPTED = "delivery.accepted", "code said"
    REFUSED = "delivery.refused", "address code said"
    NOT_NOW = "delivery.not-now", "address code said"
    #: An answer behind the end of the mail that is neither yes nor no.
    UNCLEAR = "delivery.unclear", "code said"
    NO_ANSWER = "delivery.no-answer", "host port error"
    NO_RECIPIENTS = "delivery.no-recipients"
    #: The mail was written to the file `path`, or was there before.
    WRITTEN = "delivery.written", "path"
    WAS_THERE = "delivery.was-there", "path"
    NOT_WRITTEN = "delivery.not-written", "path error"
    #: What a program on this machine did with it: `said` is the last line of its errors.
    HANDED_OVER = "delivery.handed-over", "program"
    PROGRAM_ENDED = "delivery.program-ended", "program code said"
    #: The program did not start, or not come to an end.
    PROGRAM_FAILED = "delivery.program-failed", "error"
    #: Our own process was killed where the mail may have arrived.
    KILLED = "delivery.killed"
    #: A person has looked where the mail is.
    DECIDED = "delivery.decided", "why"


class Outcomes(Kind):
    """What became of a command of a reply."""

    TO_DECIDE = "outcome.to-decide", "command campaign"
    SEARCHED = "outcome.searched", "command campaign"
    #: `answer` is what the answer says, a word for programs; `path` is where the answer lies.
    ANSWERED = "outcome.answered", "command answer path"
    REFUSED = "outcome.refused", "command error"


class Newer(Kind):
    """What the newer one is of two revisions that were compared for a report."""

    PATCH = "newer.patch", "title"
    #: The last patch of a series, and how many patches are before it.
    SERIES = "newer.series", "title others"
    #: A revision by the name that somebody gave it, or by the branch whose head it is.
    REVISION = "newer.revision", "name"


class Obstacle(Kind):
    """What keeps a report with its operator."""

    EMULATED_AND_SYNTHETIC = "obstacle.emulated-and-synthetic"
    #: The boots ran in an emulator.
    EMULATED = "obstacle.emulated"
    #: The workload is one of ours.
    SYNTHETIC = "obstacle.synthetic"
    #: A culprit whose figure was not measured on both sides.
    NOT_MEASURED = "obstacle.not-measured"
    #: Boots that stand still, and no words of their console.
    NO_CONSOLE = "obstacle.no-console"
    #: A trust gate failed, the one of this name.
    GATE = "obstacle.gate", "gate"
    NO_CULPRIT = "obstacle.no-culprit"
    #: A repair, but not of boots that stand still.
    REPAIR = "obstacle.repair"
    #: A repair that stable cannot be asked for: its mainline commit, "" where it is not known, and
    #: the series that lack it.
    NO_REQUEST = "obstacle.no-request", "mainline lacking"
    #: The measuring tool makes the change, or nobody knows what does.
    CAUSE = "obstacle.cause"


class CpuLists(Kind):
    """Why the CPUs that a report names are not those of its machine; lists are in kernel format."""

    OTHER_MACHINE = "cpu-lists.other-machine", "isolated housekeeping sockets cores threads smt"
    SHARED = "cpu-lists.shared", "isolated housekeeping"
    #: CPUs that suites watch are not all isolated.
    NOT_ISOLATED = "cpu-lists.not-isolated", "watched isolated"
    #: A word of the boot line, or what the guest told of it.
    SETTING = "cpu-lists.setting", "name cpus isolated housekeeping"


class Overclaims(Kind):
    """What a mail says and its boots do not bear out."""

    #: It says that the kernel alone makes the change, which was not shown.
    KERNEL = "overclaim.kernel"
    #: It names a commit for a change that it says the machine makes.
    MACHINE = "overclaim.machine"
    #: It offers tags for a fix of what it does not call a fault of the kernel.
    TAGS = "overclaim.tags"
    #: It says that something is known, and also that this was not tested.
    BOTH = "overclaim.both", "known untested"


class AddressSource(Kind):
    """Where an address comes from."""

    AUTHOR = "address.author"
    COMMITTER = "address.committer"
    #: The list for regressions; `tree` is the kind of the tree.
    REGRESSIONS = "address.regressions", "tree"
    #: The list of stable, whose series have the commit.
    STABLE = "address.stable"
    #: The list of stable, which is asked to pick the commit.
    BACKPORT = "address.backport"
    #: A list that the site has for a word.
    SITE = "address.site", "word"
    #: get_maintainer.pl; the role may be "".
    MAINTAINER = "address.maintainer", "role"
    SIGNED_OFF = "address.signed-off"
    #: Who got the report also gets the answer to a test.
    HAS_REPORT = "address.has-report"


class Refusal(Kind):
    """Why an address is not written to."""

    NO_ADDRESS = "refusal.no-address"
    TAKES_NO_MAIL = "refusal.takes-no-mail"
    DENIED = "refusal.denied"
    OPTED_OUT = "refusal.opted-out"
    NOT_ALLOWED = "refusal.not-allowed"
    #: The report already goes to `most` others, as many as it may go to.
    TOO_MANY = "refusal.too-many", "most"
    #: A person added it, and the site names nobody whom that may be.
    NOT_PROPOSED = "refusal.not-proposed"


class Thread(Kind):
    """Why a report answers a patch, or begins a thread of its own."""

    NO_PATCH = "thread.no-patch"
    UNKNOWN_AGE = "thread.unknown-age"
    #: The patch is too old, or dated in the future.
    NOT_FRESH = "thread.not-fresh", "age_days"
    ANSWER = "thread.answer", "age_days"


class NoMaintainers(Kind):
    """Why get_maintainer.pl names nobody."""

    BUSY = "no-maintainers.busy", "error"
    NO_SCRIPT = "no-maintainers.no-script", "script"
    NO_FILES = "no-maintainers.no-files"
    NOT_STARTED = "no-maintainers.not-started", "script error"
    FAILED = "no-maintainers.failed", "script said"


class Digested(Kind):
    """Rows of a digest, and what they tell of a campaign."""

    #: How many there are of each; so of the lab alone. A subject has the same, shorter.
    SUMMARY = "digest.summary", "hours ended paused mails replies drafts devices"
    LAB = "digest.lab", "paused devices"
    SUBJECT = "digest.subject", "ended paused waiting drafts devices"
    #: A campaign with its answer, or why it is paused; one that is told of elsewhere.
    CAMPAIGN = "digest.campaign", "campaign what"
    NAMED = "digest.named", "campaign"
    #: A mail that waits: `mail` is its MailKind, `answer` what its server said.
    MAIL = "digest.mail", "state campaign mail answer"
    REPLY = "digest.reply", "key campaign why"
    DEVICE = "digest.device", "host why"
    #: A campaign that this version cannot read.
    OTHER_VERSION = "digest.other-version"
    KILLED = "digest.killed"
    NO_ANSWER = "digest.no-answer"
    #: Culprit and confidence are None where there are none; the figures that improved, each one of
    #: `Columns`.
    ANSWER = "digest.answer", "outcome culprit cause confidence better"
