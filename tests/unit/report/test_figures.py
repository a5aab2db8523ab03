# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures in a mail: units, intervals, ratios, means, and how they are called."""

from dataclasses import replace

import pytest

from helpers.findings import Like, first, said
from helpers.report_cases import hang, irq_noise, rcu
from helpers.report_epoll import EPOLL, epoll
from helpers.report_parts import LONG, RCU, RCU_LIMIT, RES_LIMIT, SHORT, judged, settings
from rtbisect.errors import ConfigError
from rtbisect.judge.scale import badness
from rtbisect.model.campaign import Better, Judgement, Level, Sample, Scale, Statistic
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Figures, Told
from rtbisect.model.kinds.report import Changes, Shows
from rtbisect.report.averages import spread
from rtbisect.report.draft import DraftMailer
from rtbisect.report.headline_figure import medians
from rtbisect.report.headline_figure import test_name as name_of_test
from rtbisect.report.opening import opening
from rtbisect.report.own import check_mailable, mailable
from rtbisect.report.sections import proof
from rtbisect.report.text import PROSE
from rtbisect.search.likelihood.features import Aspect


def test_what_is_better_higher_and_the_spread_are_turned_back():
    threshold = next(each for each in epoll().thresholds if each.key == EPOLL.metric)
    judged = Judgement(
        key=EPOLL.metric,
        level=Level.REGRESSED,
        base=Sample((-2.0,)),
        new=Sample((-1.0,)),
        effect=1.0,
        interval=(0.5, 1.5),
        p=0.1,
        reason=said("so"),
    )
    higher = replace(threshold, better=Better.HIGHER, scale=Scale.LINEAR)
    told = Aspect(mean=True).for_reader(higher, judged)
    assert (told.base.values, told.effect, told.interval) == ((2.0,), -1.0, (-1.5, -0.5))
    assert (told.mean, told.unit) == (True, threshold.unit)
    told = Aspect(around=3.0).for_reader(higher, judged)
    assert (told.effect, told.figure) == (1.0, Finding.of(Figures.SPREAD))
    assert Aspect().for_reader(threshold, judged) is judged


@pytest.mark.words
@pytest.mark.parametrize("sides", [("base",), ("new",), ("base", "new")])
def test_a_report_without_its_figure_is_for_nobody(tmp_path, sides):
    report = rcu()
    nothing_there = dict.fromkeys(sides, Sample(()))
    found = replace(report.result.verifications[0].judgement, **nothing_there)
    checks = (replace(report.result.verifications[0], judgement=found),)
    crippled = replace(report, result=replace(report.result, verifications=checks))
    assert mailable(report)
    assert not mailable(crippled)
    with pytest.raises(ConfigError, match="not measured on both sides"):
        check_mailable(crippled)
    first = DraftMailer(settings(tmp_path)).draft(crippled, "").eml.partition("\n\n")[2]
    assert first.startswith("It was not measured on both sides: for the operator, not for a list.")
    assert len(first.partition("\n")[0]) <= PROSE


def test_times_of_the_two_ends_are_told_in_the_unit_of_the_sentences():
    limit = replace(RCU_LIMIT, key=replace(RCU, name="p50_us"), unit="us")
    report = replace(rcu(), thresholds=(limit,))
    assert medians(report, judged(limit, SHORT, LONG)) == "6.03 -> 9.01 ms"
    # A figure that is told as it is stays as it is.
    whole = judged(RES_LIMIT, Sample((1.0, 2.0, 3.0)), Sample((50.0, 51.0, 52.0)))
    assert medians(epoll(), whole) == "2 -> 51/s"


def test_infinities_of_both_signs_have_no_mean(tmp_path):
    report = hang()
    wide = Sample((float("inf"), float("-inf")))
    table = tuple(replace(row, sample=wide) for row in report.result.table)
    found = replace(report, result=replace(report.result, table=table))
    assert "nan [-inf..inf]" in DraftMailer(settings(tmp_path)).draft(found, "").eml


def test_a_mean_of_what_a_number_just_holds_is_no_error():
    largest = Sample((1.7e308, 1.7e308))
    assert spread(largest, mean=True) == "nan [1.7e+308..1.7e+308]"


def test_the_test_is_called_what_it_is():
    report = rcu()
    found = report.result.verifications[0].judgement
    limit = report.thresholds[0]
    assert name_of_test(limit, found) == "one-sided rank test"
    hosts = tuple(f"h{n % 2}" for n in range(found.base.n))
    two = replace(found, base=replace(found.base, hosts=hosts))
    assert name_of_test(limit, two) == "one-sided rank test within hosts"
    share = replace(limit, statistic=Statistic.FRACTION)
    assert name_of_test(share, found) == "one-sided permutation test of means"


def with_checks(report, *judgements, **other):
    """The report with these judgements of its first check."""
    first = report.result.verifications[0]
    checks = tuple(replace(first, judgement=each) for each in judgements)
    return replace(report, result=replace(report.result, verifications=checks), **other)


@pytest.mark.parametrize(
    ("floor", "base", "new", "ratio", "shown"),
    [
        (1.0, 0.0, 39.7, 40.7, 1.0),
        (0.5, 8.0, 80.0, 9.47, 0.5),
        (0.1, 8.0, 80.0, 9.89, 0.0),
        (0.0, 8.0, 80.0, 10.0, 0.0),
    ],
)
def test_a_ratio_is_that_of_the_medians_or_says_what_was_added(floor, base, new, ratio, shown):
    judgement = replace(
        EPOLL.verifications[0].judgement,
        base=Sample((base,) * 8),
        new=Sample((new,) * 8),
        effect=(new + floor) / (base + floor),
    )
    report = with_checks(epoll(), judgement, thresholds=(replace(RES_LIMIT, floor=floor),))
    told = first(proof(report), Shows.RATIO)
    assert told["ratio"] == pytest.approx(ratio, rel=0.001)
    assert told["floor"] == shown


def test_without_a_threshold_no_ratio_is_named():
    kinds = {each.kind for each in proof(replace(epoll(), thresholds=()))}
    assert Shows.RATIO not in kinds


def test_without_a_parent_check_the_sides_are_the_ends():
    report = replace(epoll(), result=replace(EPOLL, verifications=EPOLL.verifications[1:]))
    assert first(proof(report), Shows.RATIO)["ratio"] == EPOLL.judgement.effect


def test_a_part_of_a_figure_is_told_in_its_own_numbers():
    """A CPU beside the others is no rate: the numbers are how many times it has."""
    threshold = next(each for each in epoll().thresholds if each.key == EPOLL.metric)
    figure = Aspect(view=2)
    judged = replace(
        EPOLL.verifications[0].judgement,
        base=Sample((0.05, 0.06, 0.07)),
        new=Sample((2.1, 2.2, 2.3)),
        effect=2.14,
        interval=(2.0, 2.2),
        reason=figure.effect_for_reader(threshold, 2.14),
    )
    told = figure.for_reader(threshold, judged)
    assert told.reason == Like(Told.RATIO)
    assert told.reason.data["ratio"] == pytest.approx(8.5, rel=0.01)
    report = with_checks(epoll(), told)
    change = first([opening(report)], Changes.PART)
    assert change["part"] == Finding.of(Figures.ONE_CPU, number=2)
    assert (change["base"], change["new"]) == pytest.approx((1.06, 9.03), rel=0.01)
    effect = first(proof(report), Shows.RATIO)
    assert (effect["low"], effect["high"]) == pytest.approx((7.39, 9.03), rel=0.01)


def test_a_mean_of_logarithms_is_told_as_one():
    """One boot of 400 among zeros has the larger sum, and is not what was judged."""
    few, many = Sample((0.0,) * 25 + (400.0,)), Sample((0.0,) * 14 + (9.0,) * 12)
    threshold = next(each for each in epoll().thresholds if each.key == EPOLL.metric)
    logs = [Sample(tuple(badness(threshold, v) for v in side.values)) for side in (few, many)]
    judged = replace(EPOLL.verifications[0].judgement, base=logs[0], new=logs[1], effect=0.8)
    report = with_checks(epoll(), Aspect(mean=True).for_reader(threshold, judged))
    found = opening(report)
    assert found.data["middle"] == "geometric mean"
    assert found.data["change"].data["new"] > found.data["change"].data["base"]


def test_shares_are_told_as_means():
    """Nine of 26 boots against none: the median of both is 0."""
    share = replace(RES_LIMIT, statistic=Statistic.FRACTION, scale=Scale.LINEAR, unit="1")
    judged = replace(
        EPOLL.verifications[0].judgement,
        base=Sample((0.0,) * 26),
        new=Sample((1.0,) * 9 + (0.0,) * 17),
        effect=9 / 26,
    )
    found = opening(with_checks(epoll(), judged, thresholds=(share,)))
    assert found.data["middle"] == "mean"
    assert found.data["change"].data["new"] == pytest.approx(0.346, abs=0.001)


def test_a_count_that_is_one_in_each_boot_is_no_share_of_boots():
    report = irq_noise()
    never, always = Sample((0.0,) * 8), Sample((1.0,) * 8)
    judged = replace(report.result.judgement, base=never, new=always)
    assert first([opening(with_checks(report, judged))], Changes.BOOTS) is None
