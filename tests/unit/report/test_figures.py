# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures in a mail: units, intervals, ratios, means, and how they are called."""

from dataclasses import replace

import pytest

from helpers.drafts import body, parsed, shown_in
from helpers.findings import said, words
from helpers.report_cases import STORY, hang, irq_noise, rcu, two_modes
from helpers.report_epoll import EPOLL, epoll
from helpers.report_parts import RES_LIMIT, settings, vs_parent
from rtbisect.errors import ConfigError
from rtbisect.judge.scale import badness
from rtbisect.model.campaign import Better, Judgement, Level, Sample, Scale, Statistic
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Figures, Told
from rtbisect.report.averages import spread
from rtbisect.report.draft import DraftMailer
from rtbisect.report.headline_figure import test_name as name_of_test
from rtbisect.report.own import check_mailable, mailable
from rtbisect.report.text import PROSE
from rtbisect.search.likelihood.features import Aspect


def test_claim_has_medians_unit_interval_boots_and_p(mailer):
    first = " ".join(body(mailer, epoll()).split("\n\n")[1].split())
    for part in ("8.55/s (parent)", "59.8/s (commit)", "a ratio of 6.66"):
        assert part in first
    assert "95% interval 5.03 to 9.12" in first
    assert "8 + 8 boots, one-sided rank test p = 7.8e-05" in first
    linear = " ".join(body(mailer, rcu()).split("\n\n")[0].split())
    assert "a difference of +3.00 ms (95% interval +3.00 to +3.00 ms)" in linear


@pytest.mark.parametrize(
    ("floor", "base", "new", "said"),
    [
        (1.0, 0.0, 39.7, "a ratio of 40.7 with 1/s added to both (95%"),
        (0.5, 8.0, 80.0, "a ratio of 9.47 with 0.5/s added to both (95%"),
        (0.1, 8.0, 80.0, "a ratio of 9.89 (95%"),
        (0.0, 8.0, 80.0, "a ratio of 10.0 (95%"),
    ],
)
def test_a_ratio_is_that_of_the_medians_or_says_what_was_added(mailer, floor, base, new, said):
    judgement = replace(
        EPOLL.verifications[0].judgement,
        base=Sample((base,) * 8),
        new=Sample((new,) * 8),
        effect=(new + floor) / (base + floor),
    )
    checks = (replace(EPOLL.verifications[0], judgement=judgement),)
    asked = replace(
        epoll(),
        result=replace(EPOLL, verifications=checks),
        thresholds=(replace(RES_LIMIT, floor=floor),),
    )
    assert said in " ".join(body(mailer, asked).split())


def test_without_a_threshold_no_ratio_is_named(mailer):
    text = body(mailer, replace(epoll(), thresholds=()))
    assert "a ratio of 6" not in text
    assert "59.8/s (commit)" in " ".join(text.split())


def test_without_a_parent_check_the_sides_are_the_ends(mailer):
    result = replace(EPOLL, verifications=EPOLL.verifications[1:])
    text = " ".join(body(mailer, replace(epoll(), result=result)).split())
    assert "(good end)" in text
    assert "a ratio of 6.76" in text


def test_a_part_of_a_figure_is_told_in_its_own_words(mailer):
    """A CPU beside the others is no rate: the numbers are how many times it has."""
    key = EPOLL.metric
    threshold = next(each for each in epoll().thresholds if each.key == key)
    figure = Aspect(view=2)
    quiet, loud = Sample((0.05, 0.06, 0.07)), Sample((2.1, 2.2, 2.3))
    reason = figure.effect_for_reader(threshold, 2.14)
    judged = Judgement(
        key=key,
        level=Level.REGRESSED,
        base=quiet,
        new=loud,
        effect=2.14,
        interval=(2.0, 2.2),
        p=0.001,
        reason=reason,
    )
    told = figure.for_reader(threshold, judged)
    assert told.reason.kind == Told.RATIO
    assert told.reason.data["ratio"] == pytest.approx(8.5, rel=0.01)
    assert told.effect == pytest.approx(8.5, rel=0.01)
    assert told.interval == pytest.approx((7.39, 9.03), rel=0.01)
    check = vs_parent("d435a6cd", "pass", told)
    found = replace(epoll(), result=replace(EPOLL, verifications=(check,)))
    text = shown_in(mailer, found)
    subject = parsed(mailer.draft(found, STORY).eml)["Subject"]
    which = words(Finding.of(Figures.ONE_CPU, number=2))
    assert f"{which} 1.06 -> 9.03" in subject
    named = f"{key.suite}.{key.name} {which}"
    assert f"{named} rises from a median of 1.06 (parent) to 9.03 (commit)" in text
    assert "a ratio of 8.50 (95% interval 7.39 to 9.03)" in text
    assert "1.06 -> 9.03 8.50 [7.39..9.03]" in text


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


def test_a_mean_of_logarithms_is_told_as_one(mailer):
    """One boot of 400 among zeros has the larger sum, and is not what was judged."""
    key = EPOLL.metric
    few, many = Sample((0.0,) * 25 + (400.0,)), Sample((0.0,) * 14 + (9.0,) * 12)
    threshold = next(each for each in epoll().thresholds if each.key == key)
    logs = [Sample(tuple(badness(threshold, v) for v in side.values)) for side in (few, many)]
    judged = Judgement(
        key=key,
        level=Level.REGRESSED,
        base=logs[0],
        new=logs[1],
        effect=0.8,
        interval=(0.4, 1.2),
        p=0.004,
        reason=said("so"),
    )
    check = vs_parent("d435a6cd", "pass", Aspect(mean=True).for_reader(threshold, judged))
    text = shown_in(mailer, replace(epoll(), result=replace(EPOLL, verifications=(check,))))
    assert f"{words(Finding.of(Figures.MEAN))} rises from a geometric mean of" in text


def test_shares_are_told_as_means(mailer):
    """Nine of 26 boots against none: the median of both is 0."""
    key = EPOLL.metric
    share = tuple(
        replace(t, statistic=Statistic.FRACTION, scale=Scale.LINEAR, unit="1")
        if t.key == key
        else t
        for t in epoll().thresholds
    )
    none, some = Sample((0.0,) * 26), Sample((1.0,) * 9 + (0.0,) * 17)
    judged = Judgement(
        key=key,
        level=Level.REGRESSED,
        base=none,
        new=some,
        effect=9 / 26,
        interval=(0.2, 0.5),
        p=0.0001,
        reason=said("so"),
    )
    check = vs_parent("d435a6cd", "pass", judged)
    found = replace(epoll(), thresholds=share, result=replace(EPOLL, verifications=(check,)))
    text = shown_in(mailer, found)
    assert "rises from a mean of 0 (parent) to 0.346 (commit)" in text
    assert "0 -> 0.346 0.346 [0.200..0.500]" in text


def test_a_count_that_is_one_in_each_boot_is_no_machine_that_stands_still(tmp_path):
    report = irq_noise()
    never, always = Sample((0.0,) * 8), Sample((1.0,) * 8)
    found = replace(report.result.judgement, base=never, new=always)
    checks = tuple(replace(each, judgement=found) for each in report.result.verifications)
    rows = tuple(
        replace(row, sample=sample)
        for row, sample in zip(report.result.table, (never, always), strict=True)
    )
    result = replace(report.result, judgement=found, verifications=checks, table=rows)
    text = DraftMailer(settings(tmp_path)).draft(replace(report, result=result), "").eml
    assert "stand still" not in text
    assert "seen in" not in text
    assert "rises from a median" in " ".join(text.split())


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


def test_infinities_of_both_signs_have_no_mean(tmp_path):
    report = hang()
    wide = Sample((float("inf"), float("-inf")))
    table = tuple(replace(row, sample=wide) for row in report.result.table)
    found = replace(report, result=replace(report.result, table=table))
    assert "nan [-inf..inf]" in DraftMailer(settings(tmp_path)).draft(found, "").eml


def test_a_mean_of_what_a_number_just_holds_is_no_error():
    largest = Sample((1.7e308, 1.7e308))
    assert spread(largest, mean=True) == "nan [1.7e+308..1.7e+308]"


def test_a_histogram_is_there_where_boots_of_both_sides_are_mixed(tmp_path):
    def told(report):
        return "Boots by" in DraftMailer(settings(tmp_path)).draft(report, "").eml

    assert told(two_modes())
    assert not told(irq_noise())
    # A boot stands still or does not: the counts say all.
    assert not told(hang())


def test_a_mail_says_what_its_figure_is(tmp_path):
    report = irq_noise()
    said = " ".join(DraftMailer(settings(tmp_path)).draft(report, "").eml.split())
    assert f"osnoise.irq_per_sample: {report.thresholds[0].title}." in said


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
