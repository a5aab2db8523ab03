# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots by the scripts of a bundle, on a guest like the campaign's and on somebody's machine."""

import tarfile
from dataclasses import replace

import pytest

from helpers.campaigns import FakeLab, World, boots, line_of, sha
from helpers.findings import said
from helpers.published import console
from helpers.report_parts import judged, vs_parent
from helpers.results import culprit_result, other_result
from rtbisect.errors import ConfigError
from rtbisect.evidence.bundle import _pack
from rtbisect.evidence.by_hand import boot_by_hand, reported
from rtbisect.evidence.kernels import BY_HAND
from rtbisect.model.campaign import MetricKey, Outcome, Sample

GRACE = MetricKey("rcu", "p50_us", "rcu-off")
SHORT, LONG = Sample((6000.0,) * 8), Sample((9000.0,) * 8)
RECORDED = "demo-1-r1.log.gz"


@pytest.fixture
def setup(tmp_path):
    made = World(tmp_path / "state", line_of(4), FakeLab(boots(2), None)).open()[0]
    return replace(made, kernel=replace(made.kernel, window_ms=2000))


@pytest.fixture
def found(setup):
    limit = next(each for each in setup.judged if each.key == GRACE)
    return judged(limit, SHORT, LONG)


def order(setup):
    return " ".join(window.name for window in setup.kernel.windows)


def test_a_boot_has_its_figures_and_the_kernel_of_its_name(setup):
    boot = boot_by_hand(setup, "0123456789ab.2.log", console(RECORDED, order(setup)))
    assert (boot.kernel, boot.why) == ("0123456789ab", "")
    assert boot.value(GRACE) > 0
    assert boot.value(replace(GRACE, name="no-figure")) is None


def test_a_boot_that_is_none_says_why(setup):
    boot = boot_by_hand(setup, "0123456789ab.log", "nothing")
    assert boot.measurements == ()
    assert boot.why


#: A machine with six CPUs in the place of eight.
OTHER_CPUS = {
    "online": "0-5", "isolated": "2-5", "nohz_full": "2-5", "isolated_asked": "2-5",
    "housekeeping_asked": "0-1", "watch_asked": "2-4",
}  # fmt: skip


def test_another_machine_is_one_where_it_was_measured_by_hand(setup):
    text = console(RECORDED, order(setup), **OTHER_CPUS)
    assert boot_by_hand(setup, "a.log", text).why
    assert boot_by_hand(setup, "a.log", f"{BY_HAND}\n{text}").value(GRACE) > 0


@pytest.mark.parametrize("wrong", [{"nohz_full": "3-5"}, {"online": "none"}, {"online": ""}])
def test_a_machine_that_is_not_isolated_as_it_was_asked_measures_nothing(setup, wrong):
    text = console(RECORDED, order(setup), **(OTHER_CPUS | wrong))
    assert boot_by_hand(setup, "a.log", f"{BY_HAND}\n{text}").why


def test_a_torn_block_measures_nothing_by_hand(setup):
    text = console(RECORDED, order(setup), **OTHER_CPUS).replace("A", "B", 5)
    assert boot_by_hand(setup, "a.log", f"{BY_HAND}\n{text}").why


def test_what_is_reported_has_a_limit_between_both_kernels(setup, found):
    checks = (vs_parent(sha(1)[:12], "pass", found),)
    told = reported(setup, culprit_result(sha(2), judgement=None, verifications=checks))
    assert (told.metric, told.unit, told.proved) == (GRACE, "us", True)
    assert (told.base, told.new) == (sha(1)[:12], sha(2)[:12])
    assert 6000 < told.limit < 9000


def test_without_a_culprit_the_ends_are_reported(setup, found):
    told = reported(setup, replace(other_result(Outcome.INCONCLUSIVE), judgement=found))
    assert (told.base, told.new, told.proved) == (sha(0)[:12], sha(4)[:12], False)


def test_a_part_of_a_figure_has_no_limit_for_a_boot(setup, found):
    part = replace(found, figure=said("a part"))
    for judgement in (part, replace(found, base=Sample(()))):
        result = replace(other_result(Outcome.INCONCLUSIVE), judgement=judgement)
        assert reported(setup, result).limit is None
    assert reported(setup, other_result(Outcome.INCONCLUSIVE)) is None


def test_an_archive_does_not_tell_who_made_it(tmp_path):
    filled = tmp_path / "filled"
    (filled / "kernels").mkdir(parents=True)
    (filled / "kernels/config").write_text("x")
    with tarfile.open(_pack(filled, "rcu-0002")) as tar:
        members = tar.getmembers()
    assert {member.name for member in members} == {
        "rcu-0002", "rcu-0002/kernels", "rcu-0002/kernels/config",
    }  # fmt: skip
    assert {(member.uid, member.uname, member.gname) for member in members} == {(0, "", "")}


def test_consoles_of_which_none_is_a_boot_are_refused(setup, tmp_path, monkeypatch):
    from rtbisect.evidence import bundle

    monkeypatch.setattr(bundle, "check_sums", lambda _folder: None)
    answer = other_result(Outcome.INCONCLUSIVE)
    monkeypatch.setattr(bundle, "_open_bundle", lambda _folder: (answer, setup, "rcu-0002"))
    with pytest.raises(ConfigError, match="no valid boot"):
        bundle.read_boots(tmp_path, [("a.log", ""), ("b.log", "")])
    good = console(RECORDED, order(setup))
    boots_found, none = bundle.read_boots(tmp_path, [("a.log", ""), ("b.log", good)])
    assert [bool(boot.why) for boot in boots_found] == [True, False]
    assert none is None
