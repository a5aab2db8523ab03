# SPDX-License-Identifier: GPL-2.0-or-later
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtbisect.errors import ConfigError, InternalError
from rtbisect.lab.windows import ALL_WINDOWS
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Raw
from rtbisect.model.lab import Measurement
from rtbisect.suites import base
from rtbisect.suites.base import source_name, source_parts

ROOT = Path(__file__).parents[3]
#: Suites without figures of their own.
EXPLAINING = {"reach", "senders"}


def test_every_suite_of_a_window_has_its_three_parts():
    for suite in sorted({name for window in ALL_WINDOWS for name in window.suites}):
        assert callable(base.find(suite).parse)
        assert (ROOT / "thresholds" / f"{suite}.yaml").is_file() or suite in EXPLAINING
        assert (ROOT / "lava-jobs/suites" / suite).is_dir()


def test_a_suite_is_found_by_the_name_that_it_gives_itself():
    every = base.every()
    assert [base.find(suite.name) for suite in every] == list(every)
    assert len(every) >= 14


def test_what_makes_the_figures_of_a_suite():
    assert "arch/x86/kernel/irq.c" in base.find("ipi").counted_by
    assert base.find("timerlat").counted_by == base.find("osnoise").counted_by != ()
    # A module of ours counts these.
    assert base.find("rcu").counted_by == ()


@pytest.mark.parametrize("name", ["nosuch", "../ipi", "os.path", "", "Base", "__init__"])
def test_of_a_suite_without_a_module_the_name_is_known(name):
    assert base.find(name) == base.Suite(name=name)


def test_a_module_that_describes_none_is_no_suite():
    with pytest.raises(ConfigError, match="no SUITE"):
        base.find("reader")


def test_unknown_units_are_our_own_fault():
    good = Measurement(suite="s", name="n", window="w", value=1.0, unit="us")
    assert base.checked((good,)) == (good,)
    with pytest.raises(InternalError, match="furlong"):
        base.checked((Measurement(suite="s", name="n", window="w", value=1.0, unit="furlong"),))


def test_files_are_text_or_damaged():
    assert base.text({"a": b"x\n"}, "a") == "x\n"
    assert base.text({"a": b""}, "a") == ""
    # Half of a number is a number, so a line has an end.
    for files in ({}, {"a": b"\xff\n"}, {"a": b"12\n3"}):
        with pytest.raises(base.SuiteError):
            base.text(files, "a")


@pytest.mark.parametrize("value", ["-1", "1.5", "", "1e3", "0x10", "9" * 30])
def test_counts_are_counts(value):
    with pytest.raises(base.SuiteError):
        base.number({"k": value}, "k", "f")


def test_an_empty_value_gives_way_and_two_values_are_refused():
    assert base.pairs("a=\na=1\na=\nb=2\nb=2\nno pair\n", "=") == {"a": "1", "b": "2"}
    with pytest.raises(base.SuiteError) as caught:
        base.pairs("a=1\na=2\n", "=")
    assert caught.value.found == Finding.of(Raw.BOTH, key="a", first="1", second="2")


@given(
    st.from_regex(r"[ -~]{1,64}", fullmatch=True).filter(lambda task: ": " not in task),
    st.lists(st.from_regex(r"[\w.]{1,60}", fullmatch=True), min_size=1, max_size=4),
)
def test_the_name_of_a_source_tells_its_parts(task, functions):
    assert source_parts(source_name(task, functions)) == (task, tuple(functions))


def test_a_source_without_functions_is_its_name():
    assert source_parts("timer/N") == ("timer/N", ())
