# SPDX-License-Identifier: GPL-2.0-or-later
"""A real SMTP server (aiosmtpd) in a process of its own, with faults on request. It prints its
port, and writes each mail that it took to a file, with the envelope in its first two lines.

    python smtp_server.py FOLDER [--fault NAME] [--certificate FILE] [--user NAME PASSWORD]
"""

import argparse
import asyncio
import itertools
import os
import ssl
import sys
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult

FAULTS = {
    "",
    "grey",  # the first mail is asked to come later
    "one",  # refuses one recipient
    "one-later",  # asks one recipient to come later, always
    "all",  # refuses all recipients
    "sender",
    "content",  # refuses what it has read
    "busy",  # asks to come later with what it has read
    "cut",  # takes the mail and hangs up before it answers
    "deaf",  # takes the mail and never answers
    "stop",  # greets and hangs up
    "away",  # greets and says that it is closed
    "odd",  # takes the mail and answers what is no yes and no no
}


class Handler:
    def __init__(self, folder, fault):
        self.folder, self.fault = folder, fault
        self.numbers, self.seen = itertools.count(1), 0

    async def handle_EHLO(self, server, session, envelope, hostname, responses):  # noqa: N802
        session.host_name = hostname
        if self.fault == "stop":
            server.transport.abort()
        return ["421 4.3.2 closed for now"] if self.fault == "away" else responses

    async def handle_HELO(self, server, session, envelope, hostname):  # noqa: N802
        session.host_name = hostname
        return "421 4.3.2 closed for now" if self.fault == "away" else f"250 {server.hostname}"

    async def handle_MAIL(self, server, session, envelope, address, options):  # noqa: N802
        if self.fault == "sender":
            return "550 5.7.1 not from you"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        self.seen += 1
        if self.fault == "grey" and self.seen == 1:
            return "451 4.7.1 greylisted, come back"
        if self.fault == "all" or (self.fault == "one" and address.startswith("second@")):
            return "550 5.1.1 no such user"
        if self.fault == "one-later" and address.startswith("second@"):
            return "450 4.2.1 mailbox busy"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        if self.fault == "content":
            return "554 5.6.0 not what we read"
        if self.fault == "busy":
            return "452 4.3.1 disk full"
        head = f"{envelope.mail_from}\n{' '.join(envelope.rcpt_tos)}\n"
        place = self.folder / f"{os.getpid()}-{next(self.numbers)}"
        half = place.with_suffix(".half")
        half.write_bytes(head.encode() + envelope.original_content)
        half.rename(place)
        if self.fault == "cut":
            server.transport.abort()
        if self.fault == "odd":
            return "354 go on"
        if self.fault == "deaf":
            await asyncio.sleep(3600)
        return "250 2.0.0 taken"


def authenticator(expected):
    def check(server, session, envelope, mechanism, data):
        given = [part.decode() for part in (data.login, data.password)]
        return AuthResult(success=given == expected, handled=False)

    return check


async def serve(asked):
    words, context = {}, None
    if asked.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(asked.certificate)
        if not asked.tls:
            words |= {"tls_context": context, "require_starttls": True}
    if asked.user:
        words |= {"authenticator": authenticator(asked.user), "auth_required": True}
        words |= {"auth_require_tls": not asked.tls}
    handler = Handler(asked.folder, asked.fault)
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(handler, hostname="mx.example.org", **words),
        "127.0.0.1",
        0,
        ssl=context if asked.tls else None,
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fault", choices=sorted(FAULTS), default="")
    parser.add_argument("--certificate")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--user", nargs=2)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
