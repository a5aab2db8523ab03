# SPDX-License-Identifier: GPL-2.0-or-later
"""Why a proven culprit is believed: what makes its effect, and what the gates say of its boots."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, NamedTuple

from rtbisect.judge import cause as causes
from rtbisect.judge.gates.boot_gates import against
from rtbisect.judge.gates.campaign_gates import GateInput, examine
from rtbisect.judge.sources import origins
from rtbisect.model.campaign import Cause, MetricKey, Sample, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Attributions, Reasons
from rtbisect.pipeline import factor_table
from rtbisect.search.spec import BootPurpose
from rtbisect.suites.base import counts_functions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbisect.judge.boots import Boots
    from rtbisect.judge.gates.aa import Beside
    from rtbisect.model.result import Gate, Origin, TableRow
    from rtbisect.model.setup import KernelSetup
    from rtbisect.pipeline.steps import Steps

#: Boots a side of a culprit and its parent for the workload factor.
CAUSE_BOOTS = 10
#: Probes in one boot. Of a commit that changes more functions these tell that it is reached, and
#: never that it is not.
MOST_PROBES = 32


class Attribution(NamedTuple):
    """What makes the effect of a proven culprit, and what may be wrong with its boots."""

    cause: Cause = Cause.NONE
    #: All that were asked, also those that pass.
    gates: tuple[Gate, ...] = ()
    #: What the change of the figure is made of, the largest share first.
    origins: tuple[Origin, ...] = ()
    #: Rows of both kernels without PREEMPT_RT; none where that was not asked.
    without_rt: tuple[TableRow, ...] = ()
    #: What there is to say of the cause, of PREEMPT_RT, of gates that speak against it.
    reasons: tuple[Finding, ...] = ()


#: Stands where there is no culprit, or nothing to say of it.
NOT_ATTRIBUTED = Attribution()


def attribute(  # noqa: PLR0913  (what a proof knows of a pair)
    steps: Steps,
    threshold: Threshold,
    pair: tuple[str, str],
    fresh: dict[str, Boots],
    figure: Finding | None = None,
    beside: Beside | None = None,
) -> Attribution:
    """The cause, the gates, the sources and the factor PREEMPT_RT of a `pair`, a parent and its
    culprit; boots that this takes of these kernels are added to `fresh`. All that is about the
    whole figure, also where the culprit was found in a part of it, `figure`. Without a host there
    is no kernel to blame, no workload to tell apart and no instrument. `beside` is of the gate A/A.
    """
    host = steps.traits.host
    if host is None:
        return NOT_ATTRIBUTED
    cause, reason = cause_of(steps, threshold, pair, fresh)
    reason = _of_whole(figure, reason)
    steps.tell(Attributions.CAUSE, cause=cause, why=reason)
    gates = gates_of(steps, host, threshold, pair, fresh, figure, beside)
    made_of = origins_of(steps, threshold.key, pair, fresh)
    rows, concerns = factor_table.without_rt(steps, threshold, pair)
    concerned = (_of_whole(figure, concerns),) if concerns else ()
    return Attribution(cause, gates, made_of, rows, (reason, *concerned, *objections(gates)))


def _of_whole(figure: Finding | None, why: Finding) -> Finding:
    """What is found of the whole figure, where the commit was found in a part of it."""
    return Finding.of(Attributions.OF_WHOLE, figure=figure, why=why) if figure else why


def cause_of(
    steps: Steps,
    threshold: Threshold,
    pair: tuple[str, str],
    fresh: dict[str, Boots],
) -> tuple[Cause, Finding]:
    """The workload factor: the same boots, with the workload and without it. Where they do not
    decide it, both kernels get more boots once; these are added to `fresh`.
    """
    control = factor_table.control_of(steps.setup.judged, threshold)
    windows = {window.name: window for window in steps.traits.windows}
    window = windows.get(threshold.key.window)
    instrument = window.instrument if window else ""
    workload = window.workload if window else "none"

    def judge_cause() -> tuple[Cause, Finding]:
        def both(key: MetricKey) -> tuple[Sample, Sample]:
            return fresh[pair[0]].sample(key), fresh[pair[1]].sample(key)

        with_workload = both(threshold.key)
        if control is None:
            return causes.cause(threshold, *with_workload, None, None, None, workload=workload)
        control_loaded = both(factor_table.control_under_workload(threshold, control))
        return causes.cause(
            threshold,
            *with_workload,
            control,
            *both(control.key),
            control_loaded=control_loaded,
            instrument=instrument,
        )

    first_answer = judge_cause()
    if first_answer[0] is not Cause.NONE or control is None:
        return first_answer
    steps.tell(Attributions.MORE_BOOTS, why=first_answer[1])
    missing = CAUSE_BOOTS - min(len(fresh[sha].evidence) for sha in pair)
    for run in steps.in_turn(
        pair, BootPurpose.CAUSE, min(2 * max(0, missing), steps.budget.boots_left)
    ):
        fresh[run.revision] = fresh[run.revision].with_run(run)
    return judge_cause()


def origins_of(
    steps: Steps,
    key: MetricKey,
    pair: tuple[str, str],
    fresh: Mapping[str, Boots],
) -> tuple[Origin, ...]:
    """What the change of the figure is made of, by the fresh boots of a culprit and its parent."""
    windows = {key.window, *(w.name for w in steps.traits.explaining_of(key.window))}
    sides = [fresh[sha] for sha in pair]
    values_by_side = [side.sample(key).values for side in sides]
    base, new = (statistics.median(values) if values else 0.0 for values in values_by_side)
    if base == new:  # a part of the figure was judged, and the whole stands still
        return ()
    sources = origins(key, windows, *(side.runs for side in sides), rises=new > base)
    for origin in sources:
        share, kind, name = origin.share, origin.kind, origin.name
        steps.tell(Attributions.SOURCE, share=share, kind=kind, name=name)
    return sources


def probes_of(steps: Steps, pair: tuple[str, str]) -> tuple[str, ...]:
    """Functions that the culprit changes, as many as one boot counts; none where no window does."""
    if not any(map(counts_functions, steps.traits.explaining)):
        return ()
    functions = steps.changed(pair).functions or ()
    names = tuple(function.name for function in functions)
    steps.tell(Attributions.FUNCTIONS, revision=pair[1], functions=names)
    return names[:MOST_PROBES]


def gates_of(  # noqa: PLR0913  (as above)
    steps: Steps,
    host: KernelSetup,
    threshold: Threshold,
    pair: tuple[str, str],
    fresh: Mapping[str, Boots],
    figure: Finding | None,
    beside: Beside | None = None,
) -> tuple[Gate, ...]:
    """What the trust gates say of the fresh boots of a culprit and its parent."""
    parent, culprit = (fresh[sha] for sha in pair)
    gates = examine(
        GateInput(
            threshold=threshold,
            windows=host.windows,
            emulated=host.device.emulated,
            parent=parent,
            culprit=culprit,
            files=steps.ports.tree.describe(pair[1]).files,
            changed=steps.changed(pair),
            explaining=steps.traits.explaining_of(threshold.key.window),
            isolates=host.profile.isolates,
            part=figure,
            beside=beside,
        )
    )
    for gate in gates:
        steps.tell(Attributions.GATE, gate=gate.name, status=gate.status, why=gate.reason)
    return gates


def objections(gates: Sequence[Gate]) -> list[Finding]:
    """Reasons for all gates that speak against a report."""
    return [Finding.of(Reasons.OBJECTION, gate=g.name, why=g.reason) for g in against(gates)]
