# SPDX-License-Identifier: GPL-2.0-or-later
"""What a draft says, to whom, and what it keeps to itself."""

import json
import re
from dataclasses import replace
from email import message_from_string
from email.policy import default

import pytest

from helpers.report_cases import (
    BOARD,
    EPOLL,
    GATES,
    RES_LIMIT,
    STORY,
    backport,
    culprit_set,
    epoll,
    hang,
    irq_noise,
    nothing,
    rcu,
    settings,
    two_modes,
    vs_parent,
)
from rtbisect.errors import ConfigError, InfrastructureError, InternalError
from rtbisect.judge.gates.boot_gates import failed, passed
from rtbisect.judge.scale import badness
from rtbisect.model.campaign import (
    Better,
    Cause,
    Judgement,
    Level,
    Outcome,
    Sample,
    Scale,
    Verification,
)
from rtbisect.model.report import HostPart, ReportState
from rtbisect.report.averages import spread
from rtbisect.report.draft import DETAILS, DraftMailer, check_mailable, template_name
from rtbisect.report.headline_figure import test_name as name_of_test
from rtbisect.report.input_file import read_input
from rtbisect.report.lint.mail import BANNER
from rtbisect.report.lint.rules import lint
from rtbisect.report.message import date, guard
from rtbisect.report.policy import mailable
from rtbisect.report.template_values import context
from rtbisect.report.text import PROSE
from rtbisect.search.likelihood.features import Aspect


@pytest.fixture
def mailer(tmp_path):
    return DraftMailer(settings(tmp_path))


def body(mailer, report, log="git bisect start\n"):
    return mailer.body(report, log)


def parsed(eml):
    return message_from_string(eml, policy=default)


def lab(report):
    """The same campaign on a real machine with somebody else's workload."""
    return replace(report, device=BOARD, synthetic_workload=False)


def test_a_machine_of_a_lab_keeps_its_own_console(mailer):
    told = "boot line    console=ttyS0 panic=0"
    assert told in body(mailer, rcu())
    text = body(mailer, replace(rcu(), device=replace(BOARD, boot="ipxe")))
    assert "console=" not in text
    assert "boot line    panic=0" in text


def test_a_draft_goes_to_the_operator_alone(mailer):
    mail = parsed(mailer.draft(rcu(), STORY).eml)
    assert [a.addr_spec for a in mail["To"].addresses] == ["olga@lab.example.org"]
    assert mail["Cc"] is None
    assert mail["X-rtbisect-State"] == "draft"
    assert mail["X-rtbisect-Outcome"] == "culprit; cause=kernel"
    assert mail["Message-ID"] == "<rcu-0002.1@lab.example.org>"
    assert mail["Date"].datetime.isoformat() == "2026-01-31T10:20:30+00:00"


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
    assert subject(lab(epoll())).startswith("eventpoll: Replace rwlock with spinlock: ipi.res")
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


def test_claim_has_medians_unit_interval_boots_and_p(mailer):
    first = " ".join(body(mailer, epoll()).split("\n\n")[1].split())
    for words in ("8.55/s (parent)", "59.8/s (commit)", "a ratio of 6.66"):
        assert words in first
    assert "95% interval 5.03 to 9.12" in first
    assert "8 + 8 boots, one-sided rank test p = 7.8e-05" in first
    linear = " ".join(body(mailer, rcu()).split("\n\n")[0].split())
    assert "a difference of +3.00 ms (95% interval +3.00 to +3.00 ms)" in linear


@pytest.mark.parametrize(
    ("floor", "base", "new", "said"),
    [
        (1.0, 0.0, 39.7, "a ratio of 40.7 with 1/s added to both (95%"),
        (0.5, 8.0, 80.0, "a ratio of 9.47 with 0.5/s added to both (95%"),
        (0.1, 8.0, 80.0, "a ratio of 9.89 (95%"),
        (0.0, 8.0, 80.0, "a ratio of 10.0 (95%"),
    ],
)
def test_a_ratio_is_that_of_the_medians_or_says_what_was_added(mailer, floor, base, new, said):
    judgement = replace(
        EPOLL.verifications[0].judgement,
        base=Sample((base,) * 8),
        new=Sample((new,) * 8),
        effect=(new + floor) / (base + floor),
    )
    checks = (replace(EPOLL.verifications[0], judgement=judgement),)
    asked = replace(
        epoll(),
        result=replace(EPOLL, verifications=checks),
        thresholds=(replace(RES_LIMIT, floor=floor),),
    )
    assert said in " ".join(body(mailer, asked).split())


def test_without_a_threshold_no_ratio_is_named(mailer):
    text = body(mailer, replace(epoll(), thresholds=()))
    assert "a ratio of 6" not in text
    assert "59.8/s (commit)" in " ".join(text.split())


def test_without_a_parent_check_the_sides_are_the_ends(mailer):
    result = replace(EPOLL, verifications=EPOLL.verifications[1:])
    text = " ".join(body(mailer, replace(epoll(), result=result)).split())
    assert "(good end)" in text
    assert "a ratio of 6.76" in text


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
    result = replace(EPOLL, verifications=(Verification("revert on tip", status, None),))
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
    told = ("ends agree", f"{judged[1].key}: pass: by its numbers")
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
    told = body(mailer, replace(lab(epoll()), hosts=two))
    assert "  hosts        rt01: 30 boots, +2.1%; rt02: 12 boots, -5.1%. Compared" in told
    assert "hosts" not in body(mailer, lab(epoll()))
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
    assert "  # in a clone of demo-epoll (here from a local copy)\n" in text
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
    gates = (failed("meaning", why), passed("G10 A/A", "two series of 6 boots differ by 1.1"))
    reasons = (*(f"reason {n}" for n in range(9)), f"meaning: {why}")
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
        return f"parent {check.name.rpartition(' ')[2][:8]} "

    fitting, wide = body(mailer, epoll()), body(mailer, rcu())
    assert re.search(r"check +status +medians +effect", fitting)
    assert re.search(r"check +status +effect", wide)
    assert of(EPOLL.verifications[0]) in fitting
    assert of(rcu().result.verifications[0]) in wide
    shares = replace(RES_LIMIT, scale=Scale.LINEAR, statistic="fraction", unit="1")
    assert re.search(
        r"check +status +means +effect", body(mailer, replace(epoll(), thresholds=(shares,)))
    )


def test_every_outcome_has_a_mail(mailer):
    for outcome in Outcome:
        for cause in Cause:
            result = replace(EPOLL, outcome=outcome, cause=cause)
            text = body(mailer, replace(epoll(), result=result))
            assert text.startswith("Emulator data")
            assert "None" not in text
    assert template_name(epoll()) == "workload_dependent.txt.j2"
    assert template_name(replace(epoll(), culprit=None)) == "inconclusive.txt.j2"


def test_files_beside_the_mail(mailer, tmp_path):
    report = mailer.draft(epoll(), STORY)
    folder = tmp_path / "epoll-0001"
    assert sorted(p.name for p in folder.iterdir()) == [
        "bisect.log",
        "campaign.log",
        "input.json",
        "report.eml",
        "result.json",
    ]
    assert read_input(folder) == epoll()
    assert report.path == str(folder / "report.eml")
    assert report.state is ReportState.DRAFT
    assert (folder / "report.eml").read_text("ascii") == report.eml
    assert (folder / "bisect.log").read_text("ascii") == report.bisect_log
    assert (folder / "campaign.log").read_text("ascii") == report.story
    assert json.loads((folder / "result.json").read_text())["result"]["outcome"] == "culprit"
    again = mailer.draft(epoll(), STORY)
    assert again == report


def test_a_subject_adds_no_command_to_the_log(mailer):
    graph = epoll().graph
    evil = replace(graph.commits[3], subject="x\ngit bisect bad HEAD\rgit bisect reset")
    tested = tuple(replace(t, subject="y\ngit bisect reset") for t in EPOLL.tested)
    hostile = replace(
        epoll(),
        graph=replace(graph, commits=(*graph.commits[:3], evil, *graph.commits[4:])),
        result=replace(EPOLL, tested=tested),
    )

    def commands(log):
        return [line for line in log.splitlines() if not line.startswith("#")]

    plain = mailer.draft(epoll(), "").bisect_log
    assert commands(mailer.draft(hostile, "").bisect_log) == commands(plain)


@pytest.mark.parametrize("campaign", ["", "../x", "a/b", ".hidden", "x\n"])
def test_campaign_names_are_no_paths(mailer, campaign):
    with pytest.raises(InternalError, match="not the name of a campaign"):
        mailer.draft(replace(epoll(), campaign=campaign), "")


@pytest.mark.parametrize("operator", ["nobody", "a@b\nBcc: c@example.org", "\u00e9@example.org"])
def test_a_bad_operator_is_a_fault_of_the_configuration(mailer, operator):
    with pytest.raises(ConfigError, match="is not a mail address"):
        mailer.draft(replace(epoll(), operator=operator), "")


def test_operator_of_the_site_is_the_fallback(mailer):
    mail = parsed(mailer.draft(replace(epoll(), operator=""), "").eml)
    assert mail["To"].addresses[0].addr_spec == "olga@lab.example.org"


@pytest.mark.parametrize("message_id", ["", "<a@b>\nBcc: x@y", "two@at@signs"])
def test_bad_message_ids_are_ours(mailer, message_id):
    with pytest.raises(InternalError, match="not a Message-ID"):
        mailer.draft(replace(epoll(), message_id=message_id), "")


def test_a_spool_for_kcidb_gets_a_file_a_campaign(tmp_path):
    spool = tmp_path / "spool/kcidb"
    made = DraftMailer(settings(tmp_path, kcidb=("rtbisect", spool)))
    made.draft(rcu(), STORY)
    found = json.loads((spool / "rcu-0002.json").read_text())
    assert found["issues"][0]["misc"]["first_bad"] == rcu().result.culprit


def test_a_message_id_is_of_the_bots_host(mailer):
    report = mailer.draft(replace(epoll(), message_id="bisect-1.0123"), "")
    assert report.message_id == "bisect-1.0123@lab.example.org"
    assert parsed(report.eml)["Message-ID"] == "<bisect-1.0123@lab.example.org>"


def test_dates_are_utc_and_checked():
    assert date("2026-01-31T11:20:30+01:00").isoformat() == "2026-01-31T10:20:30+00:00"
    assert date("2026-01-31T10:20:30Z").tzname() == "UTC"
    with pytest.raises(InternalError, match="not a date"):
        date("yesterday")


def test_an_unwritable_folder_is_the_labs_fault(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="cannot keep a draft"):
        DraftMailer(settings(tmp_path / "file")).draft(epoll(), "")


def test_a_missing_template_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"workload_dependent\.txt\.j2"):
        DraftMailer(settings(tmp_path, templates=tmp_path)).draft(epoll(), "")


def test_guard_moves_active_lines_away_from_the_margin():
    text = guard("\n\nFrom here\n\n\n\n#regzbot x\n--- a\nAcked-by: x\nplain  \n\n")
    assert text == " From here\n\n #regzbot x\n --- a\n Acked-by: x\nplain\n"


def test_a_repair_is_told_as_one_and_goes_to_no_list(mailer):
    found = replace(epoll(), repair=True, synthetic_workload=False)
    metal = replace(found, device=replace(found.device, emulated=False))
    assert not mailable(metal)
    report = mailer.draft(metal, "told")
    text = " ".join(report.eml.split())
    assert "repairs what was broken before it: ipi.res_per_s" in text
    assert "Since " not in text
    assert "[internal]" in report.eml
    assert "git bisect start '--term-old=broken' '--term-new=fixed'" in report.bisect_log


def shown_in(mailer, report):
    return " ".join(body(mailer, report).split())


def test_a_part_of_a_figure_is_told_in_its_own_words(mailer):
    """A CPU beside the others is no rate: the numbers are how many times it has."""
    key = EPOLL.metric
    threshold = next(each for each in epoll().thresholds if each.key == key)
    figure = Aspect(view=2)
    quiet, loud = Sample((0.05, 0.06, 0.07)), Sample((2.1, 2.2, 2.3))
    reason = "new - base = +2.14 log, p = 0.001"
    judged = Judgement(key, Level.REGRESSED, quiet, loud, 2.14, (2.0, 2.2), 0.001, reason)
    told = figure.told(threshold, judged)
    assert told.reason == "new/base = 8.5, p = 0.001"
    assert told.effect == pytest.approx(8.5, rel=0.01)
    assert told.interval == pytest.approx((7.39, 9.03), rel=0.01)
    check = vs_parent("d435a6cd", "pass", told)
    found = replace(epoll(), result=replace(EPOLL, verifications=(check,)))
    text = shown_in(mailer, found)
    subject = parsed(mailer.draft(found, STORY).eml)["Subject"]
    assert "on the watched CPU number 2 beside the others 1.06 -> 9.03" in subject
    named = f"{key.suite}.{key.name} on the watched CPU number 2 beside the others"
    assert f"{named} rises from a median of 1.06 (parent) to 9.03 (commit)" in text
    assert "a ratio of 8.50 (95% interval 7.39 to 9.03)" in text
    assert "1.06 -> 9.03 8.50 [7.39..9.03]" in text


def test_what_is_better_higher_and_the_spread_are_turned_back():
    threshold = next(each for each in epoll().thresholds if each.key == EPOLL.metric)
    judged = Judgement(
        EPOLL.metric, Level.REGRESSED, Sample((-2.0,)), Sample((-1.0,)), 1.0, (0.5, 1.5), 0.1, ""
    )
    higher = replace(threshold, better=Better.HIGHER, scale=Scale.LINEAR)
    told = Aspect(mean=True).told(higher, judged)
    assert (told.base.values, told.effect, told.interval) == ((2.0,), -1.0, (-1.5, -0.5))
    assert (told.mean, told.unit) == (True, threshold.unit)
    told = Aspect(around=3.0).told(higher, judged)
    assert (told.effect, told.figure) == (1.0, "in the spread of the boots")
    assert Aspect().told(threshold, judged) is judged


def test_a_mean_of_logarithms_is_told_as_one(mailer):
    """One boot of 400 among zeros has the larger sum, and is not what was judged."""
    key = EPOLL.metric
    few, many = Sample((0.0,) * 25 + (400.0,)), Sample((0.0,) * 14 + (9.0,) * 12)
    threshold = next(each for each in epoll().thresholds if each.key == key)
    logs = [Sample(tuple(badness(threshold, v) for v in side.values)) for side in (few, many)]
    judged = Judgement(key, Level.REGRESSED, *logs, 0.8, (0.4, 1.2), 0.004, "so")
    check = vs_parent("d435a6cd", "pass", Aspect(mean=True).told(threshold, judged))
    text = shown_in(mailer, replace(epoll(), result=replace(EPOLL, verifications=(check,))))
    assert "in the mean of the boots, not in their median rises from a geometric mean of" in text


def test_shares_are_told_as_means(mailer):
    """Nine of 26 boots against none: the median of both is 0."""
    key = EPOLL.metric
    share = tuple(
        replace(t, statistic="fraction", scale=Scale.LINEAR, unit="1") if t.key == key else t
        for t in epoll().thresholds
    )
    none, some = Sample((0.0,) * 26), Sample((1.0,) * 9 + (0.0,) * 17)
    judged = Judgement(key, Level.REGRESSED, none, some, 9 / 26, (0.2, 0.5), 0.0001, "so")
    check = vs_parent("d435a6cd", "pass", judged)
    found = replace(epoll(), thresholds=share, result=replace(EPOLL, verifications=(check,)))
    text = shown_in(mailer, found)
    assert "rises from a mean of 0 (parent) to 0.346 (commit)" in text
    assert "0 -> 0.346 0.346 [0.200..0.500]" in text


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


def test_a_count_that_is_one_in_each_boot_is_no_machine_that_stands_still(tmp_path):
    report = irq_noise()
    never, always = Sample((0.0,) * 8), Sample((1.0,) * 8)
    found = replace(report.result.judgement, base=never, new=always)
    checks = tuple(replace(each, judgement=found) for each in report.result.verifications)
    rows = tuple(
        replace(row, sample=sample)
        for row, sample in zip(report.result.table, (never, always), strict=True)
    )
    result = replace(report.result, judgement=found, verifications=checks, table=rows)
    text = DraftMailer(settings(tmp_path)).draft(replace(report, result=result), "").eml
    assert "stand still" not in text
    assert "seen in" not in text
    assert "rises from a median" in " ".join(text.split())


@pytest.mark.parametrize("sides", [("base",), ("new",), ("base", "new")])
def test_a_report_without_its_figure_is_for_nobody(tmp_path, sides):
    report = rcu()
    nothing_there = dict.fromkeys(sides, Sample(()))
    found = replace(report.result.verifications[0].judgement, **nothing_there)
    checks = (replace(report.result.verifications[0], judgement=found),)
    crippled = replace(report, result=replace(report.result, verifications=checks))
    assert mailable(report)
    assert not mailable(crippled)
    with pytest.raises(ConfigError, match="not measured on both sides"):
        check_mailable(crippled)
    first = DraftMailer(settings(tmp_path)).draft(crippled, "").eml.partition("\n\n")[2]
    assert first.startswith("It was not measured on both sides: for the operator, not for a list.")
    assert len(first.partition("\n")[0]) <= PROSE
    assert BANNER.match(first)


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
    assert BANNER.match(text.partition("\n\n")[2])


def test_a_console_adds_no_command_and_no_trailer(tmp_path):
    said = ("#regzbot introduced: v1", "Signed-off-by: A <a@example.org>", "\x1b[31mred\x07", "")
    text = DraftMailer(settings(tmp_path)).draft(replace(hang(), excerpt=said), "").eml
    assert lint(text.encode()) == ()
    assert "#regzbot" not in text
    assert "Signed-off-by:" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("word", ["Signed-off-by: A B", "#regzbot x"])
def test_words_of_a_row_add_no_command_and_no_trailer(tmp_path, word):
    report = rcu()
    table = tuple(
        replace(row, workload=word if row.workload == "none" else row.workload, unit=word[:12])
        for row in report.result.table
    )
    found = replace(report, result=replace(report.result, table=table))
    text = DraftMailer(settings(tmp_path)).draft(found, "").eml
    assert "#regzbot" not in text
    assert "Signed-off-by:" not in text


def test_infinities_of_both_signs_have_no_mean(tmp_path):
    report = hang()
    wide = Sample((float("inf"), float("-inf")))
    table = tuple(replace(row, sample=wide) for row in report.result.table)
    found = replace(report, result=replace(report.result, table=table))
    assert "nan [-inf..inf]" in DraftMailer(settings(tmp_path)).draft(found, "").eml


def test_a_mean_of_what_a_number_just_holds_is_no_error():
    largest = Sample((1.7e308, 1.7e308))
    assert spread(largest, mean=True) == "nan [1.7e+308..1.7e+308]"


def test_a_histogram_is_there_where_boots_of_both_sides_are_mixed(tmp_path):
    def told(report):
        return "Boots by" in DraftMailer(settings(tmp_path)).draft(report, "").eml

    assert told(two_modes())
    assert not told(irq_noise())
    # A boot stands still or does not: the counts say all.
    assert not told(hang())


def test_a_mail_says_what_its_figure_is(tmp_path):
    report = irq_noise()
    said = " ".join(DraftMailer(settings(tmp_path)).draft(report, "").eml.split())
    assert f"osnoise.irq_per_sample: {report.thresholds[0].title}." in said


def test_what_is_known_of_newer_kernels_is_what_was_booted(tmp_path):
    def said(report):
        text = DraftMailer(settings(tmp_path)).draft(report, "").eml
        return " ".join(text.split())

    report = rcu()
    assert f"was booted, {report.bad[:12]}, still has it; newer ones" in said(report)
    rows = tuple(
        replace(row, probability_bad=0.4) if row.sha == report.bad else row
        for row in report.result.tested
    )
    unsure = replace(report, result=replace(report.result, tested=rows))
    assert "does not have it for sure; newer ones" in said(unsure)
    unknown = replace(report, result=replace(report.result, tested=()))
    assert "newest revision" not in said(unknown)


def test_the_test_is_called_what_it_is():
    report = rcu()
    found = report.result.verifications[0].judgement
    limit = report.thresholds[0]
    assert name_of_test(limit, found) == "one-sided rank test"
    hosts = tuple(f"h{n % 2}" for n in range(found.base.n))
    two = replace(found, base=replace(found.base, hosts=hosts))
    assert name_of_test(limit, two) == "one-sided rank test within hosts"
    share = replace(limit, statistic="fraction")
    assert name_of_test(share, found) == "one-sided permutation test of means"
