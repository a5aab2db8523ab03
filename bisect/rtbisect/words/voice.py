# SPDX-License-Identifier: GPL-2.0-or-later
"""How a campaign is told: by the change that it seeks, and by what it measures."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict

from rtbisect.errors import ConfigError
from rtbisect.model.campaign import CampaignKind, Sought
from rtbisect.model.command import CommandRequest
from rtbisect.model.result import ENDS
from rtbisect.model.subject import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.campaign import CampaignRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """The words that depend on it."""

    #: The older end and its like, the newer end and its like; so in the log for git, too.
    older: str
    newer: str
    #: The change: "no regression".
    change: str
    #: The commit that made it.
    commit: str
    #: What a figure has done that changed so.
    changed: str
    #: One run.
    run: str
    #: What a revision does that stands still.
    hangs: str
    #: What two revisions do whose builds are one.
    same: str
    #: What gives a campaign more runs.
    more_runs: str
    #: A build is work of its own, and worth telling.
    builds: bool
    #: What a search counts of them.
    built: str
    #: What the shares of a figure are, which each run has or has not; "" where it is a number.
    share: str = ""
    #: What can be told in it is; "" leaves each figure the unit that it is best read in.
    unit: str = ""
    #: What the ends are called, by the first 12 digits of their shas, and so, where a proof was
    #: made, the kernels that it compares.
    ends: Mapping[str, str] = field(default_factory=dict)
    proven: Mapping[str, str] = field(default_factory=dict)

    @property
    def build(self) -> str:
        """What a proof on other code of both sides compares."""
        return "build" if self.builds else "revision"

    def kernel(self, sha: str, other: str = "", *, proven: bool = False) -> str:
        """A revision with its role before it; `other` is that of one which has none."""
        short = sha[:12]
        roles = {**self.ends, **self.proven} if proven else self.ends
        return f"{roles.get(short, other)} {short}".lstrip()


class _Change(TypedDict):
    """The words that depend on the change alone."""

    older: str
    newer: str
    change: str
    commit: str
    changed: str


_CHANGES: Mapping[Sought, _Change] = {
    Sought.REGRESSION: {
        "older": "good", "newer": "bad", "change": "regression", "commit": "culprit",
        "changed": "regressed",
    },
    Sought.REPAIR: {
        "older": "broken", "newer": "fixed", "change": "repair", "commit": "repair",
        "changed": "better again",
    },
}  # fmt: skip


def voice_of(sought: Sought = Sought.REGRESSION, measured: Measured = Measured.KERNEL) -> Voice:
    """How a campaign of this kind is told."""
    if measured is Measured.COMMAND:
        return Voice(
            **_CHANGES[sought],
            run="run",
            hangs="runs longer than --timeout",
            same="have the same files",
            more_runs="--max-runs",
            builds=False,
            built="revisions built",
        )
    return Voice(
        **_CHANGES[sought],
        run="boot",
        hangs="hangs in the suites",
        same="are the same kernel, bit for bit",
        more_runs="--max-boots (max_boots of a site)",
        builds=True,
        built="builds",
    )


def voice_of_request(request: CampaignRequest) -> Voice:
    """How the campaign of a request is told."""
    command = request.kind == CampaignKind.RUN
    voice = voice_of(request.sought, Measured.COMMAND if command else Measured.KERNEL)
    if command:
        # One that is damaged is still listed.
        with suppress(ConfigError):
            asked = CommandRequest.of(request)
            same = "have the same products" if asked.products else voice.same
            share = "failures" if asked.pass_fail else ""
            voice = replace(voice, builds=bool(asked.build), same=same, share=share)
    if request.kind == CampaignKind.TRY:
        return voice
    names = ENDS if request.kind == CampaignKind.CHECK else None
    return with_ends(voice, (request.older, request.newer), names)


def with_ends(voice: Voice, shas: tuple[str, str], names: tuple[str, str] | None = None) -> Voice:
    """The voice that calls the older and the newer end by `names`, else as it calls them."""
    named = names or (f"{voice.older} end", f"{voice.newer} end")
    return replace(voice, ends={sha[:12]: name for sha, name in zip(shas, named, strict=True)})


#: A regression between kernels.
PLAIN = voice_of()
