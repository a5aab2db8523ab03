# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules on the form of a mail: what lists and mail tools do to one that is not plain.

Sources: Documentation/process/email-clients.rst, RFC 5322, and what happened to mails of a thread
whose units and tables were changed on their way.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import getaddresses, parsedate_to_datetime
from itertools import pairwise

from rtbisect.report.lint.mail import Mail, Problems, Rule, unfolded
from rtbisect.report.text import PROSE, TABLE

MAX_LINES = 120
MAX_BYTES = 8000
MOST_RECIPIENTS = 40
LONGEST_SUBJECT = 150

ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){1,8}"
)
MESSAGE_ID = re.compile(r"<[^\s<>@]{1,120}@[^\s<>@]{1,120}>")
_ONCE = ("From", "To", "Subject", "Date", "Message-ID")
#: Begins of lines that git am, patchwork and mbox readers take for something else.
_ACTIVE = re.compile(r"From |---\s*$|diff --git |Index: |@@ ")
#: No regression mail is older than the rules.
_OLDEST = datetime(2005, 1, 1, tzinfo=UTC)


def _plain(mail: Mail) -> Problems:
    if mail.raw.is_multipart():
        parts = [part.get_content_type() for part in mail.raw.walk() if not part.is_multipart()]
        yield "", f"has parts ({', '.join(parts[:5])}): one text, nothing attached"
    elif mail.raw.get_content_type() != "text/plain":
        yield "Content-Type", f"{mail.raw.get_content_type()}, not text/plain"
    elif re.search(r"(?i)</?(html|body|div|br|p|span|table)\b[^<]*>", mail.body):
        yield "", "has HTML tags"


def _flowed(mail: Mail) -> Problems:
    if "flowed" in mail.header("Content-Type").lower():
        yield "Content-Type", "format=flowed joins the lines of tables"


def _encoding(mail: Mail) -> Problems:
    encoding = mail.header("Content-Transfer-Encoding").lower()
    if encoding not in ("", "7bit", "8bit"):
        yield "Content-Transfer-Encoding", f"{encoding} breaks tables and hides the text: 7bit"
    elif encoding == "8bit" and mail.text_bytes.isascii():
        yield "Content-Transfer-Encoding", "8bit, although all of the text is ASCII"


def _charset(mail: Mail) -> Problems:
    charset = (mail.raw.get_content_charset() or "us-ascii").lower()
    if charset not in ("us-ascii", "utf-8"):
        yield "Content-Type", f"charset {charset}: us-ascii, or utf-8 for a name"
    for place, line in enumerate(mail.lines):
        # A name may need its letters; a unit, a quote or a dash does not.
        odd = [char for char in line if not char.isascii() and not char.isalpha()]
        odd += [char for char in line if char in "\u00b5\u03bc"]
        if odd:
            yield place, f"U+{ord(odd[0]):04X} instead of ASCII (us for microseconds)"


def _subject(mail: Mail) -> Problems:
    subject = mail.subject
    if not subject:
        yield "Subject", "there is none"
    elif not subject.isascii() or "=?" in subject:
        yield "Subject", "is not ASCII"
    elif len(subject) > LONGEST_SUBJECT:
        yield "Subject", f"has {len(subject)} characters, at most {LONGEST_SUBJECT}"


def _headers(mail: Mail) -> Problems:
    for name in _ONCE:
        if mail.count(name) != 1:
            yield (
                name,
                "is not there" if not mail.count(name) else f"is there {mail.count(name)} times",
            )
    for name, value in mail.raw.items():
        if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", str(value)):
            yield name, "has control characters"
    for defect in mail.raw.defects:
        yield "", f"cannot be read as a mail: {type(defect).__name__}"


def _message_id(mail: Mail) -> Problems:
    if mail.count("Message-ID") and not MESSAGE_ID.fullmatch(mail.header("Message-ID")):
        yield "Message-ID", "is not of the form <left@right>"


def _date(mail: Mail) -> Problems:
    if not mail.count("Date"):
        return
    try:
        when = parsedate_to_datetime(mail.header("Date"))
    except (ValueError, TypeError, OverflowError):
        yield "Date", "is none"
        return
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
    if when > datetime.now(UTC) + timedelta(days=1):
        yield "Date", "is in the future: is the clock wrong?"
    elif when < _OLDEST:
        yield "Date", "is before 2005: is the clock wrong?"


def _recipients(mail: Mail) -> Problems:
    addresses: set[str] = set()
    for name in ("From", "To", "Cc"):
        for value in mail.raw.get_all(name) or ():
            for _, spec in getaddresses([unfolded(value)]):
                if not ADDRESS.fullmatch(spec):
                    yield name, f"{repr(spec[:60]) if spec else 'an entry'} is not an address"
                elif name != "From" and spec.lower() in addresses:
                    yield name, f"{spec} is there twice"
                elif name != "From":
                    addresses.add(spec.lower())
    if len(addresses) > MOST_RECIPIENTS:
        yield "Cc", f"{len(addresses)} recipients, at most {MOST_RECIPIENTS}"
    if mail.count("Bcc"):
        yield "Bcc", "hides recipients"


def _thread(mail: Mail) -> Problems:
    parent, thread = mail.header("In-Reply-To"), mail.header("References").split()
    for name, ids in (("In-Reply-To", parent.split()), ("References", thread)):
        if any(not MESSAGE_ID.fullmatch(each) for each in ids):
            yield name, "has what is no Message-ID"
    if len(parent.split()) > 1:
        yield "In-Reply-To", "names more than one mail"
    elif parent and parent not in thread:
        yield "References", "does not have the mail that this one answers"


def _width(mail: Mail) -> Problems:
    for place, line in enumerate(mail.lines):
        # A table, an indented block, a quote and a tag are never wrapped.
        prose = line[:1].isalpha() and not re.match(r"[A-Z][A-Za-z-]*: ", line)
        prose = prose and not re.search(r"\S {2,}\S", line)
        if len(line) > (PROSE if prose else TABLE) and not re.search(r"\S{60,}", line):
            if re.match(r"(#regzbot|\s*Fixes:|>)", line):
                continue
            yield place, f"{len(line)} columns, at most {PROSE if prose else TABLE}"
        elif len(line) > 998:
            yield place, "longer than SMTP allows (998)"


def _size(mail: Mail) -> Problems:
    lines, size = len(mail.body.rstrip("\n").split("\n")), len(mail.text_bytes)
    if lines > MAX_LINES:
        yield "", f"{lines} lines, at most {MAX_LINES}"
    if size > MAX_BYTES:
        yield "", f"{size} bytes, at most {MAX_BYTES}"


def _clean(mail: Mail) -> Problems:
    for place, line in enumerate(mail.lines):
        if "\t" in line:
            yield place, "a tab: columns move with the reader's settings"
        elif line != line.rstrip() and line != "-- ":  # what a signature begins with
            yield place, "ends with spaces"
        elif re.search(
            r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", line
        ):
            yield place, "has control characters"
        elif _ACTIVE.match(line):
            yield place, f"a line that mail tools act upon: {line[:20]!r}"
    for place, (above, below) in enumerate(pairwise(mail.lines)):
        if not above and not below and place + 2 < len(mail.lines):
            yield place + 1, "a second blank line"


RULES = (
    Rule("plain-text", "lists drop or bury HTML and attachments (email-clients.rst)", _plain),
    Rule("flowed", "format=flowed re-wraps tables (email-clients.rst)", _flowed),
    Rule("encoding", "quoted-printable and base64 split rows and hide text", _encoding),
    Rule(
        "charset", "units came back as something else from one mail program to the next", _charset
    ),
    Rule("subject", "an encoded or endless subject is not read", _subject),
    Rule("headers", "each once, as RFC 5322 wants it", _headers),
    Rule("message-id", "Closes: and threads hang on it (RFC 5322, 3.6.4)", _message_id),
    Rule("date", "a wrong clock sorts the mail where nobody looks", _date),
    Rule("recipients", "real addresses, each once, no more than asked for", _recipients),
    Rule("thread", "References: has what In-Reply-To: has (RFC 5322, 3.6.4)", _thread),
    Rule("width", "72 columns for prose, 76 for tables, which are never wrapped", _width),
    Rule("size", "readers stop after a page or two; data go by link", _size),
    Rule("clean", "no tabs, no trailing spaces, nothing that tools act upon", _clean),
)
