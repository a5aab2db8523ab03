# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of thresholds: what loads, what may be searched, and what is none."""

from pathlib import Path

import pytest

from rtbisect.config.thresholds import choose_threshold, load_thresholds
from rtbisect.errors import ConfigError

ROOT = Path(__file__).resolve().parents[3]


def test_thresholds_load_and_metrics_are_chosen_by_name():
    found = load_thresholds(ROOT / "thresholds", ("ipi", "osnoise", "rcu"))
    assert choose_threshold(found, "ipi", None).role == "primary"
    chosen = choose_threshold(found, "rcu", "p50_us@rcu-off")
    assert (chosen.key.name, chosen.unit) == ("p50_us", "us")
    assert all(len(t.reason) > 20 for t in found)
    with pytest.raises(ConfigError, match="unknown suite 'moon'"):
        choose_threshold(found, "moon", None)
    with pytest.raises(ConfigError, match="unknown metric 'p51_us'"):
        choose_threshold(found, "rcu", "p51_us")


TAIL = """
suite: osnoise
metrics:
- name: beyond_20_us_per_s
  window: osnoise-off
  unit: 1/s
  better: lower
  scale: SCALE
  statistic: STATISTIC
  exposure: cpu_s
  min_effect: 0.01
  role: guard
  reason: Samples with more noise than a cyclic task of 1 ms can stand.
"""


def test_what_may_be_searched_says_what_it_is():
    suites = tuple(path.stem for path in (ROOT / "thresholds").glob("*.yaml"))
    found = load_thresholds(ROOT / "thresholds", suites)
    searched = [each for each in found if each.role != "shown"]
    assert searched
    assert [str(each.key) for each in searched if not each.title] == []
    assert all(each.title.isascii() and not each.title.endswith(".") for each in searched)


def test_a_tail_is_a_count_with_an_exposure(tmp_path):
    path = tmp_path / "osnoise.yaml"
    path.write_text(TAIL.replace("SCALE", "linear").replace("STATISTIC", "count"))
    (found,) = load_thresholds(tmp_path, ("osnoise",))
    assert str(found.exposure) == "osnoise.cpu_s@osnoise-off"
    for scale, statistic, message in (
        ("log", "count", "needs the scale linear"),
        ("linear", "median", "only a count has an exposure"),
        ("linear", "p99", "statistic"),
    ):
        path.write_text(TAIL.replace("SCALE", scale).replace("STATISTIC", statistic))
        with pytest.raises(ConfigError, match=message):
            load_thresholds(tmp_path, ("osnoise",))
