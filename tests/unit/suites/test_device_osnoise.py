# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scripts of the tracer do on the device, in a plain folder in place of tracefs."""

import subprocess
from pathlib import Path

import pytest

from rtbisect.lab import initramfs

SUITES = Path(__file__).resolve().parents[3] / "lava-jobs/suites"
SCRIPTS = ("lib", "osnoise/osnoise", "hwnoise/hwnoise", "rtla/rtla")
KINDS = ("irq", "softirq", "thread", "nmi")
KNOBS = ("period_us", "runtime_us", "cpus", "options", "stop_tracing_us", "stop_tracing_total_us")


def run(tmp_path, window, steps, fifo=0, fifo_program="exit 1"):
    """Run `steps` of the scripts; their exit code, and the folder of the tracer."""
    tracing = tmp_path / "tracing"
    for place in ["options", "osnoise", *(f"events/osnoise/{kind}_noise" for kind in KINDS)]:
        (tracing / place).mkdir(parents=True)
    for knob in KNOBS:
        (tracing / "osnoise" / knob).write_text("OSNOISE_IRQ_DISABLE\n")
    (tracing / "trace").touch()
    (tracing / "tracing_thresh").touch()
    (tmp_path / "bin").mkdir()
    for name, text in (("fifo", fifo_program), ("noisefold", "cat >/dev/null")):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / window).mkdir()
    lines = [
        initramfs.device_values(),
        *(f". {SUITES}/{name}.sh" for name in SCRIPTS),
        f"TRACING={tracing} RTBISECT={tmp_path} RESULTS={tmp_path} WATCH=2-3 FIFO={fifo}",
        "WINDOW_MS=1 HOUSEKEEPING_CPU=0",
        "lost_events() { :; }; all_files() { :; }; taskset() { :; }; timeout() { :; }",
        steps,
    ]
    argv = ["/bin/busybox", "ash", "-euc", "\n".join(lines)]
    return subprocess.run(argv, timeout=60, check=False).returncode, tracing


@pytest.mark.parametrize("window", ["hwnoise-off", "rtla-off"])
def test_no_window_leaves_or_takes_an_option_of_another(tmp_path, window):
    """The options are the kernel's, and stay until somebody writes others."""
    code, tracing = run(tmp_path, window, f"window_{window.replace('-', '_')}")
    assert code == 0
    assert (tracing / "osnoise/options").read_text() == "OSNOISE_WORKLOAD\n"
    assert (tracing / "osnoise/runtime_us").read_text() == "500000\n"


@pytest.mark.parametrize(
    ("fifo", "program", "code"), [(0, "exit 1", 0), (1, "exit 1", 1), (1, "exit 0", 0)]
)
def test_a_window_whose_threads_got_no_priority_is_not_complete(tmp_path, fifo, program, code):
    steps = "osnoise_start; osnoise_stop w; osnoise_complete w"
    assert run(tmp_path, "w", steps, fifo, program)[0] == code
