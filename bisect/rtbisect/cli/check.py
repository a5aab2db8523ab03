# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect check` and `rtbisect try`: does a tree's tip behave like its base, and one revision as
a limit says? Nothing is searched.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import click

from rtbisect.campaign import resolve, session
from rtbisect.cli import live
from rtbisect.cli.options import (
    WholeNumber,
    answers,
    metric_option,
    seed_option,
    site_option,
    suite_option,
)
from rtbisect.cli.output import fitted
from rtbisect.cli.result import answer_of, exit_of, headline, listed
from rtbisect.errors import ConfigError, Exit
from rtbisect.model.campaign import CampaignKind, CampaignRequest, Judgement, Level, Outcome
from rtbisect.model.command import Extra
from rtbisect.model.result import ENDS, KernelRole
from rtbisect.program.output import SKIP
from rtbisect.report.averages import boots_with, centre_of, spread
from rtbisect.report.opening import scaled
from rtbisect.report.text import Column, table
from rtbisect.words.documents import found
from rtbisect.words.metrics import name_of
from rtbisect.words.numbers import readable
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of_request

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.cli.output import Output
    from rtbisect.model.result import Result, TableRow
    from rtbisect.store.campaigns import CampaignRecord

#: Characters of the table of figures.
WIDTH = 110


@click.command(epilog="Example: rtbisect check stable-rt_6.12 --base v6.12.57-rt14 --json")
@click.argument("tree")
@click.option("--base", help="Revision to compare with (default: merge base with `reference`).")
@click.option("--tip", help="Revision to judge (default: head of the configured branch).")
@seed_option
@site_option
@answers
def check(
    output: Output,
    tree: str,
    base: str | None,
    tip: str | None,
    seed: int,
    site: Path | None,
) -> int:
    """Compare TREE's tip with a base on all suites.

    Exit code 0: no regression; 1: regressed; 4: undecided.
    """
    loaded = output.site(site)
    good, bad = resolve.base_and_tip(output.state, loaded, tree, base, tip)
    request = CampaignRequest(
        kind=CampaignKind.CHECK, site=str(loaded.path), tree=tree, older=good, newer=bad, seed=seed
    )
    with live.screen() as screen:
        record = session.start(output.state, request, screen, output.sites)
    return conclude(output, record)


def conclude(output: Output, record: CampaignRecord) -> int:
    """Print the answer with its judgements; gives the exit code."""
    result = record.result
    pairs = _pairs(result)
    data = answer_of(output.store, record) | {
        "level": session.level_of(result) if result else None,
        "judgements": [_judgement(each) for each in result.judgements] if result else [],
        "figures": [_figure(pair) for pair in pairs],
    }
    output.answer(data, text_of_check(output, record))
    return exit_of_check(result)


def text_of_check(output: Output, record: CampaignRecord) -> str:
    """The answer of a comparison for a person."""
    result = record.result
    if result is None:
        return listed(record, output.store.summary(record))
    voice = voice_of_request(record.request)
    lines = [fitted(headline(record, result), first="")]
    lines += (fitted(str(speak(reason, voice))) for reason in result.reasons)
    return "\n".join([*lines, *_table(_pairs(result))])


def exit_of_check(result: Result | None) -> int:
    """0 no regression, 1 regressed, 4 undecided."""
    if result and result.outcome is Outcome.CULPRIT_SET:
        return Exit.REGRESSED
    return exit_of(result)


def _judgement(judgement: Judgement) -> dict[str, object]:
    return {
        "metric": str(judgement.key),
        "level": judgement.level,
        "effect": judgement.effect,
        "interval": list(judgement.interval),
        "p": judgement.p,
        "n": [judgement.base.n, judgement.new.n],
        "reason": str(speak(judgement.reason)),
        "reason_found": found(judgement.reason),
    }


_Pair: TypeAlias = "tuple[TableRow, TableRow]"


def _pairs(result: Result | None) -> list[_Pair]:
    """Rows of the base and of the tip, by their figure."""
    rows = result.table if result else ()
    tips = {row.metric: row for row in rows if row.kernel is KernelRole.TIP}
    return [
        (row, tips[row.metric])
        for row in rows
        if row.kernel is KernelRole.BASE and row.metric in tips
    ]


def _middle(row: TableRow) -> float:
    return centre_of(row.sample, mean=row.mean)


def _diff(before: float, after: float) -> str:
    """The change in percent; `-` from nothing."""
    return f"{100 * (after - before) / before:+.0f}%" if before > 0 else "-"


def _table(pairs: list[_Pair]) -> tuple[str, ...]:
    """Before, after and difference of every figure, judged or not; medians (means of shares and
    counts) with the range, and how many boots have what a boot has or has not.
    """
    if not pairs:
        return ()
    columns = [Column("figure"), Column("window")]
    columns += [Column(title, right=True) for title in (*ENDS, "diff")]
    rows = []
    for pair in pairs:
        base, tip = pair
        before, after = _middle(base), _middle(tip)
        unit, factor = readable(base.unit, before, after)
        sides = (
            boots_with(row.metric, row.sample)
            or spread(scaled(row.sample, factor), unit, mean=row.mean)
            for row in pair
        )
        name = name_of(str(base.metric))
        rows.append([name, base.metric.window, *sides, _diff(before, after)])
    return table(columns, rows, WIDTH)


def _figure(pair: _Pair) -> dict[str, object]:
    base, tip = pair
    figure: dict[str, object] = {"metric": str(base.metric), "unit": base.unit}
    for name, row in zip(ENDS, (base, tip), strict=True):
        values = row.sample.values
        figure[name] = [_middle(row), min(values), max(values)]
    return figure | {"n": [base.sample.n, tip.sample.n]}


@click.command(
    "try",
    epilog="Example: git bisect run rtbisect try HEAD --tree rt_6.12 --suite rcu --limit 900",
)
@click.argument("revision")
@click.option("--tree", required=True, help="build_config of the site file.")
@suite_option
@metric_option
@click.option(
    "--limit", type=float, help="Values beyond this are bad; required if thresholds/ has no limit."
)
@click.option(
    "--boots",
    type=WholeNumber(1, 99),
    default=3,
    show_default=True,
    help="Number of boots. Their median decides; for shares and counts, their mean.",
)
@seed_option
@site_option
@answers
def try_revision(
    output: Output,
    revision: str,
    tree: str,
    suite: str | None,
    metric: str | None,
    limit: float | None,
    boots: int,
    seed: int,
    site: Path | None,
) -> int:
    """Build and boot REVISION and judge it against a limit.

    HEAD means the HEAD of the current directory, so that `git bisect run` can call it.

    Exit code 0: good; 1: bad; 125: cannot be tested; 128 and more: an error.
    """
    if limit is not None and not math.isfinite(limit):
        raise ConfigError(f"--limit {limit} is not a number", "give a number in the metric's unit")
    loaded = output.site(site)
    sha = resolve.one_revision(output.state, loaded, tree, revision, suite, metric)
    suite = suite or resolve.DEFAULT_SUITE
    if limit is None:
        resolve.check_limit(loaded, tree, suite, metric)
    request = CampaignRequest(
        kind=CampaignKind.TRY,
        site=str(loaded.path),
        tree=tree,
        older=sha,
        newer=sha,
        suite=suite,
        metric=metric,
        seed=seed,
        extra=Extra(boots=boots, limit=limit).pairs,
    )
    with live.screen() as screen:
        record = session.start(output.state, request, screen, output.sites)
    return conclude_try(output, record)


def conclude_try(output: Output, record: CampaignRecord) -> int:
    """Print the verdict; gives the exit code for `git bisect run`."""
    result = record.result
    level = result.judgements[0].level if result and result.judgements else Level.UNDECIDED
    verdict, code = {Level.PASS: ("good", 0), Level.REGRESSED: ("bad", 1)}.get(
        level, ("skip", SKIP)
    )
    reason = str(speak(result.reasons[0])) if result and result.reasons else ""
    data = answer_of(output.store, record) | {"verdict": verdict, "reason": reason}
    output.answer(data, f"{record.request.newer[:12]}: {verdict}: {reason}")
    return code
