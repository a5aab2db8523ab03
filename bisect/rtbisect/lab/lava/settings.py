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
    """Seconds."""

    #: Between looks at a job; the second where the server calls when one ends.
    look_s: float = 2.0
    called_s: float = 30.0
    #: Until a request without an answer shows in the queue.
    settle_s: float = 5.0
    #: Until a queue without a device is left, and until any queue is.
    hopeless_s: float = 120.0
    queue_s: float = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LavaServerSettings:
    """A lab behind a LAVA server; what is not explained is as in `LavaRunSettings`."""

    #: Its name in the site file.
    lab: str
    work_dir: Path
    lava_jobs: Path
    busybox: Path = Path("/bin/busybox")
    #: Of the jobs, and who reads them: see `job_definition.Job`, also for `tags`.
    priority: str = "medium"
    visibility: str | tuple[str, ...] = "personal"
    tags: tuple[str, ...] = ()
    workload: Path | None = None
    timeouts: job_definition.Timeouts | None = None
    manners: FairUse = FairUse()  # noqa: RUF009  (frozen)
    #: None where the devices are not on this machine.
    machine_lock: Path | None = None
    lock_wait_s: float = 900.0
    patience: Patience = Patience()  # noqa: RUF009  (frozen)
    pace: PollIntervals = PollIntervals()
    #: Boots of devices on it are no evidence; one whose jobs end by faults of the lab again and
    #: again is put there.
    quarantine: Quarantine | None = None
    known_good: KnownGood | None = None
    #: What is wrong with a device as its BMC tells; "" when nothing is or nobody can tell.
    examine: Callable[[str], str] = lambda _device: ""
