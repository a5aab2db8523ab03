# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails of the outbox on their way, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.errors import ConfigError
from rtbisect.mail.transport.transport import Delivered, Doubt, Later, Refused, Transport

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.model.mail import OutMail
    from rtbisect.store.outbox import Outbox


def send_due(
    outbox: Outbox,
    transport: Transport,
    now_s: Callable[[], float],
    tell: Callable[[OutMail], None] = lambda _mail: None,
) -> tuple[OutMail, ...]:
    """Send what is due, each mail once; gives them as they stand now, first those that an earlier
    session left in doubt. ConfigError where the transport has to be set up first: nothing is lost.
    """
    with outbox.sender():
        ended = list(outbox.settle())
        for mail in ended:
            tell(mail)
        for mail in outbox.due(now_s()):
            before_end = outbox.begin(mail)
            try:
                how = transport.send(mail, before_end)
            except ConfigError:
                outbox.take_back(mail)
                raise
            match how:
                case Delivered(answer, refused):
                    now = outbox.sent(mail, answer, refused)
                case Later(answer):
                    now = outbox.later(mail, answer, now_s())
                case Refused(answer):
                    now = outbox.refuse(mail, answer)
                case Doubt(answer):
                    now = outbox.doubt(mail, answer)
            ended.append(now)
            tell(now)
    return tuple(ended)
