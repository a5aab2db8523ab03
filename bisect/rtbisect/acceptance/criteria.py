# SPDX-License-Identifier: GPL-2.0-or-later
"""The first day of a host: is it the machine that its device type says, is it quiet, and is it the
same from boot to boot? Told claim by claim from boots of one kernel.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from rtbisect.judge import stats
from rtbisect.judge.boots import Boots
from rtbisect.judge.gates import aa
from rtbisect.judge.scale import all_badness, by_mean, effect_floor, unit_behind
from rtbisect.lab.lava.claims import LabClaim
from rtbisect.model.campaign import Role, Scale, Threshold
from rtbisect.model.facts import Facts
from rtbisect.model.lab import DeviceType, Run, RunStatus
from rtbisect.words.speak import speak

#: A boot that takes so many times the median one has met something.
_SLOW = 1.5

#: What tells one machine, firmware or set-up from another (lava-jobs/suites/health.sh).
_SAME = (
    "cpu_model", "microcode", "dmi_vendor", "dmi_product", "bios_version", "governor", "no_turbo",
    "boost", "cpuidle_driver", "max_cstate", "hypervisor",
)  # fmt: skip


def claims(
    runs: Sequence[Run], kind: DeviceType, thresholds: Sequence[Threshold]
) -> Iterator[LabClaim]:
    """All claims in their order, from boots of one kernel on one host in their order in time."""
    good = [run for run in runs if run.complete]
    yield _boots(runs)
    if not good:
        return
    facts = [Facts.of(run) for run in good]
    yield _boot_time(good)
    yield _equal_everywhere("SMT", facts, "smt_active", "1" if kind.threads > 1 else "0")
    yield _equal_everywhere("clock source", facts, "clocksource", "tsc")
    yield _isolation(facts)
    yield _governor(facts)
    yield _idle(facts)
    yield _never_counts("throttling", facts, "throttled")
    yield _never_counts("machine checks", facts, "machine_checks")
    yield _never_counts("SMI", facts, "smi")
    yield _one_machine(facts)
    for threshold in thresholds:
        yield _spread(threshold, good)


def _boots(runs: Sequence[Run]) -> LabClaim:
    bad = [run for run in runs if not run.complete]
    text = f"{len(runs) - len(bad)} of {len(runs)} boots measured"
    if bad:
        why = speak(bad[0].reason) if bad[0].reason else ""
        text += f"; {bad[0].status.value}: {why}"
    ill = any(run.status is not RunStatus.SKIPPED for run in bad)
    return LabClaim("boots", holds=bool(runs) and not ill, said=text)


def _boot_time(good: Sequence[Run]) -> LabClaim:
    job_s = [run.seconds for run in good]
    middle, most = statistics.median(job_s), max(job_s)
    text = f"a job takes {middle:.0f} s, the slowest took {most:.0f} s"
    return LabClaim("boot time", holds=most <= _SLOW * middle, said=text)


def _equal_everywhere(name: str, facts: Sequence[Facts], key: str, wanted: str) -> LabClaim:
    values = _values(facts, key)
    holds = None if values == [""] else values == [wanted]
    return LabClaim(name, holds=holds, said=f"{key} is {_worded(values)}, wanted {wanted}")


def _isolation(facts: Sequence[Facts]) -> LabClaim:
    wanted = _values(facts, "isolated_asked")
    values = _values(facts, "isolated", "nohz_full")
    text = f"isolated and nohz_full are {_worded(values)}, asked was {_worded(wanted)}"
    return LabClaim("isolation", holds=values == wanted, said=text)


def _governor(facts: Sequence[Facts]) -> LabClaim:
    governors = _values(facts, "governor")
    holds = None if governors == [""] else governors == ["performance"]
    return LabClaim(
        "frequency", holds=holds, said=f"governor {_worded(governors)}, wanted performance"
    )


def _idle(facts: Sequence[Facts]) -> LabClaim:
    """Deep idle states wake late. Which ones are right is the site's choice, so they are told."""
    words = [f"{key} {_worded(_values(facts, key))}"
             for key in ("cpuidle_driver", "max_cstate")]  # fmt: skip
    return LabClaim("idle states", holds=None, said=", ".join(words))


def _never_counts(name: str, facts: Sequence[Facts], key: str) -> LabClaim:
    """A counter that must not move while a boot measures."""
    steps = []
    for of_boot in facts:
        if (counts := of_boot.counts(key)) is None:
            return LabClaim(name, holds=None, said="this machine does not tell")
        steps.append(counts[1] - counts[0])
    text = f"{sum(steps)} in {len(steps)} boots"
    return LabClaim(name, holds=not any(steps), said=text)


def _one_machine(facts: Sequence[Facts]) -> LabClaim:
    values = {key: _values(facts, key) for key in _SAME}
    differences = [f"{key} is {_worded(told)}" for key, told in values.items() if len(told) > 1]
    model = f"{facts[0].text('cpu_model')}, microcode {facts[0].text('microcode')}"
    return LabClaim("one machine", holds=not differences, said="; ".join(differences) or model)


def _spread(threshold: Threshold, good: Sequence[Run]) -> LabClaim:
    """Two series of boots of one kernel differ by less than what counts as a regression. Of a
    figure that is only shown, and decides nothing, the spread is told.
    """
    name = f"spread of {threshold.key}"
    decides = threshold.role is not Role.SHOWN
    boots = Boots(tuple(good)).sample(threshold.key)
    values = boots.values
    if len(values) < aa.FEWEST:
        text = f"{len(values)} boots have it, at least {aa.FEWEST} are needed"
        return LabClaim(name, holds=None, said=text)
    if drift := aa.drift(threshold, boots):
        return LabClaim(name, holds=False if decides else None, said=str(speak(drift)))
    bad = all_badness(threshold, values)
    _, luck = stats.bootstrap_shift(bad, bad, level=aa.WITHIN, mean=by_mean(threshold))
    shift = speak(aa.shift_found(threshold, luck))
    text = f"two series of {len(values)} boots differ by less than {shift}"
    text += f" in {100 * aa.WITHIN:.0f} of 100 draws; a regression is one by"
    effect = f"{threshold.min_effect:g}"
    ratio = threshold.scale is Scale.LOG
    text += f" a ratio of {effect}" if ratio else f" {effect}{unit_behind(threshold)}"
    return LabClaim(name, holds=luck < effect_floor(threshold) if decides else None, said=text)


def _values(facts: Sequence[Facts], *keys: str) -> list[str]:
    """What boots tell under these keys; "" where one of them tells nothing."""
    return sorted({each.text(key) for each in facts for key in keys})


def _worded(values: Sequence[str]) -> str:
    return " and ".join(each or "unknown" for each in values)
