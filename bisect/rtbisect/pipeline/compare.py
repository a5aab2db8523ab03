# SPDX-License-Identifier: GPL-2.0-or-later
"""Two revisions compared on all suites: interleaved boots, fixed looks, one error rate."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rtbisect.errors import ConfigError
from rtbisect.judge import blocks, stats
from rtbisect.judge.boots import Boots
from rtbisect.judge.scale import separation
from rtbisect.judge.verdict import foreseen, judge_all
from rtbisect.model.campaign import Judgement, Level, Role, Sought, Threshold
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Ends, Work
from rtbisect.model.result import ENDS
from rtbisect.pipeline import asked, factor_table
from rtbisect.pipeline.boot_queue import BootRequest, in_turn
from rtbisect.search.calibrate import looks as search_looks
from rtbisect.search.spec import BootPurpose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rtbisect.model.lab import Run
    from rtbisect.model.result import TableRow
    from rtbisect.model.setup import Setup
    from rtbisect.model.subject import Traits
    from rtbisect.pipeline.steps import Steps

#: False-positive rate of the whole comparison; shared by its looks.
ALPHA = 0.01
#: Looks at the pair, as in the calibration of the search: each has an equal share of ALPHA.
LOOKS = 2
#: The share of ALPHA that looks beyond `calibrate_max` have together, where the ends of a search
#: are booted on; each of them has so many times the boots of the one before.
BEYOND, GROWTH = 0.2, 2.0
#: How sure a pass is. Whoever passes a kernel that is worse by the smallest effect that
#: counts is fooled by one 95% interval, at one of two looks.
PASS_CONFIDENCE = 0.95
#: Boots in a row that are no evidence before the campaign gives up with a reason.
MAX_BARREN = 4
#: Boots more of the newer end that may hang or die among each `calibrate_max`, as in G9: each end
#: may have a stray one. Before so many boots any makes the comparison look again.
SPARED = 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two revisions on all suites."""

    #: Of every primary metric, and of guards that have figures; none where it did not come so far.
    judgements: tuple[Judgement, ...]
    #: Level of all primary metrics together.
    level: Level
    reason: Finding
    #: Both are the same kernel; then nothing was booted.
    same: bool = False
    #: Every judged figure of both, also those that have no judgement.
    table: tuple[TableRow, ...] = ()


def compare(steps: Steps, base: str, new: str, *, searched: bool = False) -> Comparison:
    """Boot both revisions in ABBA order until every primary metric is decided, or to the end
    of the look schedule; the looks share ALPHA (Bonferroni). Ends that are to be `searched` have
    looks beyond `calibrate_max`, while these will decide if it goes on as so far. Where a report
    asks for its figure, until that is decided, too.
    """
    for sha in (base, new):
        build = steps.build(sha)
        if not build.ok:
            not_built = Finding.of(Ends.NOT_BUILT, revision=sha, error=build.first_error)
            return Comparison((), Level.UNDECIDED, not_built)
    if steps.builds[base].signature == steps.builds[new].signature:
        return Comparison((), Level.PASS, Finding.of(Ends.SAME), same=True)
    boots = {sha: Boots(role=role) for sha, role in zip((base, new), ENDS, strict=True)}
    first, second, usual, beyond = _schedule(steps.setup, searched=searched)
    for look, alpha in (usual | beyond).items():
        barren, reached = _boot_for_look(steps, boots, (base, new), look, searched=searched)
        if barren:
            return Comparison((), Level.UNDECIDED, barren)
        judgements = _judge(steps.setup, boots[base], boots[new], alpha)
        dead = _dies_more(steps.setup, boots, look)
        level = _overall(steps.setup, judgements)
        if dead and level is Level.PASS:
            level = Level.UNDECIDED
        steps.tell(Ends.LOOK, boots=reached, level=level)
        # `second` completes the first look, which could not say "regressed": it is no further
        # chance for a pass.
        passes = level is Level.PASS and (look == first or look > second)
        settled = level is Level.REGRESSED or passes or look >= max(usual)
        if settled and (level is Level.UNDECIDED and not dead and searched):
            settled = not _decides(steps.setup, judgements, look, beyond)
        if settled and asked.decided(steps.setup, *boots.values()):
            break
    wanted = [(t, side) for t in steps.setup.judged for side in boots.values()]
    table = factor_table.rows(steps.traits, wanted)
    compared = Finding.of(Ends.COMPARED, boots=reached)
    return Comparison(judgements, level, dead or compared, table=table)


def _schedule(
    setup: Setup, *, searched: bool
) -> tuple[int, int, dict[int, float], dict[int, float]]:
    """The first two looks (`first_looks`), and by boots a side the alpha of every usual look and of
    those beyond.
    """
    limits, share, further = setup.limits, ALPHA / LOOKS, 0.0
    beyond: tuple[int, ...] = ()
    if searched and limits.looks_beyond and limits.looks_max > limits.calibrate_max:
        beyond = search_looks(limits.calibrate_max, limits.looks_max, growth=GROWTH)[1:]
        share, further = (1 - BEYOND) * ALPHA / LOOKS, BEYOND * ALPHA / len(beyond)
    first, second = first_looks(setup, share)
    usual = sorted({first, second, limits.calibrate_max})
    if not searched:
        beyond, further = asked.later_looks(setup, usual), share
    return first, second, dict.fromkeys(usual, share), dict.fromkeys(beyond, further)


def _decides(
    setup: Setup, judgements: tuple[Judgement, ...], look: int, beyond: Mapping[int, float]
) -> bool:
    """Whether the look behind this one decides, if boots scatter as before: by one metric that is
    worse, or by all that are not.
    """
    boots = next((boots for boots in beyond if boots > look), None)
    if boots is None:
        return False
    thresholds = {t.key: t for t in setup.judged}
    levels = {
        foreseen(thresholds[j.key], j, boots=boots, alpha=beyond[boots])
        for j in _primary(setup, judgements)
    }
    return Level.REGRESSED in levels or levels == {Level.PASS}


def first_looks(setup: Setup, alpha: float = ALPHA / LOOKS) -> tuple[int, int]:
    """Boots a side at the first look, and at that where it can say "regressed" at this alpha, not
    before the first: of many primary metrics Holm asks for a p that so few boots cannot have.
    ConfigError where the last look has fewer.
    """
    metrics = sum(t.role is Role.PRIMARY for t in setup.judged)
    first, last = setup.limits.calibrate_min, setup.limits.calibrate_max
    fewest = next(
        boots for boots in itertools.count(2) if metrics * stats.smallest_p(boots, boots) <= alpha
    )
    if fewest > last:
        raise ConfigError(
            f"{last} boots a side cannot show that one of {metrics} primary metrics is worse",
            f"set calibrate_max to {fewest} at least, or judge fewer metrics",
        )
    return first, max(first, fewest)


def _boot_for_look(
    steps: Steps, boots: dict[str, Boots], pair: tuple[str, str], look: int, *, searched: bool
) -> tuple[Finding | None, int]:
    """Boot both revisions for a look, and say how many valid boots they have then; or a reason why
    one side has not. On several hosts labels are exchanged within each: so many more boots as make
    the look as sharp as on one host. That follows from where boots landed, not from their figures.
    """
    wanted = look
    while True:
        if barren := _boot_both(steps, boots, pair, look, searched=searched):
            return barren, look
        hosts = [[run.device for run in boots[sha].evidence] for sha in pair]
        as_sharp = blocks.smallest_p(*hosts) <= stats.smallest_p(wanted, wanted)
        most = max(wanted, steps.setup.limits.calibrate_max)
        if as_sharp or blocks.one_block(*hosts) or look >= most:
            return None, look
        look += 1


def _boot_both(
    steps: Steps, boots: dict[str, Boots], pair: tuple[str, str], want: int, *, searched: bool
) -> Finding | None:
    """Boot until both sides have `want` valid boots; why one side cannot."""
    barren_in_a_row = dict.fromkeys(boots, 0)
    turn = sum(len(boots[sha].runs) for sha in pair)
    while True:
        missing = {sha: max(0, want - len(boots[sha].evidence)) for sha in pair}
        asks, next_turn = _boots_to_come(missing, pair, turn, searched=searched)
        if not asks:
            return None
        run = steps.boot(asks[0], asks[1:])
        turn, sha = next_turn, run.revision
        _tell_figures(steps, asks[0].purpose, run)
        boots[sha] = boots[sha].with_run(run)
        barren_in_a_row[sha] = 0 if run.complete else barren_in_a_row[sha] + 1
        if barren_in_a_row[sha] >= MAX_BARREN:
            return Finding.of(
                Ends.NO_EVIDENCE, revision=sha, boots=barren_in_a_row[sha], why=run.reason
            )


def _boots_to_come(
    missing: Mapping[str, int], pair: tuple[str, str], turn: int, *, searched: bool
) -> tuple[list[BootRequest], int]:
    """The boots that are wanted when all of them are evidence, and the turn behind the first."""
    left, total, next_turn = dict(missing), sum(missing.values()), 0
    asks: list[BootRequest] = []
    while len(asks) < total:
        sha = in_turn(pair, turn)
        turn += 1
        if left[sha] > 0:
            left[sha] -= 1
            asks.append(
                BootRequest(
                    sha=sha,
                    purpose=BootPurpose.BASE if sha == pair[0] else BootPurpose.TIP,
                    left=total - len(asks) - 1,
                    search_may_follow=searched,
                )
            )
            next_turn = next_turn or turn
    return asks, next_turn


def _tell_figures(steps: Steps, side: str, run: Run) -> None:
    """The primary figures of a boot, for the story."""
    primary = [t for t in steps.setup.judged if t.role is Role.PRIMARY]
    told = [(t, seen.value) for t in primary for seen in Boots((run,)).figure(t.key)]
    if told:
        figures = _told(steps.traits, told)
        steps.tell(Work.FIGURES, side=side, revision=run.revision, figures=figures)


def _told(traits: Traits, values: Sequence[tuple[Threshold, float]]) -> tuple[Finding, ...]:
    """What a boot has of these figures; of those that have one name, in which window."""
    levels = {t.key: traits.level_of(t.key.window) for t, _ in values}
    named = Counter(key.name for key in levels)
    alike = Counter((key.name, level) for key, level in levels.items())
    figures = []
    for t, value in values:
        key, level = t.key, levels[t.key]
        of: dict[str, Any] = {"suite": key.suite, "name": key.name, "value": value, "unit": t.unit}
        if named[key.name] == 1:
            figures.append(Finding.of(Work.FIGURE_OF, **of))
        else:
            beside = level if alike[key.name, level] == 1 else ""
            figures.append(Finding.of(Work.FIGURE_IN, **of, window=key.window, beside=beside))
    return tuple(figures)


def _judge(setup: Setup, base: Boots, new: Boots, alpha: float) -> tuple[Judgement, ...]:
    pairs = [
        (t, base.sample(t.key), new.sample(t.key)) for t in setup.judged if t.role is not Role.SHOWN
    ]
    # A guard may be absent; a primary metric without figures is an open question.
    return judge_all(
        [pair for pair in pairs if pair[0].role is Role.PRIMARY or (pair[1].n and pair[2].n)],
        alpha=alpha,
    )


def _primary(setup: Setup, judgements: tuple[Judgement, ...]) -> list[Judgement]:
    keys = {t.key for t in setup.judged if t.role is Role.PRIMARY}
    return [j for j in judgements if j.key in keys]


def _overall(setup: Setup, judgements: tuple[Judgement, ...]) -> Level:
    levels = {j.level for j in _primary(setup, judgements)}
    if Level.REGRESSED in levels:
        return Level.REGRESSED
    return Level.PASS if levels == {Level.PASS} else Level.UNDECIDED


def _dies_more(setup: Setup, boots: Mapping[str, Boots], look: int) -> Finding | None:
    """That more boots of the newer end hang or die than of the older one, which no figure of the
    others makes up for; None where they do not, where a repair is sought, and in campaigns that
    began before it was asked.
    """
    if not setup.limits.deaths or setup.request.sought is Sought.REPAIR:
        return None
    primary = {t.key for t in setup.judged if t.role is Role.PRIMARY}
    (base, of_base), (new, of_new) = ((sha, side.dead(primary)) for sha, side in boots.items())
    spared = SPARED * (look // setup.limits.calibrate_max)
    if len(of_new) <= len(of_base) + spared:
        return None
    return Finding.of(
        Ends.DIES_MORE,
        revision=new,
        dead=len(of_new),
        boots=len(boots[new].runs),
        base=base,
        base_dead=len(of_base),
        base_boots=len(boots[base].runs),
        how=of_new[0].reason,
    )


def worst(setup: Setup, judgements: tuple[Judgement, ...]) -> Judgement | None:
    """The regressed primary metric with the smallest p; of several the one that a boot tells most
    of: p is the same for all whose ranges do not overlap.
    """
    thresholds = {t.key: t for t in setup.judged}
    regressed = [j for j in _primary(setup, judgements) if j.level is Level.REGRESSED]
    return min(
        regressed,
        key=lambda j: (j.p, -separation(thresholds[j.key], j.base.values, j.new.values)),
        default=None,
    )
