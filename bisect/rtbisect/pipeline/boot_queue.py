# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of a campaign on as many devices as its lab has.

The pipeline asks for one boot after the other. Who asks may say which boots will likely be wanted
after this one; those are begun early, as long as a device is free, and are there when they are
asked for. Boots are numbered in the order in which they begin. That order depends on recorded
values alone and on no clock, so a resumed campaign begins the same ones under the same numbers.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbisect.model.lab import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class BootRequest:
    """A boot that is wanted, of a built revision. Boots that differ in nothing but `purpose` and
    `left` are the same.
    """

    sha: str
    #: For the story: verify, search, base, ...
    purpose: str = field(compare=False)
    #: For the story: the expected number of boots after this one.
    left: int = field(default=0, compare=False)
    #: As in Steps.build.
    layout: int = 0
    #: The window for which windows that explain it are run, too; "": none.
    explain: str = ""
    #: Functions that these windows probe.
    probes: tuple[str, ...] = ()


def in_turn(pair: tuple[str, str], turn: int) -> str:
    """Which of two kernels is booted in this turn: A B B A, so that drift counts for neither."""
    return pair[(turn + turn // 2) % 2]


class _BegunBoot:
    """A boot under way, in a thread that ends with the program."""

    def __init__(self, ask: BootRequest, work: Callable[[], Run]) -> None:
        self.ask = ask
        self._work = work
        self._run: Run | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._do, daemon=True)
        self._thread.start()

    def result(self) -> Run:
        """The run, or the error of the lab."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._run is not None
        return self._run

    def _do(self) -> None:
        try:
            self._run = self._work()
        except BaseException as error:  # noqa: BLE001  (raised where the boot is asked for)
            self._error = error


class BootQueue:
    """At most `width` boots at a time. `prepare(number, ask)` gives what carries a boot out; that
    may run in another thread.
    """

    def __init__(
        self, width: int, prepare: Callable[[int, BootRequest], Callable[[], Run]]
    ) -> None:
        self._width = width
        self._prepare = prepare
        self._waiting: list[_BegunBoot] = []
        #: Boots that have begun, asked for or not.
        self.begun = 0

    def take(self, ask: BootRequest, ahead: Sequence[BootRequest] = ()) -> Run:
        """The run of a boot that is wanted now. `ahead` are those that will likely be wanted after
        it, in their order. One that is not asked for next after all waits for who does.
        """
        if self._width <= 1:
            self.begun += 1
            return self._prepare(self.begun, ask)()
        boot = self._same_boot(ask, self._waiting) or self._begin(ask)
        self._waiting.remove(boot)
        known, busy = list(self._waiting), 1
        for guess in ahead:
            if busy == self._width:
                break
            if begun := self._same_boot(guess, known):
                known.remove(begun)
            else:
                self._begin(guess)
            busy += 1
        return boot.result()

    @staticmethod
    def _same_boot(ask: BootRequest, among: Sequence[_BegunBoot]) -> _BegunBoot | None:
        return next((boot for boot in among if boot.ask == ask), None)

    def _begin(self, ask: BootRequest) -> _BegunBoot:
        self.begun += 1
        boot = _BegunBoot(ask, self._prepare(self.begun, ask))
        self._waiting.append(boot)
        return boot
