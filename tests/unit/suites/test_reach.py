# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions run: what the device makes of its counters, and what is read of it."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import tracers
from helpers.findings import Like
from rtbisect.lab.windows import ALL_WINDOWS, explaining
from rtbisect.model.kinds.boot import Raw
from rtbisect.suites import reach
from rtbisect.suites.base import SuiteError

SCRIPT = tracers.ROOT / "lava-jobs" / "suites" / "reach" / "reach.sh"
PF = next(w for w in ALL_WINDOWS if w.name == "pf-on")
WINDOW = reach.twin(PF)
TEXT = "window pass 10.00 14.00\nran 8 ep_poll_callback\nran 0 ep_insert\nrefused ep.part.0\n"


def told(text=TEXT):
    found = reach.sources({"reach.txt": text.encode()}, WINDOW, (2,))
    return {(source.kind, source.name): source.per_s for source in found}


def test_functions_have_their_rate():
    assert told() == {
        ("function", "ep_poll_callback"): 2.0,
        ("function", "ep_insert"): 0.0,
        ("no probe", "ep.part.0"): 0.0,
    }
    assert told("no kprobes\n") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT.replace("pass", "fail"), Like(Raw.WINDOW_ENDED)),
        (TEXT.replace("14.00", "10.00"), Like(Raw.WINDOW_ENDED)),
        ("", Like(Raw.WINDOW_LINE)),
        ("no kprobes\nran 1 f\n", Like(Raw.WINDOW_LINE)),
        (TEXT + "ran many f\n", Like(Raw.FOREIGN_LINE, line="ran many f")),
        (TEXT + "ran 3 ep_insert\n", Like(Raw.FUNCTION_TWICE, function="ep_insert")),
    ],
)
def test_what_cannot_be_is_refused(text, said):
    with pytest.raises(SuiteError) as caught:
        told(text)
    assert caught.value.found == said


@given(st.text(alphabet=st.sampled_from([*"ranefusdwipo 0123456789._-;\n"]), max_size=200))
def test_any_text_is_read_or_refused(text):
    try:
        found = told(text)
    except SuiteError:
        return
    assert all(rate >= 0 for rate in found.values())


def test_a_window_has_a_twin_unless_a_hang_is_its_figure():
    assert (WINDOW.name, WINDOW.workload, WINDOW.explains) == ("reach-pf-on", PF.workload, "pf-on")
    assert WINDOW in explaining(PF)
    stall = next(w for w in ALL_WINDOWS if w.name == "stall")
    assert explaining(stall) == ()
    assert reach.SUITE.parse({}, WINDOW, (2,)) == ()


def test_the_device_counts_what_came_during_the_window(tmp_path):
    """Hits before it do not count; a probe that the kernel does not tell of has no count."""
    (tmp_path / "probes").write_text("f1 ep_poll_callback\n- __init_one\nf3 ep_insert\nf4 gone\n")
    profile = "  f1 {}  {}\n  f3       7    0\n  other 5 5\n"
    (tmp_path / "kprobe_profile").write_text(profile.format(3, 1))
    steps = f"TRACING={tmp_path}; . {SCRIPT}; cd {tmp_path}; reach_counts"
    argv = ["/bin/busybox", "ash", "-c"]
    (tmp_path / "before").write_bytes(subprocess.check_output([*argv, steps]))
    (tmp_path / "kprobe_profile").write_text(profile.format(13, 2))
    steps += " >after; reach_fold probes before after"
    rows = subprocess.check_output([*argv, steps], text=True).splitlines()
    assert sorted(rows) == [
        "ran 0 ep_insert",
        "ran 11 ep_poll_callback",
        "refused __init_one",
        "refused gone",
    ]


#: The window's own function, and files of /proc and tracefs that a test can write.
DEVICE = """
. {1}/lib.sh; . {2}
RESULTS={0}/results; TRACING={0}/tracing; REACH_PROBES={0}/probes; PROBES="f_one f_two"; WATCH=2
osnoise_settings() {{ :; }}
window_pf_on() {{
    echo "f1 9 0" >$TRACING/kprobe_profile
    echo lots >$RESULTS/pf-on/irq.txt
    report_case x pass
    {3}
}}
reach_register() {{ echo "f1 f_one" >$REACH_PROBES; echo "- f_two" >>$REACH_PROBES; }}
mkdir -p $RESULTS/reach-pf-on $TRACING; : >$TRACING/kprobe_events
echo "f1 4 0" >$TRACING/kprobe_profile
window_function reach-pf-on; $FUNCTION reach-pf-on && echo passed
cat $RESULTS/reach-pf-on/reach.txt; ls $RESULTS/*
"""


@pytest.mark.parametrize(("end", "result"), [("true", "pass"), ("false", "fail")])
def test_the_window_runs_once_more_and_leaves_nothing(tmp_path, end, result):
    steps = DEVICE.format(tmp_path, SCRIPT.parents[1], SCRIPT, end)
    argv = ["/bin/busybox", "ash", "-euc", steps]
    rows = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    assert ("passed" in rows) == (result == "pass")
    assert {row for row in rows if row.startswith(("ran", "refused"))} == {
        "ran 5 f_one",
        "refused f_two",
    }
    assert next(row for row in rows if row.startswith("window")).split()[1] == result
    assert rows[-1] == "reach.txt"
    # A figure that the window's own function tells would be a second one.
    assert not [row for row in rows if row.startswith("CASE")]
