# SPDX-License-Identifier: GPL-2.0-or-later
"""What a draft says, to whom, and what it keeps to itself."""

from dataclasses import replace

import pytest

from helpers.drafts import body, parsed
from helpers.findings import said
from helpers.report_cases import backport, hang, rcu
from helpers.report_epoll import EPOLL, GATES, culprit_set, epoll, nothing
from helpers.report_parts import BOARD, on_board, settings
from rtbisect.errors import ConfigError
from rtbisect.judge.gates.boot_gates import failed
from rtbisect.model.campaign import Cause, Level, Outcome, Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Reasons
from rtbisect.report.draft import DETAILS, MOST_LINES, DraftMailer, template_name
from rtbisect.report.letter import letter
from rtbisect.report.lint.rules import lint
from rtbisect.report.mail_values import banner
from rtbisect.report.own import check_mailable, mailable


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
    assert subject(on_board(epoll())).startswith("eventpoll: Replace rwlock with spinlock: ")
    assert subject(epoll()).startswith("[internal] eventpoll")
    assert "[REGRESSION]" not in subject(replace(rcu(), synthetic_workload=True))
    assert subject(culprit_set()).startswith("[internal] ")


@pytest.mark.words
@pytest.mark.parametrize("outcome", [each for each in Outcome if each is not Outcome.CULPRIT])
def test_a_subject_has_no_word_of_the_program_for_its_answer(mailer, outcome):
    report = culprit_set()
    report = replace(report, result=replace(report.result, outcome=outcome))
    subject = parsed(mailer.draft(report, "").eml)["Subject"]
    assert str(outcome) not in subject


def test_mailable_reports_offer_tags_but_sign_nothing(mailer):
    text = body(mailer, rcu())
    assert "  Reported-by: rtbisect <rtbisect@lab.example.org>\n" in text
    assert "  Closes: https://lists.example.org/r/rcu-0002.1@lab.example.org\n" in text
    assert f'  Fixes: {rcu().culprit.sha[:12]} ("{rcu().culprit.subject}")\n' in text
    assert "Signed-off-by" not in text
    assert "Tested-by" not in text
    assert "Fixes:" not in body(mailer, on_board(epoll()))


@pytest.mark.words
def test_the_table_has_a_row_for_each_kernel_and_a_column_for_each_level(mailer):
    text = body(mailer, epoll())
    rows = [line.split() for line in text.splitlines() if line.startswith(("  parent", "  commit"))]
    assert [row[1:3] for row in rows] == [
        [EPOLL.verifications[0].parent, "8.55"],
        [EPOLL.culprit[:12], "59.8"],
    ]
    assert [row[-1] for row in rows] == ["8", "8"]
    assert [row[4] for row in rows] == ["1.20", "1.15"]


def test_what_has_no_room_in_the_table_is_on_the_page(mailer):
    more = tuple(
        replace(row, metric=replace(row.metric, window=f"dose-{i}"), workload="w" * 60)
        for i in range(9)
        for row in EPOLL.table[2:]
    )
    text = body(mailer, replace(epoll(), result=replace(EPOLL, table=EPOLL.table + more)))
    assert all(len(line) <= 76 for line in text.splitlines())
    assert "59.8 [40.7..82.6]" in text


def test_nothing_found_lists_every_judged_metric(mailer):
    judged = nothing().result.judgements
    by_numbers = Finding.of(
        Reasons.JUDGED, metric=str(judged[1].key), level="pass", why=said("by its numbers")
    )
    told = (said("ends agree"), by_numbers)
    silent = replace(nothing().result, metric=None, judgement=None, reasons=told)
    text = body(mailer, replace(nothing(), result=silent))
    assert "- ends agree\n" in text
    assert "by its numbers" not in text
    assert sum(line.startswith("    ") and "8+8" in line for line in text.splitlines()) == 2
    many = replace(silent, judgements=judged * 7)
    assert "  2 more figures in result.json" in body(mailer, replace(nothing(), result=many))


def test_of_many_judged_metrics_those_that_do_not_pass_are_told(mailer):
    judged = nothing().result.judgements[:1]
    last = replace(judged[0], level=Level.UNDECIDED)
    result = replace(nothing().result, judgements=judged * 12 + (last,))
    text = body(mailer, replace(nothing(), result=result))
    words = text.split()
    assert [each for each in words if each in list(Level)] == ["undecided"] + ["pass"] * 11
    assert "  1 more figure in result.json" in text


@pytest.mark.parametrize("detail", [pytest.param(d, id=str(n)) for n, d in enumerate(DETAILS)])
def test_what_speaks_against_a_report_is_never_cut(mailer, detail):
    """However much else there is to tell, and said once."""
    why = "the commit changes arch/x86/kernel/irq.c, which makes the figures of the suite"
    gates = (failed("meaning", said(why)), GATES[0])
    objection = Finding.of(Reasons.OBJECTION, gate="meaning", why=said(why))
    reasons = (*(said(f"reason {n}") for n in range(9)), objection)
    asked = replace(epoll(), result=replace(EPOLL, gates=gates, reasons=reasons))
    whole = " ".join(mailer.rendered(asked, letter(asked, mailer.bot), detail).split())
    assert whole.count("which makes the figures of the suite") == 1
    assert whole.index(why) < whole.index(EPOLL.culprit[:12])


@pytest.mark.words
def test_every_outcome_has_a_mail(mailer):
    for outcome in Outcome:
        for cause in Cause:
            result = replace(EPOLL, outcome=outcome, cause=cause)
            text = body(mailer, replace(epoll(), result=result))
            assert text.startswith("Emulator data")
            assert "None" not in text
            assert len(text.splitlines()) <= MOST_LINES
    assert template_name(epoll()) == "mail.txt.j2"
    assert template_name(replace(epoll(), culprit=None)) == "operator.txt.j2"


def test_a_repair_of_a_figure_goes_to_no_list(mailer):
    found = replace(epoll(), sought=Sought.REPAIR, synthetic_workload=False)
    metal = replace(found, device=replace(found.device, emulated=False))
    assert not mailable(metal)
    report = mailer.draft(metal, ())
    assert "[internal]" in report.eml
    assert "git bisect start '--term-old=broken' '--term-new=fixed'" in report.bisect_log


def test_the_console_of_what_stands_still_has_whole_stacks(mailer):
    stack = "rtbisect-stack: reader: " + " < ".join(f"function_{n}" for n in range(12))
    report = replace(hang(), excerpt=("rtbisect-symptom: frozen nr_periods", *(stack,) * 9))
    text = body(mailer, report)
    assert text.count("  reader: ") == text.count("function_11") > 0
    # Neither the mark of a device script nor what it waited for.
    assert "rtbisect-" not in text[text.index("  reader: ") :].partition("\n\n")[0]


@pytest.mark.words
@pytest.mark.parametrize("case", [hang, backport])
def test_what_stands_still_is_not_told_without_its_console(tmp_path, case):
    report = case()
    silent = replace(report, excerpt=())
    assert mailable(report)
    with pytest.raises(ConfigError, match="No console of what stands still"):
        check_mailable(silent)
    text = DraftMailer(settings(tmp_path)).draft(silent, "").eml
    assert "  reader: " not in text
    assert lint(text.encode()) == ()
    assert text.partition("\n\n")[2].startswith(banner(silent))
