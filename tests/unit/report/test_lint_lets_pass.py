# SPDX-License-Identifier: GPL-2.0-or-later
"""What people write, and what other mails of ours say, is no finding."""

import pytest

from helpers.linted_mail import BODY, HEADERS, mail, rules


@pytest.mark.parametrize("asked", ["We are not asking for a revert.", "Don't revert it, please."])
def test_who_does_not_ask_for_a_revert_is_not_found_to(asked):
    assert rules(mail(body=BODY.replace("A revert was tested.", asked))) == []


def test_a_table_that_is_right_is_left_alone():
    rows = """\
  CPU     RUNTIME      NOISE   %AVAIL  MAX_NOISE  MAX_SINGLE
    1    53100000     304896    99.425       6978          56
    2    53100000     304000    99.427       6978          56
"""
    assert rules(mail(body=BODY.replace("Without", rows + "\nWithout"))) == []


def test_other_mails_of_ours_accuse_nobody():
    headers = HEADERS.replace("X-rtbisect-Outcome", "X-rtbisect-Kind: digest\nX-rtbisect-Outcome")
    headers = headers.replace("[REGRESSION] epoll", "[internal] tonight").replace(
        "kernel\n", "none\n"
    )
    headers = headers.replace("Cc: regressions@lists.linux.dev\n", "")
    assert rules(mail(headers, "All is well.\n")) == []


TITLES = [
    "bpf: Rework the ring buffer of perf record",
    "perf stat: Count None, TODO and nan",
    "eventpoll: Please revert the lock order on error",
    "osnoise: Steps of 10 ns of noise",
    "x86: Name NN CPUs <...>",
]


@pytest.mark.parametrize("title", TITLES)
def test_the_title_of_a_commit_is_not_our_word(title):
    body = BODY.replace("epoll: Take another lock", title).replace("a rate of", "rates of")
    body += f"""
Posterior:

  0123456789ab   0.987  {title}

  # first bad commit: [0123456789ab] {title}
"""
    # Only the test does not fold it.
    assert set(rules(mail(body=body))) <= {"width"}


RIGHT = [
    ("gcc 12,", "gcc 12, cpu Intel(R) Core(TM) i7-8700,"),
    ("A revert was tested.", "Could you please take a look? Reverting it makes it work."),
    ("A revert was tested.", "I should mention that reverting it fixes it."),
    ("A revert was tested.", "None of my other machines; a revert helps."),
    ("A revert was tested.", "Trace: <...>-1234 irq_noise: duration 5678 ns; a revert helps."),
    ("A revert was tested.", "350 ns vs. 420 ns, within noise. A revert helps."),
    ("v6.12..v6.13-rc1", "6.18.4 works, 6.18.5 does not"),
    (" with SHA256SUMS", ""),
    ("A revert was tested.", "A revert was tested.\n\n  tcp_rmem 4096 131072 131072\n\nThat."),
    (
        "A revert was tested.",
        (
            "A revert was tested.\n\nThe parent, before:\n\n  LOC:  123451  223451\n\nand after:"
            "\n\n  LOC:  123451  223459\n\nThat."
        ),
    ),
    (
        "the rate of reschedule\nIPIs rises from 8.55/s to 59.8/s on isolated CPUs",
        "this laptop\nno longer resumes",
    ),
    (
        "the rate of reschedule\nIPIs rises from 8.55/s to 59.8/s on isolated CPUs",
        "booting\ntakes 15 seconds instead of 2 seconds with 6.18",
    ),
]


@pytest.mark.parametrize(("old", "new"), RIGHT)
def test_what_people_write_is_left_alone(old, new):
    assert old in BODY
    headers = HEADERS.replace("X-rtbisect-Outcome: culprit; cause=kernel\n", "")
    assert set(rules(mail(headers, BODY.replace(old, new, 1)))) <= {"width"}


def test_a_signature_and_an_answer_are_no_faults():
    headers = HEADERS.replace("[REGRESSION]", "Re: [REGRESSION]")
    assert rules(mail(headers, f"{BODY}\n-- \nA Person\n")) == []
