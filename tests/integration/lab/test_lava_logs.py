# SPDX-License-Identifier: GPL-2.0-or-later
"""Replays of logs that LAVA 2023.01 wrote: real kernels in QEMU, and real failures.

The consoles of the two kernels that differ by one lock are of boots without LAVA.
"""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.findings import Like
from helpers.lab_logs import RECORDED, recorded
from helpers.windows import select
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import console_block, job_log
from rtbisect.lab.classify import classify
from rtbisect.lab.measurements import InvalidBoot, evidence
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.lab import RunStatus
from rtbisect.suites.base import find

LOGS = Path(__file__).resolve().parents[2] / "data/lava_logs"


def text_of(name):
    return gzip.decompress((LOGS / f"{name}.yaml.gz").read_bytes()).decode("utf-8", "replace")


def log_of(name):
    return job_log.parse(text_of(name))


def test_a_complete_boot_from_log_to_figures():
    log = log_of("complete-rwlock")
    assert classify(log, ended="lava-run ended").status is RunStatus.COMPLETE
    found = evidence(recorded(), log)
    boot = {(m.suite, m.name, m.window): m.value for m in found.measurements if m.cpu is None}
    assert boot["ipi", "res_per_iwi", "pf-on"] == pytest.approx(0.05917, rel=1e-3)
    assert boot["ipi", "res_per_s", "osnoise-off"] == pytest.approx(4 / 3, rel=1e-3)
    assert boot["ipi", "events_per_s", "clock-on"] == pytest.approx(1182, rel=1e-3)
    assert boot["ipi", "lost", "clock-on"] == 0
    assert boot["osnoise", "irq_per_sample", "osnoise-off"] == 0.5
    assert boot["rcu", "p50_us", "rcu-off"] == pytest.approx(6084, rel=1e-3)
    assert {m.cpu for m in found.measurements} == {None, 2, 3, 4}
    facts = dict(found.facts)
    assert (facts["clocksource"], facts["smt_active"], facts["isolated"]) == ("tsc", "1", "2-7")


def ratio_of(name):
    """res_per_iwi of pf-on on a raw console of a boot without LAVA."""
    lines = gzip.decompress((LOGS / f"{name}.log.gz").read_bytes()).decode().split("\n")
    files = console_block.files_of([line.rstrip("\r") for line in lines])
    mine = {n.removeprefix("pf-on/"): d for n, d in files.items() if n.startswith("pf-on/")}
    (window,) = select(["pf-on"])
    found = find("ipi").parse(mine, window, (2, 3, 4))
    return next(m.value for m in found if m.name == "res_per_iwi" and m.cpu is None)


def test_two_kernels_that_differ_by_one_lock():
    assert ratio_of("console-spinlock") > 3 * ratio_of("console-rwlock")


def test_a_boot_on_a_busy_host_did_not_give_its_dose():
    log = log_of("too-small-dose")
    assert classify(log, ended="lava-run ended").status is RunStatus.COMPLETE
    request = recorded()
    dose = evidence(request, log)
    # The reader took a few less than the children had made.
    (made,) = [m for m in dose.measurements if (m.name, m.window) == ("faults_per_s", "pf-on")]
    asked_more = tuple(
        replace(window, nominal_events_per_s=2.1 * made.value) if window.name == "pf-on" else window
        for window in request.windows
    )
    with pytest.raises(InvalidBoot) as caught:
        evidence(replace(request, windows=asked_more), log)
    assert caught.value.found == Like(Boots.DOSE, window="pf-on", events_per_s=made.value)


def test_a_guest_that_never_gets_to_its_prompt():
    found = classify(log_of("hang-at-boot"), ended="lava-run ended")
    assert (found.status, found.ambiguous) == (RunStatus.BOOT_FAILED, True)
    assert found.signature == "boot hang: no login prompt"


def test_the_drawn_order_is_part_of_the_evidence():
    with pytest.raises(InvalidBoot) as caught:
        evidence(recorded(RECORDED[::-1]), log_of("complete-rwlock"))
    assert caught.value.found.kind == Boots.WINDOW_ORDER


def test_a_log_that_was_cut_anywhere_is_no_evidence():
    text = text_of("complete-rwlock")
    for share in (0.2, 0.5, 0.8, 0.95):
        log = job_log.parse(text[: int(len(text) * share)])
        with pytest.raises(InfrastructureError):
            classify(log, ended="lava-run ended")


def test_a_truncated_kernel_image_asks_for_another_try():
    found = classify(log_of("truncated-image"), ended="lava-run ended")
    assert (found.status, found.ambiguous) == (RunStatus.BOOT_FAILED, True)


def test_a_file_with_another_hash_is_a_fault_of_the_lab():
    with pytest.raises(InfrastructureError, match="fetch a file"):
        classify(log_of("wrong-sha256"), ended="lava-run ended")


def test_a_missing_file_is_a_matter_of_configuration():
    with pytest.raises(ConfigError, match="refuses the job"):
        classify(log_of("missing-file"), ended="lava-run ended")


def test_a_cancelled_job_says_nothing_about_the_kernel():
    with pytest.raises(InfrastructureError, match="cancelled"):
        classify(log_of("cancelled"), ended="lava-run ended")
