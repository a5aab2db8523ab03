# SPDX-License-Identifier: GPL-2.0-or-later
"""What a draft says, to whom, and what it keeps to itself."""

import re
from dataclasses import replace

import pytest

from helpers.drafts import body, parsed, shown_in
from helpers.findings import said, words
from helpers.report_cases import backport, hang, rcu
from helpers.report_epoll import EPOLL, GATES, culprit_set, epoll, nothing
from helpers.report_parts import BOARD, RES_LIMIT, on_board, settings
from rtbisect.errors import ConfigError
from rtbisect.judge.gates.boot_gates import failed, passed
from rtbisect.model.campaign import Cause, Level, Outcome, Scale, Sought, Statistic
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Reasons
from rtbisect.model.kinds.recipe import Recipe
from rtbisect.model.report import HostPart
from rtbisect.model.result import CheckName, CheckStatus, Verification
from rtbisect.report.draft import DETAILS, DraftMailer, template_name
from rtbisect.report.lint.rules import lint
from rtbisect.report.own import check_mailable, mailable
from rtbisect.report.template_values import banner, context


def test_a_machine_of_a_lab_keeps_its_own_console(mailer):
    told = "boot line    console=ttyS0 panic=0"
    assert told in body(mailer, rcu())
    text = body(mailer, replace(rcu(), device=replace(BOARD, boot="ipxe")))
    assert "console=" not in text
    assert "boot line    panic=0" in text


@pytest.mark.words
@pytest.mark.parametrize(
    ("emulated", "synthetic", "words", "absent"),
    [
        (True, True, ["Emulator", "synthetic"], []),
        (True, False, ["Emulator"], ["ynthetic"]),
        (False, True, ["Synthetic"], ["mulator"]),
    ],
)
def test_first_line_says_why_it_is_not_for_a_list(mailer, emulated, synthetic, words, absent):
    device = replace(BOARD, emulated=emulated)
    text = body(mailer, replace(rcu(), device=device, synthetic_workload=synthetic))
    first = text.splitlines()[0]
    assert "not for a list" in first
    assert all(word in first for word in words)
    assert not any(word in first for word in absent)
    assert "Reported-by" not in text
    assert "get_maintainer" not in text


def test_subject_marks_a_regression_only_of_the_kernel_itself(mailer):
    def subject(report):
        return parsed(mailer.draft(report, "").eml)["Subject"]

    assert subject(rcu()).startswith("[REGRESSION] rcu: Delay the first scan")
    assert subject(rcu()).endswith("rcu.p50_ms 6.00 -> 9.00 ms")
    assert subject(on_board(epoll())).startswith("eventpoll: Replace rwlock with spinlock: ipi.res")
    assert subject(epoll()).startswith("[internal] eventpoll")
    assert "[REGRESSION]" not in subject(replace(rcu(), synthetic_workload=True))
    assert subject(culprit_set()).startswith("[internal] culprit_set in ")


def test_mailable_reports_offer_tags_but_sign_nothing(mailer):
    text = body(mailer, rcu())
    assert "  Reported-by: rtbisect <rtbisect@lab.example.org>\n" in text
    assert "  Closes: https://lists.example.org/r/rcu-0002.1@lab.example.org\n" in text
    assert f'  Fixes: {rcu().culprit.sha[:12]} ("{rcu().culprit.subject}")\n' in text
    assert "- To: Zoe Developer <zoe@kernel.example.org>\n" in text
    assert "Signed-off-by" not in text
    assert "Tested-by" not in text


def test_a_title_that_is_not_ascii_is_left_out_of_the_fixes_tag(mailer):
    culprit = replace(rcu().culprit, subject="rcu: na\u00efve scan")
    text = body(mailer, replace(rcu(), culprit=culprit))
    assert f"  Fixes: {culprit.sha[:12]}\n" in text


def test_sentences_need_their_rows(mailer):
    full = " ".join(body(mailer, epoll()).split())
    assert "With no workload ipi.res_per_s is 1.20 [1.00..1.50]/s" in full
    assert "the ranges of the boots overlap" in full
    assert "With the commit reverted the tip does better again" in full
    bare = replace(EPOLL, table=EPOLL.table[2:], verifications=())
    text = " ".join(body(mailer, replace(epoll(), result=bare)).split())
    assert "With no workload" not in text
    assert "its part in the effect is not known" in text
    assert "A revert on the tip was not tested." in text
    assert "does better again" not in text
    assert "Two series of boots" not in text


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("pass", "the tip does better again"),
        ("fail", "the tip does no better"),
        ("undecided", "do not decide"),
        ("n/a", "A revert on the tip was not tested"),
    ],
)
def test_revert_sentence_follows_the_status(mailer, status, sentence):
    check = Verification(check=CheckName.REVERT, status=CheckStatus(status), judgement=None)
    result = replace(EPOLL, verifications=(check,))
    assert sentence in " ".join(body(mailer, replace(epoll(), result=result)).split())


def test_guards_and_other_metrics_stay_in_the_table(mailer):
    third = replace(EPOLL.table[0], kernel="tip+revert")
    rows = EPOLL.table + tuple(
        replace(row, metric=replace(row.metric, name=f"extra_{i}"))
        for i in range(9)
        for row in (*EPOLL.table[:2], third)
    )
    text = body(mailer, replace(epoll(), result=replace(EPOLL, table=rows)))
    assert "ipi.res_per_s in clock-on, /s, beside perf-epoll-reader" in text
    assert "  more in result.json" in text
    # The last group is whole: no heading without a row, and no row without the other kernel.
    shown = text[text.index("median [min") : text.index("  more in")].splitlines()
    assert [line.split()[0] for line in shown[-3:]] == ["parent", "culprit", "tip+revert"]


def test_the_factor_table_tells_names_whole(mailer):
    key, workload = EPOLL.table[0].metric, "perf-epoll-reader:pf"
    rows = tuple(
        replace(row, metric=replace(key, name="res_per_iwi"), workload=workload, unit="1")
        for row in EPOLL.table[:2]
    )
    text = body(mailer, replace(epoll(), result=replace(EPOLL, table=rows)))
    assert f"  ipi.res_per_iwi in {key.window}, beside {workload}\n" in text


def test_nothing_found_lists_every_judged_metric(mailer):
    judged = nothing().result.judgements
    by_numbers = Finding.of(
        Reasons.JUDGED, metric=str(judged[1].key), level="pass", why=said("by its numbers")
    )
    told = (said("ends agree"), by_numbers)
    silent = replace(nothing().result, metric=None, judgement=None, reasons=told)
    text = body(mailer, replace(nothing(), result=silent))
    assert "No regression of the judged metrics" in text
    assert "- ends agree\n" in text
    assert "by its numbers" not in text
    assert sum(line.startswith("  ipi.res_per_s@") for line in text.splitlines()) == 2
    many = replace(silent, judgements=judged * 7)
    assert "  2 more metrics in result.json" in body(mailer, replace(nothing(), result=many))


def test_of_many_judged_metrics_those_that_do_not_pass_are_told(mailer):
    judged = nothing().result.judgements[:1]
    last = replace(judged[0], level=Level.UNDECIDED)
    result = replace(nothing().result, judgements=judged * 12 + (last,))
    text = body(mailer, replace(nothing(), result=result))
    rows = [line.split() for line in text.splitlines() if line.startswith(f"  {last.key}")]
    assert [row[1] for row in rows] == ["undecided"] + ["pass"] * 11
    assert "  1 more metric in result.json" in text


def test_several_hosts_are_told_with_what_each_adds(mailer):
    two = (HostPart("rt01", 30, 1.021), HostPart("rt02", 12, 0.949))
    told = body(mailer, replace(on_board(epoll()), hosts=two))
    assert "  hosts        rt01: 30 boots, +2.1%; rt02: 12 boots, -5.1%. Compared" in told
    assert "hosts" not in body(mailer, on_board(epoll()))
    # On a linear scale it is a difference.
    report = replace(epoll(), hosts=two)
    linear = replace(RES_LIMIT, scale=Scale.LINEAR)
    told = body(mailer, replace(report, thresholds=(linear,)))
    assert "rt01: 30 boots, +1.02 1/s" in told
    unknown = tuple(replace(host, adds=None) for host in two)
    told = body(mailer, replace(epoll(), hosts=unknown))
    assert "rt02: 12 boots. Not told apart from" in told


@pytest.mark.parametrize("repo", ["/home/ada/linux.git", "file:///srv/git/linux.git"])
def test_where_a_copy_lies_here_is_nobodys_business(mailer, repo):
    text = body(mailer, replace(epoll(), repo=repo))
    assert f"  # {words(Finding.of(Recipe.LOCAL_CLONE, tree='demo-epoll'))}\n" in text
    assert repo not in text


def test_long_logs_stay_in_their_file(mailer):
    asked = replace(epoll(), result=replace(EPOLL, origins=()))
    short = mailer.rendered(asked, "git bisect good 1\n" * 20, DETAILS[0])
    assert short.count("git bisect good 1") == 20
    long = body(mailer, asked, "git bisect good 1\n" * 41)
    assert "git bisect good" not in long
    assert "has 41 lines and is in the file bisect.log" in " ".join(long.split())


@pytest.mark.parametrize("detail", [pytest.param(d, id=str(n)) for n, d in enumerate(DETAILS)])
def test_what_speaks_against_a_report_is_never_cut(mailer, detail):
    """However much else there is to tell, and said once."""
    why = "the commit changes arch/x86/kernel/irq.c, which makes the figures of the suite"
    alike = said("two series of 6 boots differ by 1.1")
    gates = (failed("meaning", said(why)), passed("G10 A/A", alike))
    objection = Finding.of(Reasons.OBJECTION, gate="meaning", why=said(why))
    reasons = (*(said(f"reason {n}") for n in range(9)), objection)
    asked = replace(epoll(), result=replace(EPOLL, gates=(*gates, GATES[0]), reasons=reasons))
    text = " ".join(context(asked, mailer.bot, "", detail)["objections"])
    assert text == f"meaning: {why}"
    whole = " ".join(mailer.rendered(asked, "", detail).split())
    assert whole.count("which makes the figures of the suite") == 1
    assert whole.index(why) < whole.index("Since ")
    assert "Boots of one kernel: two series of 6 boots differ by 1.1." in whole


def test_checks_are_told_whole_and_without_medians_if_need_be(mailer):
    """What they were made on is not cut; the medians stand in the table above."""

    def of(check):
        return f"parent {check.parent[:8]} "

    short = replace(epoll(), result=replace(EPOLL, verifications=EPOLL.verifications[:1]))
    fitting, wide = body(mailer, short), body(mailer, rcu())
    assert re.search(r"check +status +medians +effect", fitting)
    assert re.search(r"check +status +effect", wide)
    assert of(EPOLL.verifications[0]) in fitting
    assert of(rcu().result.verifications[0]) in wide
    shares = replace(RES_LIMIT, scale=Scale.LINEAR, statistic=Statistic.FRACTION, unit="1")
    assert re.search(
        r"check +status +means +effect", body(mailer, replace(short, thresholds=(shares,)))
    )


@pytest.mark.words
def test_every_outcome_has_a_mail(mailer):
    for outcome in Outcome:
        for cause in Cause:
            result = replace(EPOLL, outcome=outcome, cause=cause)
            text = body(mailer, replace(epoll(), result=result))
            assert text.startswith("Emulator data")
            assert "None" not in text
    assert template_name(epoll()) == "workload_dependent.txt.j2"
    assert template_name(replace(epoll(), culprit=None)) == "inconclusive.txt.j2"


def test_a_repair_is_told_as_one_and_goes_to_no_list(mailer):
    found = replace(epoll(), sought=Sought.REPAIR, synthetic_workload=False)
    metal = replace(found, device=replace(found.device, emulated=False))
    assert not mailable(metal)
    report = mailer.draft(metal, ())
    text = " ".join(report.eml.split())
    assert "repairs what was broken before it: ipi.res_per_s" in text
    assert "Since " not in text
    assert "[internal]" in report.eml
    assert "git bisect start '--term-old=broken' '--term-new=fixed'" in report.bisect_log


def test_no_workload_is_said_only_where_nothing_runs(mailer):
    tool = "the tool perf-epoll-reader"
    rows = tuple(
        replace(row, workload=tool) if row.metric == EPOLL.metric else row for row in EPOLL.table
    )
    text = shown_in(mailer, replace(epoll(), result=replace(EPOLL, cause=Cause.KERNEL, table=rows)))
    assert f"Beside {tool} {EPOLL.metric.suite}.{EPOLL.metric.name}" in text
    assert f"lava-jobs/workloads/{tool}" not in text


@pytest.mark.parametrize(("smt", "said"), [(True, "SMT on"), (False, "SMT off")])
def test_a_profile_may_turn_smt_off(mailer, smt, said):
    report = replace(epoll(), profile=replace(epoll().profile, smt=smt))
    assert said in shown_in(mailer, report)


def test_cpus_that_are_not_isolated_are_not_called_so(mailer):
    report = replace(epoll(), profile=replace(epoll().profile, isolates=False))
    assert "CPUs not isolated 2-7;" in shown_in(mailer, report)


@pytest.mark.words
@pytest.mark.parametrize("case", [hang, backport])
def test_what_stands_still_is_not_told_without_its_console(tmp_path, case):
    report = case()
    silent = replace(report, excerpt=())
    assert mailable(report)
    with pytest.raises(ConfigError, match="No console of what stands still"):
        check_mailable(silent)
    text = DraftMailer(settings(tmp_path)).draft(silent, "").eml
    assert "Console of a boot" not in text
    assert lint(text.encode()) == ()
    assert text.partition("\n\n")[2].startswith(banner(silent))


def test_what_is_known_of_newer_kernels_is_what_was_booted(tmp_path):
    def said(report):
        text = DraftMailer(settings(tmp_path)).draft(report, "").eml
        return " ".join(text.split())

    report = rcu()
    assert f"was booted, {report.newer[:12]}, still has it; newer ones" in said(report)
    rows = tuple(
        replace(row, probability_bad=0.4) if row.sha == report.newer else row
        for row in report.result.tested
    )
    unsure = replace(report, result=replace(report.result, tested=rows))
    assert "does not have it for sure; newer ones" in said(unsure)
    unknown = replace(report, result=replace(report.result, tested=()))
    assert "newest revision" not in said(unknown)
