# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorded boot whose log or files are damaged: refused, or read as it was; never wrong."""

import gzip
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.lab_logs import block, good_job, recorded
from rtbisect.errors import InfrastructureError
from rtbisect.lab import console_block, job_log
from rtbisect.lab.classify import classify
from rtbisect.lab.job_definition import expected_cases
from rtbisect.lab.measurements import InvalidBoot, evidence
from rtbisect.model.lab import RunStatus

LOG = Path(__file__).resolve().parents[2] / "data/lava_logs/complete-rwlock.yaml.gz"
ASKED = recorded()

#: What a kernel says whenever it likes, and what looks like words of ours or of LAVA.
FOREIGN = (
    "[   12.345678] BUG: scheduling while atomic: irq_work/2/33/0x00000002",
    "INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "RES:          7          7          7          7          7          7          7          7",
    " <...>-302  [002] ....1  6.680850: 500000  100000  80.00000  20000  1 0 1 0 0",
    "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=pf-on RESULT=pass>",
    "6000000",
    "start_ns 1",
    "2 irq 1 5 5 5 *",
    "\x1b[31m\x00\x07",
)


@cache
def text():
    return gzip.decompress(LOG.read_bytes()).decode("utf-8", "replace")


@cache
def files():
    return console_block.files_of(job_log.parse(text()).console)


def measured(log):
    """Figures of a boot, or None where it is refused, or nobody can say how it ended."""
    try:
        if classify(log, ended="lava-run ended").status is not RunStatus.COMPLETE:
            return None
        return evidence(ASKED, log).measurements
    except (InvalidBoot, InfrastructureError):
        return None


@cache
def right():
    found = measured(job_log.parse(text()))
    assert found
    return found


def damaged(draw, lines):
    """Lines with one or more of them doubled, lost, moved, cut, or with foreign text in them."""
    lines = list(lines)
    for _ in range(draw(st.integers(1, 3))):
        if not lines:
            break
        at, to = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        what = draw(st.sampled_from(["double", "lose", "move", "cut", "into", "between", "end"]))
        place = draw(st.integers(0, len(lines[at])))
        foreign = draw(st.sampled_from(FOREIGN))
        if what == "double":
            lines.insert(to, lines[at])
        elif what == "lose":
            del lines[at]
        elif what == "move":
            lines.insert(to, lines.pop(at))
        elif what == "cut":
            lines[at] = lines[at][:place]
        elif what == "into":
            lines[at] = lines[at][:place] + foreign + lines[at][place:]
        elif what == "between":
            lines.insert(at, foreign)
        else:
            lines = [*lines[:at], lines[at][:place]]
    return lines


@given(st.data())
def test_a_damaged_log_is_refused_or_read_as_it_was(data):
    lines = damaged(data.draw, text().split("\n"))
    assert measured(job_log.parse("\n".join(lines))) in (None, right())


#: Files that a parser reads.
READ = sorted({name.rpartition("/")[2] for name in files() if "/" in name} - {"cases.txt"})


def rebuilt(name, data):
    """The log of a boot whose device has sent a damaged file, with a hash that is right."""
    content = files() | {name: data}
    cases = dict.fromkeys(expected_cases(ASKED), "pass")
    return job_log.parse(good_job(cases, [*block(content), "RTBISECT-DONE"]))


@pytest.mark.parametrize("kind", READ)
@given(data=st.data())
def test_a_damaged_file_is_refused_or_read_as_it_was(kind, data):
    name = data.draw(st.sampled_from([each for each in files() if each.endswith(f"/{kind}")]))
    lines = files()[name].decode("ascii").split("\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    what = data.draw(st.sampled_from(["double", "move", "into", "between", "end"]))
    place = data.draw(st.integers(0, len(lines[at])))
    foreign = data.draw(st.sampled_from(FOREIGN[:2]))
    if what == "double":
        lines.insert(data.draw(st.integers(0, len(lines) - 1)), lines[at])
    elif what == "move":
        lines.insert(data.draw(st.integers(0, len(lines) - 1)), lines.pop(at))
    elif what == "into":
        lines[at] = lines[at][:place] + foreign + lines[at][place:]
    elif what == "between":
        lines.insert(at, foreign)
    else:
        lines = [*lines[:at], lines[at][:place]]
    found = measured(rebuilt(name, "\n".join(lines).encode()))
    assert found is None or same(found, right())


def same(found, wanted):
    """The same figures; the last digit of a mean may follow the order of what it is made of."""
    one, other = (
        {(m.suite, m.name, m.window, m.cpu): m.value for m in each} for each in (found, wanted)
    )
    return one.keys() == other.keys() and all(
        one[key] == pytest.approx(other[key], rel=1e-9) for key in one
    )
