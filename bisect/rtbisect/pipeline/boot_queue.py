# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of a campaign on as many devices as its lab has.

The pipeline asks for one boot after the other. Who asks may say which boots will likely be wanted
after this one; those are begun early, as long as a device is free, and are there when they are
asked for. Boots are numbered in the order in which they begin. That order depends on recorded
values alone and on no clock, so a resumed campaign begins the same ones under the same numbers.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtbisect.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rtbisect.model.lab import Run
    from rtbisect.model.ports import Left
    from rtbisect.search.spec import BootPurpose


@dataclass(frozen=True, slots=True, kw_only=True)
class BootRequest:
    """A boot that is wanted, of a built revision. Boots that differ only in what is for the story
    are the same.
    """

    sha: str
    #: For the story: verify, search, base, ...
    purpose: BootPurpose = field(compare=False)
    #: For the story: the expected number of boots after this one.
    left: int = field(default=0, compare=False)
    #: For the story: at most so many, where there may be more.
    most: int = field(default=0, compare=False)
    #: For the story: of a comparison of ends that are searched if they differ.
    search_may_follow: bool = field(default=False, compare=False)
    #: For the story: time of this boot, those after it and their builds; None: as of that many.
    left_s: Left | None = field(default=None, compare=False)
    #: 0 for the kernel as configured, else another layout or variant: see `Steps.build`.
    layout: int = 0
    #: The window for which windows that explain it are run, too; "": none.
    explain: str = ""
    #: Functions that these windows probe.
    probes: tuple[str, ...] = ()
    #: The only windows that measure, by name; (): all do.
    windows: tuple[str, ...] = ()


def in_turn(pair: tuple[str, str], turn: int) -> str:
    """Which of two kernels is booted in this turn: A B B A, so that drift counts for neither."""
    return pair[(turn + turn // 2) % 2]


class BootQueue:
    """At most `width` boots at a time. `prepare(number, ask)` gives what carries a boot out; that
    may run in another thread.
    """

    def __init__(
        self, width: int, prepare: Callable[[int, BootRequest], Callable[[], Run]]
    ) -> None:
        self._width = width
        self._prepare = prepare
        #: Begun and not yet asked for, the oldest first.
        self._waiting: dict[BootRequest, list[Future[Run]]] = defaultdict(list)
        self._under_way: list[Future[Run]] = []
        #: Boots that have begun, asked for or not.
        self.begun = 0

    def take(self, ask: BootRequest, ahead: Sequence[BootRequest] = ()) -> Run:
        """The run of a boot that is wanted now. `ahead` are those that will likely be wanted after
        it, in their order. One that is not asked for next after all waits for who does.
        """
        if self._width <= 1:
            self.begun += 1
            return self._prepare(self.begun, ask)()
        try:
            run = self._begin_all(ask, ahead)
        except Interrupted:
            # A stop that was asked for: what has begun is measured, and recorded.
            for under_way in self._under_way:
                under_way.exception()
            raise
        return run.result()

    def _begin_all(self, ask: BootRequest, ahead: Sequence[BootRequest]) -> Future[Run]:
        """Like `take`, but does not wait for the run."""
        same = self._waiting[ask]
        run = same.pop(0) if same else self._begin(ask)
        wanted: Counter[BootRequest] = Counter()
        for guess in ahead[: self._width - 1]:
            wanted[guess] += 1
            if wanted[guess] > len(self._waiting[guess]):
                self._waiting[guess].append(self._begin(guess))
        return run

    def _begin(self, ask: BootRequest) -> Future[Run]:
        """A boot in a thread that ends with the program: those of an executor are joined at its
        end, so Ctrl-C would wait for every boot under way.
        """
        self.begun += 1
        work = self._prepare(self.begun, ask)
        run: Future[Run] = Future()
        self._under_way = [each for each in self._under_way if not each.done()] + [run]

        def carry_out() -> None:
            try:
                run.set_result(work())
            except BaseException as error:  # noqa: BLE001  (raised where the boot is asked for)
                run.set_exception(error)

        threading.Thread(target=carry_out, daemon=True).start()
        return run
