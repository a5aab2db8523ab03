# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads without a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FakeThreads:
    """command_mail.Threads of reports that nobody has answered."""

    #: Campaigns by the Message-IDs of their reports.
    reports: Mapping[str, str]

    def ours(self, message_id: str) -> str:
        return self.reports.get(message_id, "")

    def answers(self, _message_id: str) -> str:
        return ""

    def is_ours(self, campaign: str) -> bool:
        return campaign in self.reports.values()

    def mends(self, _campaign: str) -> tuple[str, ...]:
        return ()
