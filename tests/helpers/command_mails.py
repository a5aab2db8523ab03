# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails with commands as our mail server delivers them, with the signatures that it has checked."""

from datetime import UTC, datetime

from rtbisect.config.schema import Commands
from rtbisect.mail.command_mail import SenderRules, read_reply
from rtbisect.mail.fake import FakeThreads

MX = "mx.lab.example.org"
TRUST = SenderRules(
    own="bot@lab.example.org",
    commands=Commands(people=["ada@kernel.example.org"], trusted=[MX]),
)
KNOWN = FakeThreads({"<r1@lab.example.org>": "bisect-1", "<r2@lab.example.org>": "bisect-2"})
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
T = int(NOW.timestamp())
GOOD = f"Authentication-Results: {MX}; dkim=pass header.d=kernel.example.org"
USUAL = "From:To:Cc:Subject:Date:Message-ID:In-Reply-To:References"


def signed(headers=USUAL, more="", value="abcd1234"):
    return (
        f"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=kernel.example.org; s=s1;{more}\n"
        f" h={headers};\n bh=aaaa=; b={value[:4]}\n {value[4:]}"
    )


def mail(
    body="#rtbisect test fixes/one\n",
    *,
    top=(),
    bottom=(),
    result=GOOD,
    signature=None,
    without=(),
    **changes,
):
    told = {
        "From": "Ada <ada@kernel.example.org>",
        "To": "bot@lab.example.org",
        "Subject": "Re: a report",
        "Date": "Mon, 02 Mar 2026 10:00:00 +0000",
        "Message-ID": "<a1@kernel.example.org>",
        "In-Reply-To": "<r1@lab.example.org>",
        "References": "<r1@lab.example.org>",
    } | {name.replace("_", "-"): value for name, value in changes.items()}
    head = [f"{name}: {value}" for name, value in told.items() if name not in without]
    lines = [result, *top, signature or signed(), *head, *bottom]
    text = body if isinstance(body, bytes) else body.encode()
    return "\n".join(lines).encode() + b"\n\n" + text


def read(*words, **changes):
    return read_reply(mail(*words, **changes), KNOWN, TRUST, NOW)


def counts(found):
    return bool(found.asked) and not found.ignored and not found.untrusted
