# SPDX-License-Identifier: GPL-2.0-or-later
"""Two revisions compared without a search, and one held against a limit."""

from dataclasses import replace

import pytest

from helpers.campaigns import World, boots, line_of, scaled, sha, with_kernel, world
from helpers.findings import first
from helpers.scenarios import History
from rtbisect.cli.check import exit_of_check
from rtbisect.errors import ConfigError, Interrupted
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import CampaignRequest, Level, Outcome, Role, Scale, Statistic
from rtbisect.model.kinds.pipeline import Limits, Work
from rtbisect.model.lab import RunStatus
from rtbisect.pipeline import check
from rtbisect.pipeline.compare import first_looks
from rtbisect.pipeline.further import FurtherBudgets


def test_a_guard_warns_and_does_not_turn_a_check(tmp_path):
    def guarded(request, random):
        loud = 20.0 if request.revision == sha(8) else 1.0
        return scaled(boots(None)(request, random), ("res_per_s", "clock-on"), loud)

    here = World(tmp_path, line_of(8), FakeLab(guarded))
    result = check.check(*here.open())
    assert any(j.level is Level.REGRESSED for j in result.judgements)
    assert (result.outcome, exit_of_check(result)) == (Outcome.NO_REGRESSION, 0)
    # Every figure of both stands in the table, also those that nobody judges.
    kernels = {
        kernel: {row.metric for row in result.table if row.kernel == kernel}
        for kernel in ("base", "tip")
    }
    assert kernels["base"] == kernels["tip"] > {j.key for j in result.judgements}


def test_check_says_regressed_without_searching(tmp_path):
    here = world(tmp_path, 4)
    result = check.check(*here.open())
    assert [j.level for j in result.judgements if j.key.name == "res_per_iwi"] == [Level.REGRESSED]
    assert {r.revision for r in here.lab.requests} == {sha(0), sha(8)}


def with_primaries(setup, count):
    """The same set-up where so many figures are primary."""
    figures = [t for t in setup.thresholds if t.role is not Role.SHOWN][:count]
    assert len(figures) == count
    return replace(setup, thresholds=tuple(replace(t, role=Role.PRIMARY) for t in figures))


def test_of_many_metrics_one_is_called_regressed_with_as_few_boots_as_can_show_it(tmp_path):
    """Five p values of 6 + 6 boots are 0.0011 at least, and Holm asks for 0.001."""
    here = world(tmp_path, 4)
    setup, parts = here.open()
    setup = with_primaries(setup, 5)
    assert first_looks(setup) == (6, 7)
    result = check.check(setup, parts)
    assert Level.REGRESSED in {j.level for j in result.judgements}
    assert len(here.lab.requests) == 2 * 7
    assert first_looks(with_primaries(setup, 4)) == (6, 6)


def test_a_pass_waits_for_a_look_of_its_own(tmp_path):
    """What passes with the boots that complete the first look has one chance more for that."""
    here = world(tmp_path, None)
    setup, parts = here.open()
    result = check.check(with_primaries(setup, 5), parts)
    assert result.outcome in (Outcome.NO_REGRESSION, Outcome.INCONCLUSIVE)
    assert len(here.lab.requests) in (2 * 6, 2 * 10)


def test_a_check_that_could_never_say_regressed_is_refused(tmp_path):
    here = world(tmp_path, 4)
    here.limits = replace(here.limits, calibrate_max=6)
    setup, _ = here.open()
    with pytest.raises(ConfigError) as refused:
        first_looks(with_primaries(setup, 5))
    assert ("5 primary metrics" in refused.value.message, "7" in refused.value.hint) == (True, True)


def test_try_gives_up_on_a_kernel_that_does_not_boot_and_says_why(tmp_path):
    here = world(tmp_path, 4, script={sha(4): [RunStatus.BOOT_FAILED] * 9})
    told = []
    here.request = replace(here.request, kind="try", older=sha(4), newer=sha(4), suite="ipi")
    setup, parts = here.open()
    parts.progress.step = lambda _what, done, total, left: told.append((done, total, left))
    result = check.try_revision(setup, parts, 0.2, 2)
    assert result.outcome is Outcome.INCONCLUSIVE
    assert result.reasons[0].kind == Limits.FEW_BOOTS
    assert (result.reasons[0].data["valid"], result.reasons[0].data["asked"]) == (0, 2)
    assert result.reasons[0].data["why"] is not None
    assert len(told) == 4
    assert all(done <= total and left.middle_s > 0 for done, total, left in told)


@pytest.mark.parametrize(("revision", "level"), [(2, Level.PASS), (6, Level.REGRESSED)])
def test_try_judges_one_revision_against_a_limit(tmp_path, revision, level):
    request = CampaignRequest(
        kind="try", site="s", tree="t", older=sha(revision), newer=sha(revision), suite="ipi"
    )
    here = world(tmp_path, 4, request=request)
    result = check.try_revision(*here.open(), 0.2, 3)
    assert result.judgements[0].level is level
    assert len(here.lab.requests) == 3


def test_try_takes_the_mean_of_shares(tmp_path):
    """Three of ten boots fail: the median is 0, and nobody asks for that."""
    drawn = iter([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def draw(request, random):
        found = boots(None)(request, random)
        share = next(drawn)
        return [replace(m, value=share) if m.name == "res_per_iwi" else m for m in found]

    request = CampaignRequest(
        kind="try", site="s", tree="t", older=sha(2), newer=sha(2), suite="ipi"
    )
    setup, parts = World(tmp_path, line_of(8), FakeLab(draw), request=request).open()
    shares = tuple(
        replace(t, statistic=Statistic.FRACTION, scale=Scale.LINEAR) for t in setup.thresholds
    )
    result = check.try_revision(replace(setup, thresholds=shares), parts, 0.2, 10)
    assert result.judgements[0].level is Level.REGRESSED
    judged = result.reasons[0].data["why"].data
    assert (judged["mean"], judged["boots"], judged["limit"]) == (True, 10, 0.2)
    assert judged["value"] == pytest.approx(0.3)


def test_a_figure_of_several_windows_is_told_with_what_runs_in_each(tmp_path):
    setup, parts = world(tmp_path, None).open()
    windows = tuple(replace(each, synthetic=False) for each in setup.booted.windows)
    setup, parts = with_kernel(setup, parts, windows=windows)
    primary = [("res_per_s", name) for name in ("pf-on", "pf-off", "osnoise-off")]
    primary += [("res_per_iwi", "pf-on")]
    thresholds = tuple(
        replace(t, role=Role.PRIMARY)
        for t in setup.thresholds
        if (t.key.name, t.key.window) in primary
    )
    check.check(replace(setup, thresholds=thresholds), parts)
    told = first(parts.journal.story(), Work.FIGURES)["figures"]
    assert {(each.data.get("window"), each.data.get("beside")) for each in told} == {
        ("pf-on", "perf-epoll-reader:pf"),
        # Nothing runs in both of these.
        ("pf-off", ""),
        ("osnoise-off", ""),
        # It is told in one window alone.
        (None, None),
    }


def test_equal_kernels_need_no_boot(tmp_path):
    here = History(ipi={3: 10}, same={8: 0}).world(tmp_path)
    assert check.check(*here.open()).outcome is Outcome.NOOP
    assert here.lab.requests == []


def test_a_check_and_a_try_end_where_a_stop_is_asked_for(tmp_path):
    further = FurtherBudgets(stop_asked=lambda: True)
    here = world(tmp_path, 4)
    with pytest.raises(Interrupted):
        check.check(*here.open(), further)
    here.request = replace(here.request, kind="try", suite="ipi")
    with pytest.raises(Interrupted):
        check.try_revision(*here.open(), 0.2, 3, further)
