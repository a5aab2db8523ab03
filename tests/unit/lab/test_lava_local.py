# SPDX-License-Identifier: GPL-2.0-or-later
"""The adapter around a stand-in for lava-run that plays back logs."""

import dataclasses
import fcntl
import gzip
import os
import sys

import pytest
import yaml

from helpers.lab_logs import (
    DEVICE,
    STARTED,
    block,
    failed_job,
    files,
    good_job,
    request,
    small_lava_jobs,
)
from helpers.windows import select
from rtbisect.errors import BusyError, ConfigError, InfrastructureError
from rtbisect.lab import qemu_host
from rtbisect.lab.job_definition import expected_cases
from rtbisect.lab.lava.base import Patience
from rtbisect.lab.lava.local import LavaRunLab, LavaRunSettings
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Blocks, Boots, Part
from rtbisect.model.lab import RunStatus
from rtbisect.store.artefacts import ArtefactStore

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="another user gets a /var/lib of its own")

#: Plays the first answer that is left, keeps what it was given, and tells about the lock.
STAND_IN = """\
import fcntl, pathlib, shutil, sys
here = pathlib.Path(__file__).parents[3]
seen = here / "seen" / f"{len(list((here / 'seen').iterdir()))}"
seen.mkdir()
for name in ("job.yaml", "device.yaml"):
    shutil.copy(name, seen)
(seen / "argv").write_text("\\n".join(sys.argv[1:]))
with open(here / "machine.lock", "a") as lock:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (seen / "lock-was-free").touch()
    except BlockingIOError:
        pass
answer = sorted((here / "answers").iterdir())[0]
sys.stderr.write(answer.read_text())
code = int(answer.suffix[1:])
answer.unlink()
sys.exit(code)
"""

BOOT = ["login-action", "auto-login-action", "boot-image-retry"]


class Bench:
    """A lab over the stand-in, in a folder of its own."""

    def __init__(self, root):
        self.lava = root / "lava"
        for folder in ("root/usr/bin", "venv/bin", "answers", "seen"):
            (self.lava / folder).mkdir(parents=True)
        (self.lava / "root/usr/bin/lava-run").write_text(STAND_IN)
        (self.lava / "dispatcher.yaml").write_text("dispatcher_ip: 127.0.0.1\n")
        (self.lava / "venv/bin/python").symlink_to(sys.executable)
        types = self.lava / "root/usr/share/lava-server/device-types"
        types.mkdir(parents=True)
        (types / "qemu.jinja2").write_text("command: qemu\nextra: {{ extra_options }}\n")
        self.artefacts = ArtefactStore(root / "artefacts")
        self.settings = LavaRunSettings(
            lava_root=self.lava,
            work_dir=root / "work",
            machine_lock=self.lava / "machine.lock",
            **small_lava_jobs(root, "devices/qemu-smt.jinja2"),
            lock_wait_s=0.0,
            patience=Patience(pause_s=0.0),
        )
        self.lab = LavaRunLab(self.settings, self.artefacts)
        self.notes = []

    def answer(self, *logs):
        for number, (log, code) in enumerate(logs):
            (self.lava / "answers" / f"{number}.{code}").write_text(log)

    def request(self, **changes):
        kernel, modules = self.artefacts.put_bytes(b"kernel"), self.artefacts.put_bytes(b"modules")
        return request(**({"kernel": kernel, "modules": modules} | changes))

    def run(self, **changes):
        return self.lab.run(self.request(**changes), self.notes.append)

    def seen(self):
        return sorted((self.lava / "seen").iterdir())


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def good():
    asked = request()
    cases = dict.fromkeys(expected_cases(asked), "pass")
    return good_job(cases, [*block(files(asked)), "RTBISECT-DONE"]), 0


def test_a_good_boot_is_complete(bench):
    bench.answer(good())
    run = bench.run()
    assert run.status is RunStatus.COMPLETE
    assert run.measurements
    assert dict(run.facts)["smt_active"] == "1"
    assert run.window_order == tuple(w.name for w in request().windows)
    assert gzip.decompress(bench.artefacts.path(run.log).read_bytes()).decode() == good()[0]


def test_lava_run_gets_the_artefacts_by_name_and_hash(bench):
    bench.answer(good())
    asked = bench.request()
    bench.lab.run(asked, bench.notes.append)
    (seen,) = bench.seen()
    images = yaml.safe_load((seen / "job.yaml").read_text())["actions"][0]["deploy"]["images"]
    assert images["kernel"]["sha256sum"] == asked.kernel
    assert images["ramdisk"]["overlays"]["modules"]["sha256sum"] == asked.modules
    assert images["ramdisk"]["url"].endswith("/ramdisk.cpio.gz")
    assert yaml.safe_load((seen / "device.yaml").read_text())["command"] == "qemu"


def test_the_process_group_is_noted_and_the_lock_held_while_it_runs(bench):
    bench.answer(good())
    bench.run()
    (seen,) = bench.seen()
    assert not (seen / "lock-was-free").exists()
    assert [note.split(":")[0] for note in bench.notes] == ["pgid"]
    with (bench.lava / "machine.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_job_ids_differ_and_job_folders_go_away(bench):
    bench.answer(good(), good())
    bench.run()
    bench.run()
    ids = [(seen / "argv").read_text().split("\n")[1] for seen in bench.seen()]
    assert len(set(ids)) == 2
    assert list((bench.settings.work_dir / "jobs").iterdir()) == []


def test_a_busy_machine_is_told(bench):
    with (bench.lava / "machine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BusyError):
            bench.run()


def test_a_panic_is_a_value_with_its_log(bench):
    console = ["Kernel panic - not syncing: Attempted to kill init!"]
    bench.answer((failed_job(["kernel-messages", *BOOT], "Job", "panic", console), 1))
    run = bench.run()
    assert run.status is RunStatus.BOOT_FAILED
    assert run.signature == "boot: Attempted to kill init!"
    assert run.measurements == ()
    assert bench.artefacts.path(run.log).is_file()


def test_a_hang_is_a_figure_where_it_was_asked_for(bench):
    told = ["[    9.1] rtbisect-symptom: frozen nr_periods"]
    told += ["[    9.2] Kernel panic - not syncing: sysrq triggered crash"]
    log = failed_job(["0_rtbisect", "lava-test-shell"], "Job", "panic", [STARTED, *told])
    bench.answer((log, 1), (log, 1))
    run = bench.run()
    assert (run.status, run.signature) == (RunStatus.HUNG, "suite: frozen nr_periods")
    assert run.measurements == ()
    run = bench.run(windows=select(["osnoise-off", "stall"]))
    # Nothing says that it was in this window.
    assert (run.status, run.measurements) == (RunStatus.HUNG, ())
    begun = "[    8.0] rtbisect: window stall begins"
    over = "[    9.0] rtbisect: window stall ends"
    for lines, status in (([begun, over], RunStatus.HUNG), ([begun], RunStatus.COMPLETE)):
        job = ["0_rtbisect", "lava-test-shell"]
        log = failed_job(job, "Job", "panic", [STARTED, *lines, *told])
        bench.answer((log, 1))
        run = bench.run(windows=select(["osnoise-off", "stall"]))
        assert run.status is status
    assert run.status is RunStatus.COMPLETE
    assert [(m.name, m.value) for m in run.measurements] == [("frozen_periods", 1.0)]
    assert run.reason == Finding.of(Boots.PANIC, part=Part.SUITE, symptom="frozen nr_periods")


def test_a_boot_without_its_block_is_invalid(bench):
    cases = dict.fromkeys(expected_cases(request()), "pass")
    bench.answer((good_job(cases, ["RTBISECT-DONE"]), 0))
    run = bench.run()
    assert (run.status, run.reason.kind) == (RunStatus.INVALID, Blocks.NONE)


def test_a_fault_of_the_lab_is_tried_again(bench):
    cancelled = (failed_job([], "Canceled", "The job was canceled"), 1)
    bench.answer(cancelled, cancelled, good())
    assert bench.run().complete
    assert len(bench.seen()) == 3


def test_a_fault_that_stays_is_raised_with_its_log(bench):
    bench.answer(*[(failed_job([], "Canceled", "The job was canceled"), 1)] * 3)
    with pytest.raises(InfrastructureError, match=r"log: artefact [0-9a-f]{12}"):
        bench.run()
    assert len(bench.seen()) == 3


def test_a_wrong_job_is_not_tried_again(bench):
    bench.answer((failed_job(["validate"], "Job", "Invalid job data"), 1))
    with pytest.raises(ConfigError):
        bench.run()
    assert len(bench.seen()) == 1


def test_an_end_without_a_word_is_believed_when_it_comes_twice(bench):
    reset = (failed_job(BOOT, "Infrastructure", "Connection closed"), 1)
    bench.answer(reset, good())
    assert bench.run().complete
    bench.answer(reset, reset, good())
    assert bench.run().status is RunStatus.BOOT_FAILED
    assert len(bench.seen()) == 4


def test_a_host_that_ran_out_of_memory_says_nothing_about_the_kernel(bench, monkeypatch):
    kills = iter(range(10))
    monkeypatch.setattr(qemu_host, "oom_kills", lambda: next(kills))
    bench.answer(*[(failed_job(BOOT, "Infrastructure", "Connection closed"), 1)] * 3)
    with pytest.raises(InfrastructureError, match=r"ran out of memory.*artefact") as caught:
        bench.run()
    assert caught.value.retryable
    assert len(bench.seen()) == 3


def test_a_boot_that_got_through_counts_although_something_was_killed(bench, monkeypatch):
    kills = iter(range(10))
    monkeypatch.setattr(qemu_host, "oom_kills", lambda: next(kills))
    bench.answer(good())
    assert bench.run().complete


def test_the_test_timeout_follows_what_is_asked(bench):
    bench.answer(good())
    bench.run(window_ms=100_000)
    (seen,) = bench.seen()
    test = yaml.safe_load((seen / "job.yaml").read_text())["actions"][2]["test"]
    # Four windows of interrupts at twice their length, two of 100 RCU calls.
    assert test["timeout"] == {"seconds": 900}


def test_a_missing_artefact_stops_before_anything_runs(bench):
    with pytest.raises(InfrastructureError, match="is not in"):
        bench.run(kernel="d" * 64)
    assert bench.seen() == []


def test_preflight_lets_lava_validate(bench):
    bench.answer((good_job({}, []), 0))
    bench.lab.preflight(request())
    (seen,) = bench.seen()
    assert "--validate" in (seen / "argv").read_text().split("\n")


def test_preflight_says_what_is_wrong(bench):
    bench.answer((failed_job(["validate"], "Job", "Missing 'arch' in job context"), 1))
    with pytest.raises(ConfigError, match="Missing 'arch'"):
        bench.lab.preflight(request())
    (bench.lava / "dispatcher.yaml").unlink()
    with pytest.raises(ConfigError, match=r"dispatcher\.yaml is not there; run `make setup`"):
        bench.lab.preflight(request())


def test_preflight_refuses_a_place_that_lava_cannot_name(bench, tmp_path):
    settings = dataclasses.replace(bench.settings, work_dir=tmp_path / "with space")
    with pytest.raises(ConfigError, match="cannot pass on"):
        LavaRunLab(settings, bench.artefacts).preflight(request())


def test_a_device_type_without_template_is_refused(bench):
    with pytest.raises(ConfigError, match=r"nosuch\.jinja2"):
        bench.run(device_type=dataclasses.replace(DEVICE, template="nosuch.jinja2"))
