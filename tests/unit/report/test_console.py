# SPDX-License-Identifier: GPL-2.0-or-later
"""Of what stands still a mail has at least one whole stack, the kernel's own before ours."""

from dataclasses import replace

import pytest

from helpers.report_cases import hang
from helpers.report_epoll import epoll
from rtbisect.report.console import console_of
from rtbisect.report.draft import DETAILS, MOST_LINES

FRAMES = [f"function_{number}+0x1f/0x2{number:x}0" for number in range(14)]
TASK = "INFO: task epoll:77 blocked for more than 120 seconds."
STATE = "task:epoll state:D stack:0 pid:77"
STACK = "rtbisect-stack: reader: " + " < ".join(f"ours_{number}" for number in range(12))
SYMPTOM = "rtbisect-symptom: frozen nr_periods"
LEAST = DETAILS[-1].console


def shown(*lines, most=LEAST):
    return [
        " ".join(" ".join(block).split())
        for block in console_of(replace(hang(), excerpt=lines), most)
    ]


def test_the_first_stack_of_the_kernel_is_whole_however_little_room_there_is():
    kernel, ours = shown(SYMPTOM, STACK, TASK, STATE, *FRAMES, most=1)
    assert kernel.startswith(f"{TASK} {STATE} function_0 < function_1 <")
    assert kernel.endswith("< function_13")
    assert ours == ""


def test_our_stack_is_whole_where_the_kernel_said_nothing():
    kernel, ours = shown(SYMPTOM, STACK, STACK, most=1)
    assert kernel == ""
    assert ours == STACK.removeprefix("rtbisect-stack: ")


def test_a_line_of_nothing_takes_no_place():
    assert shown("#", STACK) == ["", STACK.removeprefix("rtbisect-stack: ")]


def test_both_are_there_where_there_is_room():
    kernel, ours = shown(SYMPTOM, STACK, TASK, *FRAMES[:2], "a last word", most=40)
    assert kernel == f"{TASK} function_0 < function_1 a last word"
    assert ours.startswith("reader: ours_0 <")


@pytest.mark.parametrize("room", range(1, 9))
def test_no_stack_is_cut(room):
    _, ours = shown(*(STACK,) * 4, most=room)
    assert ours.count("reader: ") == ours.count("ours_11") > 0


def test_what_is_said_before_the_first_stack_is_bounded():
    kernel, _ = console_of(replace(hang(), excerpt=(*(TASK,) * 14, *FRAMES[:2])), LEAST)
    assert len(kernel) < MOST_LINES // 4
    assert "function_0 < function_1" in kernel[-1]


def test_what_does_not_stand_still_has_no_console():
    assert console_of(replace(epoll(), excerpt=(TASK,)), 8) == ((), ())
    assert console_of(replace(hang(), excerpt=(SYMPTOM,)), 8) == ((), ())
