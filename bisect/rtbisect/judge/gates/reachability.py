# SPDX-License-Identifier: GPL-2.0-or-later
"""Does what a commit changes run while the searched figure is measured?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtbisect.judge.gates.boot_gates import absent, failed, passed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rtbisect.model.campaign import Gate
    from rtbisect.model.code import Function


@dataclass(frozen=True, slots=True)
class Changed:
    """What a commit changes in a kernel; None where it is not known."""

    #: Functions whose code differs from its parent's.
    functions: tuple[Function, ...] | None = None
    #: The kernel is built from a file that the commit touches.
    built: bool | None = None


UNKNOWN = Changed()


def reachable(  # noqa: PLR0911  (a line for each thing that may be known)
    changed: Changed, ran_per_s: Mapping[str, float], refused: Collection[str]
) -> Gate:
    """G11: something that the commit changes runs while the searched figure is measured.
    `ran_per_s` has the functions that were probed, `refused` those that cannot be. Unknown is no
    pass, and what ran at boot is unknown: it may have set what the window then meets.
    """
    name = "G11 reachability"
    if changed.functions is None:
        return absent(name, "unknown: the builds do not tell which functions differ")
    functions = [function.name for function in changed.functions]
    if not functions:
        if changed.built is False:
            return failed(
                name, "the kernel is built from none of the files that the commit changes"
            )
        return absent(name, "unknown: no function differs, the commit changes data or headers only")
    ran = {each: rate for each in functions if (rate := ran_per_s.get(each, 0.0)) > 0}
    single = len(functions) == 1
    changed_text = "the function" if single else f"of the {len(functions)} functions"
    changed_text += " that the commit changes"
    if ran:
        most = max(sorted(ran), key=lambda each: ran[each])
        verb = "runs:" if single else f"{len(ran)} ran,"
        return passed(name, f"{changed_text} {verb} {most} {ran[most]:.4g} times a second")
    unknown = [each for each in functions if each not in ran_per_s]
    if not unknown:
        verb = "did not run" if single else "none ran"
        at_boot = [function.name for function in changed.functions if function.at_boot]
        if at_boot:
            caution = (
                f"but the kernel calls {at_boot[0]} while it boots, and what that does may last"
            )
            return absent(name, f"unknown: {changed_text} {verb} in the window, {caution}")
        return failed(name, f"{changed_text} {verb} in the window: {', '.join(functions[:4])}")
    if not ran_per_s and not refused:
        return absent(name, "unknown: no boot counted functions")
    if single:
        return absent(name, f"unknown: {changed_text} was not counted: {unknown[0]}")
    uncounted = (
        f"{unknown[0]} and {len(unknown) - 1} more were" if unknown[1:] else f"{unknown[0]} was"
    )
    return absent(
        name, f"unknown: {changed_text} none was seen to run, but {uncounted} not counted"
    )
