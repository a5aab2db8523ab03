# SPDX-License-Identifier: GPL-2.0-or-later
"""What a mail says of a campaign, asked of its findings."""

from dataclasses import replace

import pytest

from helpers.findings import Like, all_of, first, said
from helpers.report_cases import backport, hang, rcu, two_modes
from helpers.report_epoll import EPOLL, culprit_set, epoll, improvement, nothing
from helpers.report_mails import PUBLIC
from helpers.report_parts import BOARD, BOT, RES_LIMIT, judged, on_board
from rtbisect.model.campaign import Cause, MetricKey, Outcome, Sample, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Causes
from rtbisect.model.kinds.report import (
    Changes,
    Columns,
    Concerns,
    Footers,
    Found,
    Levels,
    Machines,
    Online,
    Opens,
    Shows,
    Sure,
    Symptoms,
    Untested,
    Where,
)
from rtbisect.model.result import CheckName, CheckStatus, KernelRole, Verification
from rtbisect.report.letter import Public, letter
from rtbisect.report.opening import opening, readable, symptom

SHA = rcu().culprit.sha


def kinds(report):
    return {each.kind for each in all_of(letter(report, BOT).said)}


def with_result(report, **other):
    return replace(report, result=replace(report.result, **other))


def with_check(report, name, status, judgement=None, **other):
    kept = tuple(each for each in report.result.verifications if each.check is not name)
    check = Verification(check=name, status=status, judgement=judgement, **other)
    return with_result(report, verifications=(*kept, check))


def test_it_opens_with_what_changed_since_which_commit_and_where():
    report = rcu()
    found = opening(report)
    assert found == Like(
        Opens.CULPRIT, commit=SHA, subject=report.culprit.subject, boots="8 + 8", beside=""
    )
    change = found.data["change"]
    assert change == Like(Changes.FIGURE, suite="rcu", name="p50_us", unit="ms", isolated=True)
    assert (change.data["base"], change.data["new"]) == pytest.approx((6.03, 9.01), abs=0.01)
    assert found.data["where"] == Like(
        Where.MACHINE, machine="Example Xeon 6338", sockets=1, isolated="2-7"
    )


def test_the_workload_that_it_needs_is_in_the_first_sentence():
    assert opening(epoll()).data["beside"] == "perf-epoll-reader"


def test_what_a_boot_has_or_has_not_is_counted():
    change = first([opening(hang())], Changes.BOOTS)
    assert (change["new"], change["new_boots"]) == (8, 12)
    assert symptom(hang()) == Like(Symptoms.BOOTS, base=0, base_boots=12, new=8)


def test_an_emulated_machine_is_called_so():
    assert first([opening(epoll())], Where.EMULATED) is not None
    assert first([opening(on_board(epoll()))], Where.EMULATED) is None


def test_preempt_rt_is_said_where_a_boot_told_it():
    told = replace(rcu(), facts=(("uname_v", "#1 SMP PREEMPT_RT"),))
    assert first([opening(told)], Where.MACHINE)["realtime"] is True
    assert first([opening(rcu())], Where.MACHINE)["realtime"] is False


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Outcome.CULPRIT_SET, Opens.SET),
        (Outcome.MULTIPLE_CULPRITS, Opens.ONE_OF_SEVERAL),
        (Outcome.MERGE_CULPRIT, Opens.MERGE),
        (Outcome.LAYOUT_SENSITIVE, Opens.LAYOUT),
        (Outcome.GRADUAL, Opens.GRADUAL),
        (Outcome.NOT_REPRODUCED, Opens.NOT_REPRODUCED),
        (Outcome.NOOP, Opens.NOOP),
        (Outcome.INCONCLUSIVE, Opens.OPEN),
        (Outcome.NO_REGRESSION, Opens.NOTHING),
    ],
)
def test_each_outcome_opens_in_its_own_way(outcome, kind):
    assert opening(with_result(epoll(), outcome=outcome)).kind == kind


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (Cause.KERNEL, Opens.CULPRIT),
        (Cause.WORKLOAD_DEPENDENT, Opens.CULPRIT),
        # No campaign drafts a report of this one; nobody would be accused by it.
        (Cause.TOOL_INDUCED, Opens.UNATTRIBUTED),
        (Cause.NONE, Opens.UNATTRIBUTED),
    ],
)
def test_each_cause_opens_in_its_own_way(cause, kind):
    assert opening(with_result(epoll(), cause=cause)).kind == kind


def test_nothing_found_says_of_what_and_how_sure():
    metric = Finding.of(Columns.FIGURE, suite="ipi", name="res_per_s", unit="")
    assert opening(nothing()) == Like(Opens.NOTHING, metric=metric)
    assert opening(with_result(nothing(), metric=None)) == Like(Opens.NOTHING, metric="")
    assert opening(replace(nothing(), sought=Sought.REPAIR)) == Like(Opens.NO_REPAIR)
    assert opening(improvement()) == Like(Opens.IMPROVED, figures=1)


def test_a_set_says_of_how_many_commits():
    assert opening(culprit_set()) == Like(Opens.SET, commits=4)


def test_a_part_of_a_figure_is_named():
    part = said("calls above 7 ms")
    judgement = replace(rcu().result.verifications[0].judgement, figure=part, unit="1")
    checks = (replace(rcu().result.verifications[0], judgement=judgement),)
    report = with_result(rcu(), verifications=checks)
    assert first([opening(report)], Changes.PART)["part"] == part
    assert symptom(report) == Like(Symptoms.PART, part=part)


def test_a_side_without_boots_is_said_to_be_unmeasured():
    judgement = replace(rcu().result.verifications[0].judgement, base=Sample(()))
    checks = (replace(rcu().result.verifications[0], judgement=judgement),)
    report = with_result(rcu(), verifications=checks)
    assert first([opening(report)], Changes.UNMEASURED) is not None
    assert Shows.DIFFERENCE not in kinds(report)


@pytest.mark.parametrize(
    ("unit", "values", "readable_as"),
    [
        ("us", (6000.0, 9000.0), ("ms", 6.0)),
        ("us", (600.0, 9000.0), ("us", 600.0)),
        ("ns", (6e6, 9e6), ("ms", 6.0)),
        ("1/s", (6000.0, 9000.0), ("1/s", 6000.0)),
        ("us", (0.0, 9000.0), ("us", 0.0)),
        ("us", (), ("us", None)),
    ],
)
def test_times_are_told_in_a_unit_that_fits_both_sides(unit, values, readable_as):
    shown, factor = readable(unit, *values)
    assert shown == readable_as[0]
    if values:
        assert values[0] * factor == pytest.approx(readable_as[1])


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (CheckStatus.PASS, Sure.REVERT_HELPS),
        (CheckStatus.FAIL, Sure.REVERT_NOT),
        (CheckStatus.UNDECIDED, Sure.REVERT_OPEN),
    ],
)
def test_what_the_revert_did_is_said_by_its_status(status, kind):
    judgement = EPOLL.verifications[1].judgement
    told = kinds(with_check(epoll(), CheckName.REVERT, status, judgement))
    assert kind in told
    assert Untested.REVERT not in told


def test_a_revert_that_takes_back_a_part_is_no_way_back():
    judgement = EPOLL.verifications[1].judgement
    report = with_check(epoll(), CheckName.REVERT, CheckStatus.PASS, judgement, short=True)
    assert Sure.REVERT_SHORT in kinds(report)
    level = first(letter(report, BOT).opening, Levels.FIGURE)
    assert level["value"] == pytest.approx(8.2)


def test_a_revert_that_was_not_made_is_told_with_its_reason():
    why = said("it does not apply to the tip")
    assert Like(Untested.REVERT, why=why) in letter(rcu(), BOT).untested
    assert Like(Untested.REVERT, why=None) in letter(two_ends(), BOT).untested


def two_ends():
    return with_result(rcu(), verifications=())


def test_boots_that_overlap_are_not_called_apart():
    assert Sure.APART in kinds(rcu())
    assert Sure.OVERLAP in kinds(two_modes())
    assert Sure.LUCK in kinds(hang())


def test_the_kernel_itself_is_said_with_workload_revert_and_layout_only():
    revert = judged(RES_LIMIT, Sample((1.0, 1.1)), Sample((9.0, 9.1)))
    report = with_check(rcu(), CheckName.REVERT, CheckStatus.PASS, revert)
    assert Concerns.KERNEL in kinds(report)
    # With the revert not tested, with no other layout, without the rows of the workload.
    assert Concerns.KERNEL not in kinds(rcu())
    assert Concerns.WITH_AND_WITHOUT in kinds(rcu())
    no_layout = with_check(report, CheckName.LAYOUT, CheckStatus.ABSENT)
    assert Concerns.KERNEL not in kinds(no_layout)
    off = [row for row in report.result.table if row.workload == "none"]
    assert Concerns.KERNEL not in kinds(with_result(report, table=tuple(off)))
    assert Concerns.NO_WORKLOAD in kinds(with_result(report, table=tuple(off)))
    # With rows of another figure beside the workload, and of this one where the commit changes
    # nothing then.
    loaded = [row for row in report.result.table if row.workload != "none"]
    other = [replace(row, metric=replace(row.metric, name="p90_us")) for row in loaded]
    flat = [replace(row, sample=loaded[0].sample) for row in loaded]
    for rows in (other, flat):
        told = kinds(with_result(report, table=(*off, *rows)))
        assert told.isdisjoint({Concerns.KERNEL, Concerns.WITH_AND_WITHOUT})


def test_tags_are_offered_for_what_is_the_kernels():
    tags = letter(rcu(), BOT).tags
    assert tags == Like(
        Footers.TAGS,
        reported_by="rtbisect <rtbisect@lab.example.org>",
        closes="https://lists.example.org/r/rcu-0002.1@lab.example.org",
        fixes=f'Fixes: {SHA[:12]} ("{rcu().culprit.subject}")',
    )
    assert letter(on_board(epoll()), BOT).tags is None
    assert letter(backport(), BOT).tags is None
    assert letter(replace(rcu(), synthetic_workload=True), BOT).tags is None
    subject = replace(rcu().culprit, subject="rcu: na\u00efve scan")
    assert letter(replace(rcu(), culprit=subject), BOT).tags.data["fixes"] == f"Fixes: {SHA[:12]}"


def test_what_is_known_of_newer_kernels_is_what_was_booted():
    assert Found.STILL in kinds(rcu())
    rows = tuple(
        replace(row, probability_bad=0.4) if row.sha == rcu().newer else row
        for row in rcu().result.tested
    )
    assert Found.PERHAPS_GONE in kinds(with_result(rcu(), tested=rows))
    # Nothing at all is not unknown.
    gone = tuple(replace(row, probability_bad=0.0) for row in rcu().result.tested)
    assert Found.PERHAPS_GONE in kinds(with_result(rcu(), tested=gone))
    silent = kinds(with_result(rcu(), tested=()))
    assert not silent & {Found.STILL, Found.PERHAPS_GONE}


@pytest.mark.parametrize("repo", ["/home/ada/linux.git", "file:///srv/git/linux.git"])
def test_where_a_copy_lies_is_nobodys_business(repo):
    assert first(letter(replace(rcu(), repo=repo), BOT).found, Found.RANGE)["tree"] == ""


def test_what_a_revert_brings_back_is_told_by_measurement_first():
    told = letter(rcu(), BOT).concerns
    assert first(told, Concerns.REPAIRED)["without"] == Like(Levels.BOOTS, seen=7, boots=12)
    # Then by what it says of itself.
    assert first(told, Concerns.REPAIRS) is None
    report = replace(rcu(), repaired=())
    assert first(letter(report, BOT).concerns, Concerns.REPAIRS) is not None
    assert Untested.WHAT_IT_REPAIRS not in kinds(rcu())
    assert Untested.WHAT_IT_REPAIRS in kinds(epoll())


def test_no_thing_is_both_known_and_not_tested():
    told = kinds(epoll())
    assert Concerns.ONLY_BESIDE in told
    assert Untested.WORKLOAD not in told
    assert Shows.SAME_KERNEL in told
    assert Untested.SAME_KERNEL not in told
    bare = kinds(with_result(epoll(), table=EPOLL.table[2:], gates=()))
    assert {Untested.WORKLOAD, Untested.SAME_KERNEL} <= bare
    assert Shows.SAME_KERNEL not in bare


def test_a_cause_is_told_once():
    why = Finding.of(Causes.ONLY_WITH, tool="")
    assert letter(with_result(epoll(), reasons=(why,)), BOT).reasons == ()
    report = replace(with_result(epoll(), outcome=Outcome.INCONCLUSIVE, reasons=(why,)))
    assert letter(report, BOT).reasons == (why,)


def test_cpus_that_are_not_isolated_are_not_called_so():
    report = replace(epoll(), profile=replace(epoll().profile, isolates=False))
    told = dict(letter(report, BOT).machine)
    assert told["machine"] == Like(Machines.TOPOLOGY, isolates=False)
    assert first([opening(report)], Where.EMULATED)["isolated"] == ""


@pytest.mark.parametrize(("smt", "told"), [(True, "on"), (False, "off")])
def test_a_profile_may_turn_smt_off(smt, told):
    report = replace(epoll(), profile=replace(epoll().profile, smt=smt))
    assert dict(letter(report, BOT).machine)["machine"] == Like(Machines.TOPOLOGY, smt=told)


def test_a_boot_line_tells_what_isolates_and_that_there_is_more():
    line = dict(letter(rcu(), BOT).machine)["boot line"].data["line"]
    assert line.split()[-1] == "..."
    assert "nohz_full=2-7" in line
    assert "console=ttyS0" not in line
    none = replace(rcu(), profile=replace(rcu().profile, boot_line=""))
    assert dict(letter(none, BOT).machine)["boot line"].data["line"] == "none"


def test_a_program_of_ours_is_no_application():
    assert first(letter(epoll(), BOT).concerns, Concerns.OURS)["source"]
    assert Untested.PRODUCTION in kinds(epoll())
    assert Concerns.OURS not in kinds(on_board(epoll()))
    row = next(row for row in EPOLL.table if row.workload != "none")
    site = f"site:load:{'0' * 12}"
    rows = tuple(
        replace(each, workload=site) if each.workload == row.workload else each
        for each in EPOLL.table
    )
    assert Concerns.OF_SITE in kinds(with_result(epoll(), table=rows))


def test_other_people_are_told_whom_it_hurts_and_who_answers():
    public = Public(
        recipients=None, approver="Ada Admin <ada@lab.example.org>", date="", use_case="Misses."
    )
    told = letter(rcu(), BOT, public)
    assert told.hurts == Like(Footers.HURTS, use_case="Misses.")
    assert told.closing == (Like(Footers.APPROVED, bot="rtbisect"),)
    assert told.before_sending == ()
    asked = letter(rcu(), BOT, replace(public, commands=True))
    assert Like(Footers.COMMANDS) in asked.closing


def test_the_operator_is_told_what_it_cost_and_whom_it_would_go_to():
    told = letter(rcu(), BOT)
    assert told.closing == (Like(Footers.COST, builds=7, boots=51),)
    assert told.before_sending[0] == Like(Footers.TO, address="zoe@kernel.example.org")
    assert letter(epoll(), BOT).before_sending == ()


def test_rows_without_preempt_rt_are_kernels_of_their_own():
    row = replace(EPOLL.table[0], kernel=KernelRole.PARENT_WITHOUT_RT)
    report = with_result(epoll(), table=(*EPOLL.table, row))
    assert letter(report, BOT).said == letter(epoll(), BOT).said


def test_another_machine_is_what_a_reader_asks_for():
    assert Untested.MACHINES in kinds(rcu())
    assert Untested.HARDWARE in kinds(epoll())
    assert Untested.HARDWARE not in kinds(replace(rcu(), device=BOARD))


def test_a_mail_says_where_its_page_is_published_and_only_then():
    _report, public = PUBLIC["public_regression"]()
    assert letter(rcu(), BOT, public).page == Finding.of(Online.PAGE, address=public.evidence)
    assert letter(rcu(), BOT, replace(public, evidence="")).page is None
    assert letter(rcu(), BOT).page is None


def test_a_metric_without_a_threshold_is_told_by_its_name():
    report = replace(rcu(), thresholds=())
    change = first([opening(report)], Changes.FIGURE)
    assert (change["title"], change["unit"]) == ("", "ms")
    unknown = with_result(report, metric=MetricKey("rcu", "other", "rcu-off"))
    assert opening(unknown) == Like(Opens.CULPRIT, beside="")
