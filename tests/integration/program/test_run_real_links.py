# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run --relayout` with programs that a real linker lays out anew: what works with it, and
how what does not is told.
"""

import json

import pytest

from helpers.run_command import history, rtbisect
from rtbisect.model.campaign import Outcome

#: Functions whose places within a page make the figure, and so does a change of the code.
WORK = """#include <stdint.h>
#include <stdlib.h>
#define F(n) __attribute__((noinline)) long f##n(long x) { return x * n + (x >> (n % 7)); }
F(1) F(2) F(3) F(5) F(7) F(11) F(13) F(17) F(19) F(23) F(29) F(31)
static long (*const all[])(long) = { f1, f2, f3, f5, f7, f11, f13, f17, f19, f23, f29, f31 };
double luck(void) {
    double sum = 0;
    for (int n = 0; n < 12; n++) sum += ((uintptr_t)all[n] >> 4 & 63) / 63.0;
    return sum;
}
"""
MAIN = """#include <stdio.h>
double luck(void);
int main(void) { return printf("us=%.4f\\n", 50 + luck() + COST) < 0; }
"""
#: Two functions stand for the ends of a table in the code, as before sections had names.
TABLE = """
__attribute__((section(".text.table_a"))) void table(void) {}
__attribute__((section(".text.table_b"))) long entry(long x) { return x; }
__attribute__((section(".text.table_c"))) void table_end(void) {}
__attribute__((constructor)) static void walk(void) {
    if ((uintptr_t)table > (uintptr_t)entry || (uintptr_t)entry > (uintptr_t)table_end)
        END;
}
"""
BUILD = """#!/bin/sh
set -e
cost=0; test ! -e slow || cost=6
gcc -O1 -ffunction-sections -c HERE/work.c -o work.o
gcc -O1 -ffunction-sections -DCOST=$cost -c HERE/main.c -o main.o
ar rcs libwork.a work.o
gcc -fuse-ld=LINKER -Wl,--shuffle-sections='.text.*'="$RTBISECT_LAYOUT_SEED" \\
    -o product main.o libwork.a
"""


@pytest.fixture
def build(tmp_path):
    def script(*, linker="lld", table=""):
        (tmp_path / "work.c").write_text(WORK + table)
        (tmp_path / "main.c").write_text(MAIN)
        place = tmp_path / "build.sh"
        place.write_text(BUILD.replace("HERE", str(tmp_path)).replace("LINKER", linker))
        place.chmod(0o755)
        return place

    return script


def run(tmp_path, repo, ends, build, *more):
    asked = ["run", "--good", ends[0], "--bad", ends[1], "--metric", "us", "--build", str(build)]
    return rtbisect(tmp_path / "state", *asked, "--relayout", *more, "--", "./product", cwd=repo)


def test_functions_of_a_static_library_move_too(tmp_path, repo, build):
    *ends, culprit = history(repo, 5, count=8)
    done = run(tmp_path, repo, ends, build(), "--json")
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprit"]) == ("culprit", culprit), done.stderr
    # What its layouts differ in is a part of the noise.
    assert answer["figure"]["before"]["low"] < answer["figure"]["before"]["high"]


def test_a_linker_that_cannot_shuffle_is_told(tmp_path, repo, build):
    *ends, _ = history(repo, 5, count=4)
    done = run(tmp_path, repo, ends, build(linker="bfd"), "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["outcome"]) == (3, Outcome.INCONCLUSIVE.value)
    assert "option '--shuffle-sections=.text.*=1'" in done.stderr


@pytest.mark.parametrize("end", ["__builtin_trap()", "_Exit(7)"])
def test_a_program_that_breaks_when_its_functions_move_is_told(tmp_path, repo, build, end):
    *ends, _ = history(repo, 5, count=4)
    done = run(tmp_path, repo, ends, build(table=TABLE.replace("END", end)))
    assert done.returncode == 3
    assert "--relayout" in done.stderr + done.stdout
