# SPDX-License-Identifier: GPL-2.0-or-later
"""The recorded boots: raw logs of real kernels, parsed and judged as a campaign does it."""

import csv
import gzip
from functools import cache
from pathlib import Path

import pytest

from helpers.windows import select
from rtbisect.config.thresholds import load_thresholds
from rtbisect.judge.boots import Boots
from rtbisect.judge.verdict import judge
from rtbisect.lab.job_log import parse
from rtbisect.lab.measurements import evidence
from rtbisect.lab.profile import host_profile, parse_cpus
from rtbisect.model.campaign import Level, MetricKey
from rtbisect.model.lab import DeviceType, Run, RunRequest, RunStatus

ROOT = Path(__file__).resolve().parents[3]
BOOTS = ROOT / "tests/data/boots"
DEVICE = DeviceType(
    name="qemu-smt",
    template="qemu-smt.jinja2",
    sockets=1,
    cores=4,
    threads=2,
    memory_mib=1024,
    emulated=True,
)
SUITES = ("ipi", "osnoise", "rcu")
THRESHOLDS = {t.key: t for t in load_thresholds(ROOT / "thresholds", SUITES)}
RATIO = MetricKey("ipi", "res_per_iwi", "pf-on")
GRACE = MetricKey("rcu", "p50_us", "rcu-off")


@cache
def index():
    with (BOOTS / "index.csv").open(encoding="ascii") as stream:
        return tuple(csv.DictReader(stream))


@cache
def boot(name, order):
    """A recorded boot as the lab would have given it."""
    request = RunRequest(
        run_id=name,
        revision="r",
        kernel="",
        modules="",
        device_type=DEVICE,
        profile=host_profile(DEVICE),
        windows=tuple(select([window])[0] for window in order.split()),
        window_ms=2000,
        suite_params=(("rcu_calls", 100),),
    )
    log = parse(gzip.decompress((BOOTS / name).read_bytes()).decode("utf-8", "surrogateescape"))
    found = evidence(request, log)
    return Run(
        run_id=name,
        revision="r",
        status=RunStatus.COMPLETE,
        measurements=found.measurements,
        facts=found.facts,
    )


def pool(kind, side):
    return [
        boot(row["file"], row["window_order"])
        for row in index()
        if row["kind"] == kind and row["side"] == side
    ]


def sample(runs, key):
    return Boots(tuple(runs)).sample(key)


def test_there_are_at_least_forty_boots_of_both_sides():
    assert len(index()) >= 40
    assert len(pool("epoll-spinlock", "good")) >= 10
    assert len(pool("epoll-spinlock", "bad")) >= 10


def test_every_recorded_boot_is_evidence_with_units_and_identities():
    watched = set(parse_cpus(host_profile(DEVICE).watch))
    for row in index():
        run = boot(row["file"], row["window_order"])
        assert {m.window for m in run.measurements} == set(row["window_order"].split())
        assert {m.cpu for m in run.measurements if m.suite == "ipi"} == watched | {None}
        assert all(m.unit for m in run.measurements)
        grace = {m.name: m.value for m in run.measurements if m.window == "rcu-off"}
        assert grace["min_us"] <= grace["p50_us"] <= grace["p90_us"] <= grace["max_us"]


def test_the_spinlock_regresses_the_ratio_and_nothing_else_that_decides():
    good, bad = pool("epoll-spinlock", "good"), pool("epoll-spinlock", "bad")
    found = judge(THRESHOLDS[RATIO], sample(good, RATIO), sample(bad, RATIO))
    assert found.level is Level.REGRESSED
    grace = judge(THRESHOLDS[GRACE], sample(good, GRACE), sample(bad, GRACE))
    assert grace.level is Level.PASS


def test_without_the_reader_the_two_locks_do_not_differ():
    key = THRESHOLDS[RATIO].control
    good, bad = pool("epoll-spinlock", "good"), pool("epoll-spinlock", "bad")
    found = judge(THRESHOLDS[key], sample(good, key), sample(bad, key))
    assert found.level is not Level.REGRESSED


def test_a_longer_wait_regresses_grace_periods_by_whole_ticks():
    good, bad = pool("rcu-latency", "good"), pool("rcu-latency", "bad")
    found = judge(THRESHOLDS[GRACE], sample(good, GRACE), sample(bad, GRACE))
    assert found.level is Level.REGRESSED
    assert found.effect == pytest.approx(3000, abs=600)


@pytest.mark.parametrize("key", [RATIO, GRACE], ids=str)
def test_one_kernel_against_itself_is_no_regression(key):
    good = pool("epoll-spinlock", "good")
    found = judge(THRESHOLDS[key], sample(good[::2], key), sample(good[1::2], key))
    assert found.level is not Level.REGRESSED
