# SPDX-License-Identifier: GPL-2.0-or-later
"""What a lab behind a LAVA server is told once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.lab.lava.base import Patience
from rtbisect.lab.lava.fair_use import FairUse

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtbisect.lab import job_definition
    from rtbisect.lab.lava.known_good import KnownGood
    from rtbisect.lab.lava.quarantine import Quarantine


@dataclass(frozen=True, slots=True)
class PollIntervals:
    """Seconds: between looks at a job (`called_s`: where the server calls when it ends), until
    a request without an answer shows in the queue, until a queue without a device is left, and
    until any queue is.
    """

    look_s: float = 2.0
    called_s: float = 30.0
    settle_s: float = 5.0
    hopeless_s: float = 120.0
    queue_s: float = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LavaServerSettings:
    """`lab` is the lab's name in the site file; the rest as in `LavaRunSettings`. There is a
    `machine_lock` where the devices are on this machine. Boots of devices in `quarantine` are no
    evidence; one whose jobs end by faults of the lab again and again is put there. `examine` says
    what is wrong with a device as its BMC tells, "" when nothing is or nobody can tell.
    """

    lab: str
    work_dir: Path
    lava_jobs: Path
    busybox: Path = Path("/bin/busybox")
    priority: str = "medium"
    visibility: str | tuple[str, ...] = "personal"
    tags: tuple[str, ...] = ()
    workload: Path | None = None
    timeouts: job_definition.Timeouts | None = None
    manners: FairUse = FairUse()  # noqa: RUF009  (frozen)
    machine_lock: Path | None = None
    lock_wait_s: float = 900.0
    patience: Patience = Patience()  # noqa: RUF009  (frozen)
    pace: PollIntervals = PollIntervals()
    quarantine: Quarantine | None = None
    known_good: KnownGood | None = None
    examine: Callable[[str], str] = lambda _device: ""
