# SPDX-License-Identifier: GPL-2.0-or-later
"""Units as tools print them, and what makes one of another."""

import pytest

from rtbisect.program.units import factor, goes_by_time, is_unit, unit_of


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("p99_us", "us"),
        ("wall_s", "s"),
        ("s", ""),
        ("p99", ""),
        ("rss_bytes", "B"),
        ("ops_per_s", ""),
        ("paper_s", "s"),
        ("read_mb_s", ""),
        ("write_MiB_sec", ""),
        ("ops_s", ""),
        ("get_kreqs_s", ""),
        ("net_bytes_sec", ""),
        # Of two programs, and a time in which something is done.
        ("variant_b_s", "s"),
        ("read_mb_ms", "ms"),
    ],
)
def test_a_name_may_say_its_unit(name, unit):
    assert unit_of(name) == unit


@pytest.mark.parametrize(
    ("unit", "wanted", "times"),
    [
        ("ms", "us", 1e3),
        # fio, dd, rsync and pv.
        ("GB/s", "MB/s", 1e3),
        ("GiB/s", "MiB/s", 1024.0),
        ("MiB/s", "MB/s", 1.048576),
        ("kB/s", "KB/s", 1.0),
        # go test -bench, cargo bench.
        ("us/op", "ns/op", 1e3),
        ("ns/iter", "ms/iter", 1e-6),
        ("kB/op", "B/op", 1e3),
        # items_per_second and bytes_per_second of google-benchmark.
        ("M/s", "k/s", 1e3),
        ("k/s", "/s", 1e3),
        ("m/s", "/s", 1e-3),
        ("Gi/s", "Mi/s", 1024.0),
        # The throughput of criterion.
        ("Melem/s", "Kelem/s", 1e3),
        ("elem/s", "Gelem/s", 1e-9),
        # iperf.
        ("Gbits/sec", "Mbits/sec", 1e3),
        ("Gbits/sec", "Gb/s", 1.0),
        ("MBytes/sec", "MB/s", 1.0),
        ("Gbps", "Mbps", 1e3),
        ("GHz", "MHz", 1e3),
        ("Mops/s", "ops/ms", 1e3),
        ("req/min", "req/s", 1 / 60),
        ("kIOPS", "iops", 1e3),
        ("kiops", "iops", 1e3),
        ("Mitems/s", "Kitems/s", 1e3),
        ("items/s", "kitems/s", 1e-3),
        ("Gibit/s", "Mib/s", 1024.0),
        ("mJ", "J", 1e-3),
        ("MB/s/core", "GB/s/core", 1e-3),
    ],
)
def test_units_of_one_kind_are_converted(unit, wanted, times):
    assert is_unit(unit)
    assert is_unit(wanted)
    assert factor(unit, wanted) == pytest.approx(times)
    assert factor(wanted, unit) == pytest.approx(1 / times)


@pytest.mark.parametrize(
    ("unit", "wanted"),
    [
        ("us", "MB"),
        ("MB/s", "MB"),
        ("MB/s", "Mb/s"),
        ("MB/s", "MB/op"),
        ("ns/op", "op/ns"),
        ("Gbps", "GB/s"),
        ("Hz", "/s"),
        ("%", ""),
        ("ns", ""),
        ("x" + "/h" * 29, "x/s" + "/h" * 28),
    ],
)
def test_units_of_two_kinds_are_not(unit, wanted):
    assert factor(unit, wanted) is None


@pytest.mark.parametrize(
    ("unit", "by_time"),
    [("", True), ("us", True), ("ns/op", True), ("MB/s", True), ("MB", False), ("%", False)],
)
def test_times_and_rates_go_by_the_time(unit, by_time):
    assert goes_by_time(unit) is by_time


@pytest.mark.parametrize("word", ["errors", "k", "M", "/", "/x", "s/", "/12", "a/1", "//s", "m"])
def test_another_word_behind_a_number_is_no_unit(word):
    assert not is_unit(word)
