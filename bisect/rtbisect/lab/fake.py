# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab without machines, for tests and dry runs: numbers from a function, faults on demand."""

from __future__ import annotations

import hashlib
from random import Random
from typing import TYPE_CHECKING

from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.lab import DeviceType, FigureSource, Measurement, Run, RunRequest, RunStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Draw = Callable[[RunRequest, Random], Iterable[Measurement]]
    Tell = Callable[[RunRequest], Iterable[FigureSource]]
    Outcome = RunStatus | Exception


class FakeLab:
    """`ports.Lab` whose boots measure what `draw(request, random)` gives.

    `random` is seeded by `seed`, revision and run id: the same run has the same numbers,
    in whatever order runs are made. `script` has outcomes by revision, used up one a run;
    "*" is for every revision. An exception in it is raised. When a script is used up, or
    there is none, boots are complete. `tell` gives what the figures come from, `place` the host of
    a boot. It takes `seconds`, and `window_s` more for each window; where that is 0, windows do not
    tell how long they took. `requests` and `notes` keep what was asked.
    """

    def __init__(  # noqa: PLR0913  (what a test may want)
        self,
        draw: Draw,
        script: Mapping[str, Iterable[Outcome]] | None = None,
        *,
        seed: int = 0,
        seconds: float = 20.0,
        tell: Tell = lambda _request: (),
        devices: int = 1,
        place: Callable[[RunRequest], str] = lambda _request: "",
        says: Callable[[RunRequest], tuple[str, ...]] = lambda _request: (),
        window_s: float = 0.0,
    ) -> None:
        self.devices = devices
        self._place = place
        self._says = says
        self._draw = draw
        self._script = {revision: list(outcomes) for revision, outcomes in (script or {}).items()}
        self._seed = seed
        self._seconds = seconds
        self._window_s = window_s
        self._tell = tell
        self.requests: list[RunRequest] = []
        self.notes: list[str] = []

    def run(self, request: RunRequest, note: Callable[[str], None]) -> Run:
        """One boot that takes no time; raises what the script says."""
        self.requests.append(request)
        external = f"fake:{len(self.requests)}"
        self.notes.append(external)
        note(external)
        outcome = self._next(request.revision)
        if isinstance(outcome, Exception):
            raise outcome
        complete = outcome is RunStatus.COMPLETE
        excerpt = self._says(request)
        windows_s = (self._window_s,) * len(request.windows)
        return Run(
            run_id=request.run_id,
            revision=request.revision,
            status=outcome,
            reason=None if complete else Finding.of(Boots.FAKE, status=outcome),
            measurements=tuple(self._draw(request, self._random(request))) if complete else (),
            facts=(("clocksource", "tsc"), ("smt_active", "1")) if complete else (),
            window_order=tuple(window.name for window in request.windows),
            window_s=windows_s if complete and self._window_s else (),
            seconds=self._seconds + sum(windows_s),
            signature="" if complete and not excerpt else f"fake: {outcome.value}",
            excerpt=excerpt,
            sources=tuple(self._tell(request)) if complete else (),
            device=self._place(request),
        )

    def width(self, device_type: DeviceType) -> int:  # noqa: ARG002
        """Number of devices that the fake was told of."""
        return self.devices

    def leave(self) -> None:
        """A fake holds nothing open."""

    def _next(self, revision: str) -> Outcome:
        for key in (revision, "*"):
            if self._script.get(key):
                return self._script[key].pop(0)
        return RunStatus.COMPLETE

    def _random(self, request: RunRequest) -> Random:
        text = f"{self._seed}\0{request.revision}\0{request.run_id}"
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        return Random(seed)  # noqa: S311  (a simulation)
