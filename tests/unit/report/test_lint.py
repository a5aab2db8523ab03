# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of mails, on our golden mails, a mail as a withdrawn report had it, and one change each."""

from pathlib import Path

import pytest

from helpers.linted_mail import BODY, HEADERS, mail, rules
from rtbisect.report.lint.rules import RULES, lint

DATA = Path(__file__).resolve().parents[2]
GOLDEN = sorted((DATA / "golden/mails").glob("*.eml"))
WITHDRAWN = (DATA / "data/mails/withdrawn.eml").read_bytes()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_our_mails_are_clean(path):
    assert lint(path.read_bytes()) == ()


def test_a_good_mail_is_clean():
    assert lint(mail()) == ()


def test_the_withdrawn_report_is_refused():
    found = rules(WITHDRAWN)
    told = {finding.rule: finding for finding in lint(WITHDRAWN)}
    assert set(found) == {
        "subject", "encoding", "width", "regression-mark", "claim", "versions", "smt", "machine",
        "compiler", "config", "boots", "spread", "controls", "tip", "sum-as-maximum",
        "nanoseconds", "same-counter", "instrument", "asks-revert",
    }  # fmt: skip
    assert "MAX_NOISE" in told["sum-as-maximum"].problem
    assert "eosnoise" in told["instrument"].problem
    assert "588245" in told["same-counter"].problem


@pytest.mark.parametrize(
    ("console", "found"),
    [
        ("", ["console"]),
        ("  rcu_preempt detected stalls on CPUs/tasks\n", []),
        ("  __schedule+0x2e7/0x6a0\n", []),
        ("  INFO: task epollstall:412 blocked for more than 120 seconds.\n", []),
        ("The dmesg of it is in boot.log there.\n", []),
        ("  boot line console=ttyS0\n", ["console"]),
    ],
)
def test_what_hangs_is_told_with_its_console(console, found):
    claim = 'Since 0123456789ab ("epoll: Take another lock") machines hang in 8 of\n12 boots.\n'
    rest = BODY.partition("\n\n")[2]
    assert rules(mail(body=f"{claim}\n{rest}\n{console}")) == found


def test_a_title_alone_is_no_hang():
    assert rules(mail(body=BODY.replace("epoll: Take another lock", "rcu: Mend a stall"))) == []


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        # Measured figures of two checks, and of two kernels.
        (("a  pass  1.20 -> 59.8/s  35.5 [28.1..44.9]  7.8e-05  8+8",) * 2, True),
        (("a  8.55 [3.30..13.1]  8",) * 2, True),
        (("a  8.55 [3.30..13.1]  8", "b  8.55 [3.31..13.1]  8"), False),
        # Shares of boots are counts; so many steps of a clock are few values; p may be the least.
        (("a  pass  0.667 [0.417..0.917]  0.0005  12+12",) * 2, False),
        (("a  pass  0.667 [0.417..0.912]  0.0005  12+12",) * 2, True),
        (("a  3.00 [2.99..3.00] ms  7.8e-05  8+8",) * 2, False),
        (("a  0.00 [0.00..0.00]  8",) * 2, False),
        (("a  9030 [9010..9050]  6",) * 2, False),
    ],
)
def test_figures_of_two_series_are_never_the_same(rows, found):
    table = "\n".join(f"  {row}" for row in rows)
    assert ("same-figures" in rules(mail(body=f"{BODY}\n{table}\n"))) is found
    apart = "\n\n".join(f"  {row}" for row in rows)
    assert "same-figures" not in rules(mail(body=f"{BODY}\n{apart}\n"))


HEADER_CHANGES = [
    ("Content-Type: text/plain", "Content-Type: text/html", "plain-text"),
    ('charset="us-ascii"', 'charset="us-ascii"; format=flowed', "flowed"),
    ("7bit", "8bit", "encoding"),
    ("us-ascii", "iso-8859-1", "charset"),
    ("Subject: [REG", "Subject: =?utf-8?q?x?= [REG", "subject"),
    ("8.55 -> 59.8/s\n", "8.55 -> 59.8/s " + "x" * 90 + "\n", "subject"),
    ("From: ", "From: a@example.org\nFrom: ", "headers"),
    ("Date: Sat, 31 Jan 2026 10:20:30 +0000\n", "", "headers"),
    ("<epoll-1@lab.example.org>", "epoll-1", "message-id"),
    ("31 Jan 2026", "31 Jan 2999", "date"),
    ("31 Jan 2026", "31 Jan 1970", "date"),
    ("Date: Sat", "Date: some day, Sat 99", "date"),
    ("author@kernel.example.org", "author@", "recipients"),
    ("Cc: ", "Cc: author@kernel.example.org, ", "recipients"),
    ("Cc: ", "Bcc: hidden@example.org\nCc: ", "recipients"),
    ("Cc: ", "Cc: " + ", ".join(f"m{n}@example.org" for n in range(40)) + ", ", "recipients"),
    (" <patch-1@kernel.example.org>\nX-", "\nX-", "thread"),
    ("In-Reply-To: <", "In-Reply-To: <a@b> <", "thread"),
    ("Cc: regressions@lists.linux.dev\n", "", "regression-mark"),
    ("cause=kernel", "cause=workload-dependent", "regression-mark"),
    ("[REGRESSION] epoll", "regression of epoll", "regression-mark"),
    ("cause=kernel", "cause=tool-induced", "instrument"),
    ("cause=kernel", "cause=workload-dependent", "regzbot-right"),
    ("X-", "X-rtbisect-State: draft\nX-", "regzbot-right"),
    ("X-rtbisect-Reviewed-By: A Person <person@lab.example.org>\n", "", "not-for-lists"),
]  # fmt: skip

BODY_CHANGES = [
    ("IPIs rises", "IPIs <b>rises</b> <br>", "plain-text"),
    ("8.55/s to", "8.55/s \u2192", "charset"),
    ("Found in", "Found in 5 \u00b5s", "charset"),
    ("Without the workload", "Without the workload and " + "so on " * 12, "width"),
    ("  parent   8.55", "  parent " + "x " * 30 + "  8.55", "width"),
    ("A revert", "A revert\n" * 130, "size"),
    ("A revert", "A revert\n" + ("x" * 60 + "\n") * 140, "size"),
    ("  parent   ", "  parent\t", "clean"),
    ("Xeon, boot line\n", "Xeon, boot line \n", "clean"),
    ("IPIs rises", "IPIs\x1b[31m rises", "clean"),
    ("SMT is", "---\nSMT is", "clean"),
    ("SMT is", "From here SMT is", "clean"),
    ("\n\nFound", "\n\n\nFound", "clean"),
    ("  Reported-by", "  Tested-by: r <r@lab.example.org>\n  Reported-by", "personal-tag"),
    ("epoll-1@lab.example.org\n  Fixes", "another@lab.example.org\n  Fixes", "closes"),
    ("  Closes: https://lists.example.org/r/epoll-1@lab.example.org\n", "", "closes"),
    ("  Closes: https://lists.example.org/r/epoll-1@lab.example.org\n", "", "offered-tags"),
    ('another lock")\n', 'another\n   lock")\n', "fixes"),
    ("Fixes: 0123456789ab", "Fixes: 01234567", "fixes"),
    ("#regzbot intro", "# regzbot intro", "regzbot-form"),
    ("\n\nFound", "\nFound", "regzbot-form"),
    ("#regzbot title", "#regzbot dup-of: x\n#regzbot title", "regzbot-form"),
    ("#regzbot introduced: 0123456789ab\n", "", "regzbot-form"),
    ("#regzbot title", "#regzbot link: that thread\n#regzbot title", "regzbot-id"),
    ("introduced: 0123456789ab", "introduced: 0123", "regzbot-id"),
    ("introduced: 0123456789ab", "introduced: v6.12.3..v6.13-rc1", "regzbot-id"),
    ("the rate of reschedule\nIPIs rises from 8.55/s to 59.8/s", "there are many IPIs", "claim"),
    ("v6.12..v6.13-rc1", "a tree", "versions"),
    ("SMT is on. ", "", "smt"),
    ("machine is a Xeon", "thing is big", "machine"),
    ("boot line\nnohz_full=2-7", "as usual", "boot-line"),
    ("gcc 12, ", "", "compiler"),
    ("config rt", "as usual", "config"),
    ("8 boots each", "often", "boots"),
    ("Without the workload", "On all of them", "controls"),
    ("A revert was tested.", "", "revert"),
    ("still bad on the tip", "", "tip"),
    ("still bad on the tip", "a revert on the tip was tested", "tip"),
    ("8.55/s to 59.8/s", "not measured to 59.8/s", "claim"),
    ("A revert was tested.", "Please do revert it.", "asks-revert"),
    ("8.55/s to", "NN/s to", "placeholder"),
    (" with SHA256SUMS", "", "evidence"),
    ("https://lab.example.org/epoll-1/", "ask us", "evidence"),
    ("  Fixes:", '  Fixes: abcdefabcdef ("another")\n  Fixes:', "one-issue"),
    ("A revert was", "Noise was 10 ns. A revert was", "nanoseconds"),
    ("gcc 12", "bpftrace, gcc 12", "instrument"),
    ("A revert was tested.", "Please revert it, as it does not work and no way is around.",
     "asks-revert"),
    ("A revert was tested.", "It should be reverted.", "asks-revert"),
    ("  culprit  59.8 [40.7..82.6]", "  culprit  59.8 [40.7..82.6]\n  tip      59.8 [40.7..82.6]",
     "same-figures"),
    (('Since 0123456789ab ("epoll: Take another lock") the rate of reschedule\nIPIs rises from '
     "8.55/s to 59.8/s on"), "Kernel 6.18 is much slower than 6.17 on", "claim"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "rule"), HEADER_CHANGES)
def test_what_is_wrong_with_headers_is_found(old, new, rule):
    assert old in HEADERS
    assert rule in rules(mail(HEADERS.replace(old, new, 1)))


@pytest.mark.parametrize(("old", "new", "rule"), BODY_CHANGES)
def test_what_is_wrong_with_a_body_is_found(old, new, rule):
    assert old in BODY
    changed = mail(body=BODY.replace(old, new, 1))
    assert rule in rules(changed)


def test_no_spread_is_found():
    body = BODY.replace(" [3.30..13.1]", "").replace(" [40.7..82.6]", "")
    body = body.replace(" [min..max]", "")
    assert rules(mail(body=body)) == ["spread"]


def test_every_rule_is_tried():
    tried = {rule for *_, rule in (*HEADER_CHANGES, *BODY_CHANGES)}
    assert {rule.name for rule in RULES} == tried | {
        "spread",
        "sum-as-maximum",
        "same-counter",
        "console",
    }


def test_counters_of_two_kernels_that_agree_are_found():
    rows = "The parent:\n\n  LOC:  123451\n\nThe commit:\n\n  LOC:  123451  1\n\nWithout"
    rows = rows.replace("LOC:  123451\n", "LOC:  123451  2\n")
    assert rules(mail(body=BODY.replace("Without", rows, 1))) == ["same-counter"]
