# SPDX-License-Identifier: GPL-2.0-or-later
"""SMTP (RFC 5321) with TLS and login, one mail a connection.

The mail may have arrived from the moment in which its last dot is sent: everything before that can
be tried again, and nothing after it.
"""

from __future__ import annotations

import re
import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.mail.transport.transport import Delivered, Doubt, Ended, Later, Refused
from rtbisect.process.command import printable
from rtbisect.process.secret_file import read_secret

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rtbisect.model.mail import OutMail

#: The last line of a mail.
_END = b".\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SmtpSettings:
    """A server that takes our mail, and how to log in."""

    host: str
    port: int = 587
    #: `tls` (from the first byte), `starttls`, or `none`, which is for this machine alone.
    security: str = "starttls"
    #: "" does not log in.
    user: str = ""
    #: A file that holds it; needed where there is a user.
    password: Path | None = None
    #: A file of certificates that are trusted in place of the system's; None: the system's.
    ca: Path | None = None
    #: The name that we greet with (EHLO); "" for that of this machine.
    hello: str = ""
    #: Of each answer.
    timeout_s: float = 120.0

    @property
    def where(self) -> str:
        return f"mail server {self.host} port {self.port}"


class SmtpTransport:
    """Implements `Transport`."""

    def __init__(self, settings: SmtpSettings) -> None:
        self.settings = settings
        if settings.security == "none" and not _here(settings.host):
            problem = f"{settings.where}: security none is for this machine alone"
            raise ConfigError(problem, "write `security: starttls` or `tls`")

    def send(self, mail: OutMail, before_end: Callable[[], None]) -> Ended:
        try:
            smtp = self._connect()
        except (OSError, smtplib.SMTPException) as error:
            return Later(self._error_line(error))
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
        settings = self.settings
        smtp: smtplib.SMTP | None = None
        try:
            if settings.security == "tls":
                smtp = smtplib.SMTP_SSL(
                    settings.host,
                    settings.port,
                    settings.hello or None,
                    timeout=settings.timeout_s,
                    context=self._context(),
                )
            else:
                smtp = smtplib.SMTP(
                    settings.host, settings.port, settings.hello or None, timeout=settings.timeout_s
                )
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
        if self.settings.security == "starttls":
            smtp.starttls(context=self._context())
            smtp.ehlo_or_helo_if_needed()
        if self.settings.user:
            smtp.login(self.settings.user, self._password())

    def _config_error(self, error: Exception) -> Exception:
        """What a person has to change is a ConfigError; the rest may pass by itself."""
        settings = self.settings
        match error:
            case ssl.SSLCertVerificationError():
                problem = f"its certificate is not trusted ({error.verify_message})"
                hint = "give the right `host`, or its `ca`"
            case smtplib.SMTPAuthenticationError() if error.smtp_code >= 500:
                problem = (
                    f"refuses user {printable(settings.user)}: {_answer_line(error.smtp_error)}"
                )
                hint = "correct user and password of the section mail:"
            case smtplib.SMTPNotSupportedError():
                problem = str(error)
                hint = "see `security` and `user` of the section mail:"
            case _:
                return error
        return ConfigError(f"{settings.where}: {problem}", hint)

    def _context(self) -> ssl.SSLContext:
        ca = self.settings.ca
        try:
            return ssl.create_default_context(cafile=str(ca) if ca else None)
        except OSError as error:
            raise ConfigError(f"{ca}: {error}", "give a file with certificates") from error

    def _password(self) -> str:
        place = self.settings.password
        if place is None:
            raise ConfigError(
                f"{self.settings.where}: a user and no password", "name a file with `password`"
            )
        return read_secret(place, "password of the mail server")

    def _send_envelope(self, smtp: smtplib.SMTP, mail: OutMail) -> Ended | tuple[str, ...]:
        """Sender and recipients: those that were refused, once the server wants the text; else how
        it ended.
        """
        try:
            code, answer = smtp.mail(mail.sender)
            if code != 250:
                return _refused_or_later(code, f"sender: {_answer_line(answer)}")
            refused = []
            for address in mail.recipients:
                code, answer = smtp.rcpt(address)
                # One that is to come later would get a second mail, or none.
                if code // 100 == 4:
                    return Later(f"{address}: {code} {_answer_line(answer)}")
                if code not in (250, 251):
                    refused.append(f"{address}: {code} {_answer_line(answer)}")
            if len(refused) == len(mail.recipients):
                return Refused(refused[0] if refused else "no recipients")
            code, answer = smtp.docmd("DATA")
            return tuple(refused) if code == 354 else _refused_or_later(code, _answer_line(answer))
        except (OSError, smtplib.SMTPException) as error:
            return Later(self._error_line(error))

    def _send_text(
        self, smtp: smtplib.SMTP, mail: OutMail, before_end: Callable[[], None]
    ) -> Ended:
        lines = mail.text.rstrip("\n").split("\n")
        text = "".join(f".{line}\r\n" if line.startswith(".") else f"{line}\r\n" for line in lines)
        try:
            smtp.send(text.encode("ascii"))
        except (OSError, smtplib.SMTPException) as error:
            return Later(self._error_line(error))
        before_end()
        try:
            smtp.send(_END)
            code, answer = smtp.getreply()
        except (OSError, smtplib.SMTPException) as error:
            return Doubt(self._error_line(error))
        if code // 100 == 2:
            with suppress(OSError, smtplib.SMTPException):
                smtp.quit()
            return Delivered(_answer_line(answer))
        # Behind the last dot only a clear no is one (RFC 5321, 4.2.1).
        return (
            _refused_or_later(code, _answer_line(answer))
            if code // 100 in (4, 5)
            else Doubt(_answer_line(answer))
        )

    def _error_line(self, error: Exception) -> str:
        return f"{self.settings.where}: {printable(' '.join(str(error).split()), 200)}"


def _refused_or_later(code: int, answer: str) -> Ended:
    """What an answer that is no yes means (RFC 5321, 4.2.1)."""
    return Refused(f"{code} {answer}") if code // 100 == 5 else Later(f"{code} {answer}")


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
