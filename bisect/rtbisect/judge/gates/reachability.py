# SPDX-License-Identifier: GPL-2.0-or-later
"""Does what a commit changes run while the searched figure is measured?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.judge.gates.boot_gates import absent, failed, passed
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Reach
from rtbisect.model.result import GateName

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rtbisect.model.code import Function
    from rtbisect.model.result import Gate


@dataclass(frozen=True, slots=True)
class Changed:
    """What a commit changes in a kernel; None where it is not known."""

    #: Functions whose code differs from its parent's.
    functions: tuple[Function, ...] | None = None
    #: The kernel is built from a file that the commit touches.
    built: bool | None = None


UNKNOWN = Changed()
#: How many of the functions that did not run are named.
_NAMED = 4


def reachable(  # noqa: PLR0911  (a line for each thing that may be known)
    changed: Changed, ran_per_s: Mapping[str, float], refused: Collection[str]
) -> Gate:
    """G11: something that the commit changes runs while the searched figure is measured.
    `ran_per_s` has the functions that were probed, `refused` those that cannot be. Unknown is no
    pass, and what ran at boot is unknown: it may have set what the window then meets.
    """
    name = GateName.REACHABILITY
    if changed.functions is None:
        return absent(name, Finding.of(Reach.BUILDS_SILENT))
    functions = [function.name for function in changed.functions]
    if not functions:
        if changed.built is False:
            return failed(name, Finding.of(Reach.NOT_BUILT))
        return absent(name, Finding.of(Reach.NO_FUNCTION))
    number = len(functions)
    ran = {each: rate for each in functions if (rate := ran_per_s.get(each, 0.0)) > 0}
    if ran:
        most = max(sorted(ran), key=lambda each: ran[each])
        found = Finding.of(
            Reach.RUNS, functions=number, ran=len(ran), function=most, per_s=ran[most]
        )
        return passed(name, found)
    unknown = [each for each in functions if each not in ran_per_s]
    if not unknown:
        at_boot = [function.name for function in changed.functions if function.at_boot]
        if at_boot:
            found = Finding.of(Reach.AT_BOOT, functions=number, function=at_boot[0])
            return absent(name, found)
        names = tuple(functions[:_NAMED])
        return failed(name, Finding.of(Reach.NEVER, functions=number, names=names))
    if not ran_per_s and not refused:
        return absent(name, Finding.of(Reach.NOT_COUNTED))
    found = Finding.of(
        Reach.UNCOUNTED, functions=number, function=unknown[0], uncounted=len(unknown)
    )
    return absent(name, found)
