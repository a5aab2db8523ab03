# SPDX-License-Identifier: GPL-2.0-or-later
"""How a mail leaves, and how that ends. Each way of sending implements `Transport`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.model.finding import Finding
    from rtbisect.model.mail import OutMail


@dataclass(frozen=True, slots=True)
class Delivered:
    """The mail has arrived at the next hop."""

    #: What the hop said, one of `Delivery`; likewise below.
    answer: Finding
    #: Recipients that it did not take, each a `Delivery` with its address.
    refused: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Later:
    """The mail has not arrived, and may be tried again."""

    answer: Finding


@dataclass(frozen=True, slots=True)
class Refused:
    """The mail has not arrived, and another try would end the same way."""

    answer: Finding


@dataclass(frozen=True, slots=True)
class Doubt:
    """The mail may have arrived: nobody answered after its end."""

    answer: Finding


Ended = Delivered | Later | Refused | Doubt


class Transport(Protocol):
    """Sends one mail; ConfigError where the site has to be changed first."""

    def send(self, mail: OutMail, before_end: Callable[[], None]) -> Ended:
        """Send; `before_end` is called right before the step after which the mail may have
        arrived, and not at all where the mail did not come so far.
        """
