# SPDX-License-Identifier: GPL-2.0-or-later
"""SMTP (RFC 5321) with TLS and login, one mail a connection.

The mail may have arrived from the moment in which its last dot is sent: everything before that can
be tried again, and nothing after it.
"""

from __future__ import annotations

import binascii
import re
import smtplib
import ssl
from contextlib import suppress
from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.mail.transport.transport import Delivered, Doubt, Ended, Later, Refused
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Delivery
from rtbisect.process.command import printable
from rtbisect.process.secret_file import read_secret

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rtbisect.config.schema import Smtp
    from rtbisect.model.mail import OutMail

#: The last line of a mail.
_END = b".\r\n"


class SmtpTransport:
    """Implements `Transport`. `beside` finds files of the site; `hello` is the name that we greet
    with (EHLO), "" for that of this machine.
    """

    #: Seconds to wait for each answer of the server.
    timeout_s = 120.0

    def __init__(self, server: Smtp, beside: Callable[[str], Path], hello: str = "") -> None:
        self._server, self._beside, self._hello = server, beside, hello
        self._where = f"mail server {server.host} port {server.port}"
        if server.security == "none" and not _here(server.host):
            problem = f"{self._where}: security none is for this machine alone"
            raise ConfigError(problem, "write `security: starttls` or `tls`")

    def send(self, mail: OutMail, before_end: Callable[[], None]) -> Ended:
        try:
            smtp = self._connect()
        except smtplib.SMTPResponseException as error:
            return Later(_not_now(error.smtp_code, error.smtp_error))
        # The library decodes what a server asks of who logs in, whatever it is.
        except (OSError, smtplib.SMTPException, binascii.Error) as error:
            return Later(self._no_answer(error))
        try:
            outcome = self._send_envelope(smtp, mail)
            if not isinstance(outcome, tuple):
                return outcome
            ended = self._send_text(smtp, mail, before_end)
            return replace(ended, refused=outcome) if isinstance(ended, Delivered) else ended
        finally:
            with suppress(OSError, smtplib.SMTPException):
                smtp.close()

    def _connect(self) -> smtplib.SMTP:
        """A session that is logged in; ConfigError for what stays wrong."""
        address = (self._server.host, self._server.port, self._hello or None)
        smtp: smtplib.SMTP | None = None
        try:
            if self._server.security == "tls":
                context = self._context()
                smtp = smtplib.SMTP_SSL(*address, timeout=self.timeout_s, context=context)
            else:
                smtp = smtplib.SMTP(*address, timeout=self.timeout_s)
            self._greet(smtp)
        except Exception as error:
            if smtp is not None:
                smtp.close()
            error_for_us = self._config_error(error)
            if error_for_us is error:
                raise
            raise error_for_us from error
        return smtp

    def _greet(self, smtp: smtplib.SMTP) -> None:
        smtp.ehlo_or_helo_if_needed()
        if self._server.security == "starttls":
            smtp.starttls(context=self._context())
            smtp.ehlo_or_helo_if_needed()
        if self._server.user:
            smtp.login(self._server.user, self._password())

    def _config_error(self, error: Exception) -> Exception:
        """What a person has to change is a ConfigError; the rest may pass by itself."""
        match error:
            case ssl.SSLCertVerificationError():
                problem = f"its certificate is not trusted ({error.verify_message})"
                hint = "give the right `host`, or its `ca`"
            case smtplib.SMTPAuthenticationError() if error.smtp_code >= 500:
                user = printable(self._server.user or "")
                problem = f"refuses user {user}: {_answer_line(error.smtp_error)}"
                hint = "correct user and password of the section mail:"
            case smtplib.SMTPNotSupportedError():
                problem = str(error)
                hint = "see `security` and `user` of the section mail:"
            case _:
                return error
        return ConfigError(f"{self._where}: {problem}", hint)

    def _context(self) -> ssl.SSLContext:
        ca = self._beside(self._server.ca) if self._server.ca else None
        try:
            return ssl.create_default_context(cafile=ca)
        except OSError as error:
            raise ConfigError(f"{ca}: {error}", "give a file with certificates") from error

    def _password(self) -> str:
        assert self._server.password is not None, "the schema wants it where there is a user"
        return read_secret(self._beside(self._server.password), "password of the mail server")

    def _send_envelope(self, smtp: smtplib.SMTP, mail: OutMail) -> Ended | tuple[Finding, ...]:
        """Sender and recipients: those that were refused, once the server wants the text; else how
        it ended.
        """
        try:
            code, answer = smtp.mail(mail.sender)
            if code != 250:
                return _refused_or_later(code, answer, mail.sender)
            refused = []
            for address in mail.recipients:
                code, answer = smtp.rcpt(address)
                # One that is to come later would get a second mail, or none.
                if code // 100 == 4:
                    return Later(_not_now(code, answer, address))
                if code not in (250, 251):
                    refused.append(_refused(code, answer, address))
            if len(refused) == len(mail.recipients):
                return Refused(refused[0] if refused else Finding.of(Delivery.NO_RECIPIENTS))
            code, answer = smtp.docmd("DATA")
            return tuple(refused) if code == 354 else _refused_or_later(code, answer)
        except (OSError, smtplib.SMTPException) as error:
            return Later(self._no_answer(error))

    def _send_text(
        self, smtp: smtplib.SMTP, mail: OutMail, before_end: Callable[[], None]
    ) -> Ended:
        lines = mail.text.rstrip("\n").split("\n")
        text = "".join(f".{line}\r\n" if line.startswith(".") else f"{line}\r\n" for line in lines)
        try:
            smtp.send(text.encode("ascii"))
        except (OSError, smtplib.SMTPException) as error:
            return Later(self._no_answer(error))
        before_end()
        try:
            smtp.send(_END)
            code, answer = smtp.getreply()
        except (OSError, smtplib.SMTPException) as error:
            return Doubt(self._no_answer(error))
        if code // 100 == 2:
            with suppress(OSError, smtplib.SMTPException):
                smtp.quit()
            return Delivered(Finding.of(Delivery.ACCEPTED, code=code, said=_answer_line(answer)))
        # Behind the last dot only a clear no is one (RFC 5321, 4.2.1).
        if code // 100 in (4, 5):
            return _refused_or_later(code, answer)
        return Doubt(Finding.of(Delivery.UNCLEAR, code=code, said=_answer_line(answer)))

    def _no_answer(self, error: Exception) -> Finding:
        why = printable(" ".join(str(error).split()), 200)
        return Finding.of(
            Delivery.NO_ANSWER, host=self._server.host, port=self._server.port, error=why
        )


def _refused_or_later(code: int, answer: bytes | str, address: str = "") -> Ended:
    """What an answer that is no yes means (RFC 5321, 4.2.1)."""
    if code // 100 == 5:
        return Refused(_refused(code, answer, address))
    return Later(_not_now(code, answer, address))


def _refused(code: int, answer: bytes | str, address: str) -> Finding:
    return Finding.of(Delivery.REFUSED, address=address, code=code, said=_answer_line(answer))


def _not_now(code: int, answer: bytes | str, address: str = "") -> Finding:
    return Finding.of(Delivery.NOT_NOW, address=address, code=code, said=_answer_line(answer))


def _answer_line(answer: bytes | str) -> str:
    text = answer.decode("ascii", "replace") if isinstance(answer, bytes) else answer
    return printable(" ".join(text.split()), 200)


def _here(host: str) -> bool:
    if re.fullmatch(r"localhost\.?", host, re.IGNORECASE):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
