# SPDX-License-Identifier: GPL-2.0-or-later
import csv
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.campaigns import RES
from rtbisect.errors import ConfigError
from rtbisect.judge.scale import badness, effect_of
from rtbisect.judge.verdict import effect_found, judge, judge_all
from rtbisect.model.campaign import Better, Level, MetricKey, Role, Sample, Scale, Statistic
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Judged, Side, Told

POOL = Path(__file__).parents[2] / "data" / "eventpoll-lock-tcg.csv"


def boots(column, lock, count):
    with POOL.open() as source:
        rows = [row for row in csv.DictReader(source) if row["lock"] == lock]
    return Sample(tuple(float(row[column]) for row in rows[:count]))


def test_real_boots_of_the_two_locks_are_a_regression():
    found = judge(RES, boots("res_per_s_on", "rwlock", 6), boots("res_per_s_on", "spinlock", 6))
    assert found.level is Level.REGRESSED
    assert found.p == 1 / 924
    assert found.effect > 3
    assert found.interval[0] > 1.5
    effect = Finding.of(Told.RATIO, ratio=found.effect)
    assert found.reason == Finding.of(Judged.REGRESSED, effect=effect, p=found.p)


def test_real_boots_without_the_workload_pass():
    found = judge(RES, boots("res_per_s_off", "rwlock", 10), boots("res_per_s_off", "spinlock", 10))
    assert found.level is Level.PASS
    assert found.interval[0] < 1 < found.interval[1] < 1.5
    assert found.reason.kind == Judged.EXCLUDED


def test_one_stray_boot_of_the_base_takes_nothing_back():
    base = Sample((60.0, *(10 + number / 10 for number in range(9))))
    new = Sample(tuple(13 + number / 10 for number in range(10)))
    linear = replace(RES, scale=Scale.LINEAR, min_effect=1.0, floor=0.0)
    assert judge(linear, base, new).level is Level.REGRESSED
    # By its mean it is another question.
    assert judge(replace(linear, statistic=Statistic.MEAN), base, new).level is not Level.REGRESSED


def test_shares_on_several_hosts_are_compared_as_they_are():
    """The part of a host would be a median of 0 and 1."""
    share = replace(RES, statistic=Statistic.FRACTION, scale=Scale.LINEAR, floor=0.0)
    base = Sample((0.0,) * 12, ("a",) * 8 + ("b",) * 4)
    fails = (1.0, 1.0, 1.0, 0.0, 1.0, 1.0, *(0.0,) * 6)
    new = Sample(fails, ("a",) * 4 + ("b",) * 8)
    assert judge(share, base, new).effect == pytest.approx(5 / 12)


def test_an_improvement_passes():
    found = judge(RES, Sample((40, 41, 42, 43, 44, 45)), Sample((9, 9.5, 10, 10, 11, 12)))
    assert found.level is Level.PASS
    assert found.effect < 0.5
    assert found.p > 0.99


def test_too_few_boots_stay_undecided_and_say_so():
    found = judge(RES, Sample((1.0, 1.1, 1.2)), Sample((9.0, 9.1, 9.2)))
    assert found.level is Level.UNDECIDED
    told = {"effect": effect_found(RES, found.effect), "base": 3, "new": 3, "alpha": 0.01}
    assert found.reason == Finding.of(Judged.TOO_FEW, **told)


def test_one_boot_a_side_never_passes():
    found = judge(RES, Sample((1.0,)), Sample((1.0,)))
    assert found.level is Level.UNDECIDED


def test_a_significant_but_small_change_is_no_regression():
    base = Sample((100.0, 100.1, 100.2, 100.3, 100.4, 100.5))
    found = judge(RES, base, Sample(tuple(v + 5 for v in base.values)))
    assert found.level is Level.PASS
    assert found.p == 1 / 924


def test_wide_boots_are_undecided():
    found = judge(RES, Sample((1, 2, 4, 8, 16, 32)), Sample((2, 4, 8, 16, 32, 64)), alpha=0.01)
    assert found.level is Level.UNDECIDED
    told = {"effect": effect_found(RES, found.effect), "p": found.p, "alpha": 0.01}
    assert found.reason == Finding.of(Judged.ABOVE_ALPHA, **told)
    small = judge(RES, Sample((1, 2, 4, 8, 16, 32)), Sample((1.2, 2, 4, 8, 16, 64)))
    assert (small.level, small.reason.kind) == (Level.UNDECIDED, Judged.INCLUDED)


def test_who_judges_a_part_of_a_figure_tells_its_effect():
    base, new = Sample((1, 1.1, 1.2, 1.3, 1.4, 1.5)), Sample((9, 9.1, 9.2, 9.3, 9.4, 9.5))

    def tell(effect):
        return Finding.of(Told.DIFFERENCE, difference=2 * effect, unit="us")

    found = judge(RES, base, new, effect=tell)
    assert found.reason.data["effect"] == tell(found.effect)


def test_higher_is_better_turns_the_direction():
    rate = replace(RES, better=Better.HIGHER, scale=Scale.LINEAR, min_effect=5.0, floor=0.0)
    high, low = Sample((100, 101, 102, 103, 104, 105)), Sample((80, 81, 82, 83, 84, 85))
    worse = judge(rate, high, low)
    assert worse.level is Level.REGRESSED
    assert worse.effect == -20
    assert worse.interval[0] <= -20 <= worse.interval[1] < 0
    assert judge(rate, low, high).level is Level.PASS


def test_the_floor_keeps_zero_counts_finite():
    found = judge(RES, Sample((0.0,) * 6), Sample((1.0, 0, 30, 31, 29, 33)))
    assert found.effect == pytest.approx((29.5 + 0.5) / 0.5, rel=0.02)


def test_a_broken_limit_is_named_only_when_the_base_kept_it():
    limited = replace(RES, limit=20.0)
    base, new = Sample((9, 9, 10, 10, 11, 11)), Sample((40, 41, 42, 43, 44, 45))
    found = judge(limited, base, new).reason
    why = judge(RES, base, new).reason
    told = {"why": why, "limit": 20.0, "base": 10.0, "new": 42.5, "unit": RES.unit}
    assert found == Finding.of(Judged.LIMIT_BROKEN, **told)
    assert judge(limited, new, new).reason == judge(RES, new, new).reason
    # Where more is better the limit is broken from above.
    floor = replace(limited, better=Better.HIGHER)
    assert judge(floor, new, base).reason.kind == Judged.LIMIT_BROKEN


def test_no_boots_are_undecided():
    found = judge(RES, Sample(()), Sample((1.0,)))
    assert (found.level, found.p) == (Level.UNDECIDED, 1.0)
    assert found.reason == Finding.of(Judged.NO_BOOTS, side=Side.BASE)
    new = judge(RES, Sample((1.0,)), Sample(())).reason
    assert new == Finding.of(Judged.NO_BOOTS, side=Side.NEW)


def test_holm_counts_the_primary_metrics_only():
    base, new = Sample((1, 1.1, 1.2, 1.3, 1.4, 1.5)), Sample((9, 9.1, 9.2, 9.3, 9.4, 9.5))
    other = replace(RES, key=MetricKey("interrupts", "iwi", "on"))
    guard = replace(other, role=Role.GUARD)
    alone = judge_all([(RES, base, new), (guard, base, new)], alpha=0.0015)
    assert [j.level for j in alone] == [Level.REGRESSED, Level.REGRESSED]
    assert alone[0].p == 1 / 924
    both = judge_all([(RES, base, new), (other, base, new)], alpha=0.0015)
    assert [j.level for j in both] == [Level.UNDECIDED, Level.UNDECIDED]
    assert both[0].p == 2 / 924
    assert both[0].reason == Finding.of(Judged.HOLM, p=2 / 924, metrics=2, alpha=0.0015)


def test_impossible_thresholds_and_values_are_refused():
    with pytest.raises(ConfigError, match="is no ratio"):
        judge(replace(RES, min_effect=0.5), Sample((1.0,)), Sample((1.0,)))
    with pytest.raises(ConfigError, match="negative"):
        judge(replace(RES, scale=Scale.LINEAR, min_effect=-1.0), Sample((1.0,)), Sample((1.0,)))
    with pytest.raises(ValueError, match="no logarithm"):
        badness(RES, -0.5)
    with pytest.raises(ValueError, match="not finite"):
        badness(RES, float("nan"))


def test_effect_is_the_inverse_of_badness():
    shift = badness(RES, 9.5) - badness(RES, 4.5)
    assert effect_of(RES, shift) == pytest.approx(2.0)


def test_an_effect_is_told_in_the_unit_of_its_figure():
    share = replace(RES, scale=Scale.LINEAR, unit="1")
    found = effect_found(share, -0.625)
    assert found == Finding.of(Told.DIFFERENCE, difference=-0.625, unit="1")
    assert effect_found(RES, 2.0) == Finding.of(Told.RATIO, ratio=2.0)
