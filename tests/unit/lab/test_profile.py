# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from helpers.lab_logs import DEVICE
from rtbisect.errors import ConfigError
from rtbisect.lab.profile import format_cpus, host_profile, parse_cpus
from rtbisect.model.lab import DeviceType


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0", (0,)), ("0-1,4", (0, 1, 4)), ("4,0-1", (0, 1, 4)), ("2-4,3", (2, 3, 4))],
)
def test_cpu_lists_are_read(text, cpus):
    assert parse_cpus(text) == cpus


@pytest.mark.parametrize("text", ["", "a", "2-", "-2", "4-2", "1,,2", "0-99999", "1 2", "0-1\n"])
def test_what_is_no_cpu_list_is_refused(text):
    with pytest.raises(ConfigError):
        parse_cpus(text)


@pytest.mark.parametrize(
    ("cpus", "text"), [((), ""), ((3,), "3"), ((1, 0, 4), "0-1,4"), (range(2, 8), "2-7")]
)
def test_cpu_lists_are_written(cpus, text):
    assert format_cpus(cpus) == text


def test_a_core_is_housekeeping_or_isolated_with_all_its_threads():
    profile = host_profile(DEVICE)
    assert (profile.housekeeping, profile.isolated, profile.watch) == ("0-1", "2-7", "2-4")
    words = profile.boot_line.split()
    for word in (
        "isolcpus=nohz,domain,managed_irq,2-7",
        "nohz_full=2-7",
        "rcu_nocbs=2-7",
        "irqaffinity=0-1",
        "panic=0",
        "noirqdebug",
        "console=ttyS0,115200",
    ):
        assert word in words


def test_without_smt_one_cpu_does_the_housekeeping():
    profile = host_profile(
        DeviceType(
            name="t", template="t", sockets=1, cores=4, threads=1, memory_mib=512, emulated=True
        )
    )
    assert (profile.housekeeping, profile.isolated, profile.watch) == ("0", "1-3", "1-3")


def test_a_machine_with_too_few_cpus_is_refused():
    with pytest.raises(ConfigError, match="2 CPUs to isolate"):
        host_profile(
            DeviceType(
                name="small",
                template="t",
                sockets=1,
                cores=2,
                threads=2,
                memory_mib=512,
                emulated=True,
            )
        )


@pytest.mark.parametrize(
    "name", ["", "seed", "tuned+fifo:0", "tuned+fifo:100", "as-is+smt", "tuned\n"]
)
def test_an_unknown_profile_is_refused(name):
    with pytest.raises(ConfigError, match="there is no profile"):
        host_profile(DEVICE, name)


def test_a_machine_as_it_is_isolates_nothing():
    profile = host_profile(DEVICE, "as-is+fifo:1")
    assert (profile.housekeeping, profile.isolated, profile.watch) == ("0-1", "2-7", "2-4")
    assert (profile.isolates, profile.fifo, profile.smt) == (False, 1, True)
    assert "isol" not in profile.boot_line
    assert profile.boot_line.endswith("nowatchdog")


def test_without_the_second_threads_a_core_has_one_cpu():
    profile = host_profile(DEVICE, "tuned+nosmt")
    assert (profile.housekeeping, profile.isolated, profile.watch) == ("0", "2,4,6", "2,4,6")
    words = profile.boot_line.split()
    assert "nosmt" in words
    assert "nohz_full=2,4,6" in words
