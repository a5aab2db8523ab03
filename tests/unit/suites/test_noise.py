# SPDX-License-Identifier: GPL-2.0-or-later
"""noise.txt: what the device writes, and what is read of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import tracers
from helpers.findings import Like
from helpers.lab_logs import noise_txt
from rtbisect.model.kinds.boot import Raw
from rtbisect.suites import noise, osnoise
from rtbisect.suites.base import SuiteError

HEAD = "# tracer: osnoise\n#\n"
SAMPLE = "  <...>-302  [00{cpu}] ....1    9.{at:06d}: 500000 2495 99.50100 1202 5 0 0 0 0\n"
EVENT = "  {task}-302  [00{cpu}] d..h2..    9.{at:06d}: {text}\n"


@pytest.fixture(scope="module")
def fold(tmp_path_factory):
    """The program of the device: a trace in, trace.txt and noise.txt out."""
    program = tracers.compiled(tmp_path_factory.mktemp("fold"), "osnoise/noisefold.c")

    def run(trace):
        files = tracers.folded(program, tmp_path_factory.mktemp("out"), trace)
        return files["trace.txt"], files["noise.txt"]

    return run


def event(at, text, cpu=2, task="<...>"):
    return EVENT.format(at=at, text=text, cpu=cpu, task=task)


def sample(at, cpu=2):
    return SAMPLE.format(at=at, cpu=cpu)


def irq(at, ns, name="local_timer:236", **place):
    return event(at, f"irq_noise: {name} start 9.000000001 duration {ns} ns", **place)


def test_events_are_folded_and_samples_are_kept(fold):
    samples = sample(5) + sample(6, cpu=3)
    text = HEAD + irq(1, 3000) + irq(2, 1000) + irq(3, 2000, "reschedule:253") + samples
    text += event(7, "thread_noise: kworker/3:1:44 start 9.1 duration 700 ns", cpu=3) + sample(8, 3)
    kept, folded = fold(text)
    assert kept == HEAD + samples + sample(8, 3)
    rows = {(r.cpu, r.kind, r.source): r for r in noise.read(folded)}
    whole = rows[2, "irq", noise.ALL]
    assert (whole.count, whole.sum_ns, whole.median_ns, whole.max_ns) == (3, 6000, 2000, 3000)
    assert rows[2, "irq", "local_timer:236"].sum_ns == 4000
    assert rows[3, "thread", "kworker/3:1"].count == 1


def test_events_of_a_sample_that_never_ended_are_left_out(fold):
    _kept, folded = fold(HEAD + irq(1, 500) + sample(2) + irq(3, 900) + irq(4, 900, cpu=3))
    assert [(r.cpu, r.sum_ns) for r in noise.read(folded) if r.source == noise.ALL] == [(2, 500)]


def test_names_are_padded_and_may_look_like_anything(fold):
    text = HEAD
    text += event(1, "softirq_noise:    TIMER:1 start 9.1 duration 10 ns")
    text += event(2, "thread_noise: a b: start:7:12 start 9.1 duration 20 ns", task="x [002] y")
    text += event(3, "nmi_noise: start 9.1 duration 30 ns", task="[1] irq_noise: ")
    _kept, folded = fold(text + sample(9))
    names = {(r.kind, r.source) for r in noise.read(folded) if r.source != noise.ALL}
    assert names == {("softirq", "TIMER:1"), ("thread", "a_b:_start:7"), ("nmi", "-")}


def test_what_is_no_event_stays_in_the_trace(fold):
    odd = "CPU:3 [LOST 12 EVENTS]\n" + event(2, "irq_noise: torn start 9.1 dura")
    kept, folded = fold(HEAD + odd + sample(9))
    assert kept == HEAD + odd + sample(9)
    assert noise.read(folded) == ()


@pytest.mark.parametrize("version", tracers.VERSIONS)
def test_every_event_of_a_recorded_trace_is_folded(fold, version):
    trace = tracers.recorded(version, "osnoise-trace.txt")
    kept, folded = fold(trace)
    assert "_noise:" not in kept
    assert osnoise.read(kept)
    rows = noise.read(folded)
    assert {row.kind for row in rows} >= {"irq", "thread"}
    assert {row.cpu for row in rows} == {2, 3, 4}
    names = {row.source for row in rows}
    assert {"local_timer:236", "irq_work/2", noise.ALL} <= names
    # Of the samples that ended, and no others.
    samples = dict.fromkeys((2, 3, 4), 0)
    for sample in osnoise.read(kept):
        samples[sample.cpu] += sample.counts[2]
    for row in rows:
        if (row.kind, row.source) == ("irq", noise.ALL):
            assert row.count == pytest.approx(samples[row.cpu], abs=3)


@given(st.text(alphabet=" [](){}:.0123456789abirq_noise startduration ns\n\t", max_size=300))
def test_no_text_makes_the_program_fail_or_its_table_impossible(fold, text):
    _kept, folded = fold(HEAD + text + "\n" + irq(1, 5) + sample(9))
    assert sum(r.count for r in noise.read(folded) if r.source == noise.ALL) >= 1


def test_what_is_typical_goes_by_the_median_and_not_by_the_longest():
    rows = noise.read(noise_txt((2, "irq", "timer:236", [10, 10, 10_000_000])).decode())
    assert {row.typical_ns for row in rows} == {30}


IMPOSSIBLE = Like(Raw.CANNOT_BE)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.split("\n", 1)[1], Like(Raw.NO_HEAD)),
        (lambda text: text + "2 irq 1 5 5\n", Like(Raw.FOREIGN_LINE)),
        (lambda text: text + "2 irq 1 5 5 5 *\n", Like(Raw.NOISE_TWICE, noise="irq", cpu=2)),
        (lambda text: text + "3 irq 1 5 5 5 *\n", Like(Raw.NOISE_SUMS, noise="irq", cpu=3)),
        (lambda text: text + "3 irq 1 5 5 5 timer:2\n", Like(Raw.NOISE_SUMS, noise="irq", cpu=3)),
        (
            lambda text: text.replace("2 irq 2 40 10 30 *", "2 irq 2 40 50 30 *"),
            IMPOSSIBLE,
        ),
        (
            lambda text: text.replace("2 irq 2 40 10 30 *", "2 irq 2 90 10 30 *"),
            IMPOSSIBLE,
        ),
        (
            lambda text: text.replace("2 irq 2 40 10 30 *", "2 irq 0 40 10 30 *"),
            IMPOSSIBLE,
        ),
        (lambda text: text + f"2 thread 1 {'9' * 5000} 5 5 x\n", Like(Raw.FOREIGN_LINE)),
    ],
)
def test_a_table_that_does_not_agree_with_itself_is_refused(change, reason):
    text = noise_txt((2, "irq", "timer:236", [10, 30])).decode()
    with pytest.raises(SuiteError) as caught:
        noise.read(change(text))
    assert caught.value.found == reason


@given(st.lists(st.sampled_from(["2 irq 1 5 5 5 *", "2 irq 1 5 5 5 a", "2 nmi 1 5 5 5 -", "x"])))
def test_rows_are_taken_only_when_every_whole_has_all_its_sources(lines):
    try:
        rows = noise.read("\n".join([noise.HEAD, *lines]))
    except SuiteError:
        rows = ()
    whole = sum(row.count for row in rows if row.source == noise.ALL)
    assert whole == sum(row.count for row in rows if row.source != noise.ALL)
