# SPDX-License-Identifier: GPL-2.0-or-later
"""What a mail says below its first sentences, and how sure it is, asked of its findings."""

from dataclasses import replace

import pytest

from helpers.findings import Like, all_of, first
from helpers.report_cases import backport, hang, rcu
from helpers.report_epoll import epoll
from helpers.report_parts import BOT, LONG, LONG_ON, RCU, RCU_LIMIT, SHORT, SHORT_ON, judged
from rtbisect.judge.gates.aa import same_kernel
from rtbisect.model.facts import LINKER
from rtbisect.model.kinds.judge import Gates, Told
from rtbisect.model.kinds.report import Concerns, Found, Levels, Machines, Shows, Sure, Untested
from rtbisect.model.result import CheckName, CheckStatus, GateName, GateStatus, Verification
from rtbisect.report.letter import letter


def kinds(report):
    return {each.kind for each in all_of(letter(report, BOT).said)}


def with_result(report, **other):
    return replace(report, result=replace(report.result, **other))


def with_revert(report, status, judgement=None):
    kept = tuple(each for each in report.result.verifications if each.check is not CheckName.REVERT)
    check = Verification(check=CheckName.REVERT, status=status, judgement=judgement)
    return with_result(report, verifications=(*kept, check))


def test_a_revert_that_settles_nothing_is_told_with_its_boots():
    judgement = backport().result.verifications[1].judgement
    report = with_revert(backport(), CheckStatus.UNDECIDED, judgement)
    told = first(letter(report, BOT).opening, Sure.REVERT_OPEN)
    assert told["level"] == Like(Levels.BOOTS, seen=7, boots=12)
    bare = with_revert(backport(), CheckStatus.UNDECIDED)
    assert first(letter(bare, BOT).opening, Sure.REVERT_OPEN)["level"] is None


def test_numbers_beside_the_other_workload_are_told():
    told = first(letter(rcu(), BOT).concerns, Concerns.WITH_AND_WITHOUT)
    assert told["workload"] == "clock-reader"
    values = [told[side].data["value"] for side in ("base", "new")]
    assert values == pytest.approx([6.135, 9.115])
    # Of what was searched beside it, what is there without.
    loaded = next(row.metric for row in rcu().result.table if row.workload != "none")
    limit = replace(RCU_LIMIT, key=loaded)
    check = replace(rcu().result.verifications[0], judgement=judged(limit, SHORT_ON, LONG_ON))
    report = with_result(rcu(), metric=loaded, verifications=(check,))
    told = first(
        letter(replace(report, thresholds=(limit,)), BOT).concerns, Concerns.WITH_AND_WITHOUT
    )
    assert (told["workload"], told["base"].data["value"]) == ("", pytest.approx(6.029))


def test_a_workload_beside_which_nothing_differs_is_not_told():
    off = [row for row in rcu().result.table if row.workload == "none"]
    loaded = [row for row in rcu().result.table if row not in off]
    flat = [
        replace(
            row,
            workload="membw",
            window="w9",
            metric=replace(row.metric, window="w9"),
            sample=loaded[0].sample,
        )
        for row in loaded
    ]
    for table in ((*off, *flat, *loaded), (*off, *loaded, *flat)):
        report = with_result(rcu(), table=table)
        told = first(letter(report, BOT).concerns, Concerns.WITH_AND_WITHOUT)
        assert told["workload"] == "clock-reader"


def test_a_tree_that_nobody_else_has_is_told_by_what_its_kernels_call_themselves():
    bare = replace(rcu(), repo="/srv/git/linux.git", names=())
    told = first(letter(bare, BOT).found, Found.RANGE)
    assert (told["release"], told["tree"]) == ("6.12.8-rt8", "")
    # A tag or an address says more.
    for known in (replace(bare, names=rcu().names), replace(bare, repo=rcu().repo)):
        assert first(letter(known, BOT).found, Found.RANGE)["release"] == ""


def test_where_nobody_counted_functions_the_mail_says_that():
    assert Untested.REACH not in kinds(epoll())
    assert Untested.REACH in kinds(rcu())
    absent = tuple(
        replace(gate, status=GateStatus.ABSENT) if gate.name == GateName.REACHABILITY else gate
        for gate in epoll().result.gates
    )
    assert Untested.REACH in kinds(with_result(epoll(), gates=absent))


def test_a_kernel_that_was_linked_anew_for_each_boot_is_told_so():
    report = replace(epoll(), facts=((LINKER, "LLD 14.0.6"),))
    kept = tuple(
        each
        for each in report.result.verifications
        if each.check not in (CheckName.BUILDS, CheckName.LAYOUT)
    )
    report = with_result(report, verifications=kept)
    linked = dict(letter(report, BOT).machine)["linked"]
    assert (linked.kind, linked.data["linker"]) == (Machines.LINKED, "LLD 14.0.6")
    assert Shows.RELINKED in kinds(report)
    assert Untested.LAYOUT not in kinds(report)
    plain = kinds(with_result(epoll(), verifications=kept))
    assert "linked" not in dict(letter(epoll(), BOT).machine)
    assert (Shows.RELINKED in plain, Untested.LAYOUT in plain) == (False, True)


def test_how_often_luck_tells_shares_apart_can_be_reckoned_from_them():
    luck = first(letter(hang(), BOT).opening, Sure.LUCK)
    # C(12, 8) of C(24, 8) ways to have the 8 boots of 0 + 8 in one of two sets of 12.
    assert luck["p"] == pytest.approx(495 / 735471)
    found = hang().result.verifications[0]
    hosts = tuple(f"h{number % 2}" for number in range(12))
    split = replace(found.judgement, base=replace(found.judgement.base, hosts=hosts))
    report = with_result(hang(), verifications=(replace(found, judgement=split),))
    within = first(letter(report, BOT).opening, Sure.LUCK)
    assert (within["p"], within["test"] == luck["test"]) == (split.p, False)


def test_what_luck_makes_of_boots_is_told_in_the_unit_of_the_figure():
    limit = replace(RCU_LIMIT, key=replace(RCU, name="p50_us"), unit="us")
    slow, fast = LONG, SHORT
    check = replace(rcu().result.verifications[0], judgement=judged(limit, fast, slow))
    gate = same_kernel(limit, fast, slow)
    assert gate.reason.data["luck"] == Like(Told.SHIFT, unit="us")
    report = replace(rcu(), thresholds=(limit,))
    report = with_result(report, metric=limit.key, verifications=(check,), gates=(gate,))
    luck = first(letter(report, BOT).proof, Gates.LUCK)
    assert {luck[name].data["unit"] for name in ("luck", "change")} == {"ms"}
    assert luck["change"].data["difference"] == pytest.approx(2.98, abs=0.01)
