# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose silence it is when a boot ends without a word."""

import json
import struct
from dataclasses import replace

import pytest

from helpers.lab_logs import block, failed_job, files, good_job, request
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import job_log
from rtbisect.lab.job_definition import expected_cases
from rtbisect.lab.lava.base import LavaLab, LavaSettings, Patience, missing_bytes
from rtbisect.lab.lava.known_good import KnownGood
from rtbisect.lab.lava.verdict import EndedJob
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Labs
from rtbisect.model.lab import RunStatus
from rtbisect.model.ports import KeptNote
from rtbisect.store.artefacts import ArtefactStore

SILENT = failed_job(["login-action"], "Job", "login-action timed out after 60 seconds", ["..."])
PANIC = failed_job(
    ["login-action"], "Job", "login-action timed out", ["Kernel panic - not syncing: no init"]
)


class Lab(LavaLab):
    """Jobs end as `ends` says: device, log; `jobs` has the kernels that were booted."""

    def __init__(self, root):
        store = ArtefactStore(root)
        self.known = KnownGood(root / "known.json", store)
        super().__init__(store)
        self.settings = LavaSettings(
            work_dir=root / "lab",
            lava_jobs=root,
            patience=Patience(retries=1, pause_s=0.0),
            known_good=self.known,
        )
        self.ends, self.jobs, self.faults, self.ill = [], [], [], None

    def width(self, device_type):
        return 1

    def _facts(self):
        return ()

    def _count_fault(self, device, error):
        self.faults.append((device, error))

    def _device_fault(self, device):
        return self.ill

    def _job(self, request, note):
        note("job")
        self.jobs.append(request.kernel)
        device, log = self.ends.pop(0)
        if log == "good":
            cases = dict.fromkeys(expected_cases(request), "pass")
            log = good_job(cases, [*block(files(request)), "RTBISECT-DONE"])
        return EndedJob(log=job_log.parse(log), artefact="f" * 64, how="it ended", device=device)


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path)


def asked(lab, kernel):
    return request(kernel=lab.artefacts.put_bytes(kernel), modules="")


@pytest.fixture
def bad(lab):
    """The request of a kernel, where another one is known to boot."""
    good = asked(lab, b"good")
    lab.ends = [("rt01", "good")]
    assert lab.run(good, KeptNote()).complete
    lab.jobs.clear()
    lab.faults.clear()
    return asked(lab, b"bad")


def test_silence_that_does_not_come_again_is_chance(lab, bad):
    lab.ends = [("rt01", SILENT), ("rt01", "good")]
    assert lab.run(bad, KeptNote()).complete
    assert len(lab.jobs) == 2


def test_a_kernel_is_silent_where_another_one_boots(lab, bad):
    lab.ends = [("rt01", SILENT), ("rt01", SILENT), ("rt01", "good")]
    run = lab.run(bad, note := KeptNote())
    assert (run.status, run.device) == (RunStatus.BOOT_FAILED, "rt01")
    good = lab.jobs[2]
    assert good != bad.kernel
    # The other kernel's job is none that a resumed session could take for ours.
    assert len(note.kept) == 2
    # From now on it is believed.
    lab.ends = [("rt01", SILENT)]
    assert lab.run(bad, KeptNote()).status is RunStatus.BOOT_FAILED
    # Another way to end is another question.
    hang = failed_job(["0_rtbisect", "lava-test-shell"], "Test", "lava-test-shell timed out")
    lab.ends = [("rt01", hang), ("rt01", "good")]
    assert lab.run(bad, KeptNote()).complete


def test_a_list_of_before_builds_had_ids_is_read(lab):
    asked_for = asked(lab, b"good")
    lab.ends = [("rt01", "good")]
    assert lab.run(asked_for, KeptNote()).complete
    place = lab.known._path
    rows = json.loads(place.read_text())
    del rows["qemu-smt"][0]["build_id"]
    place.write_text(json.dumps(rows))
    other = lab.known.instead_of(replace(asked(lab, b"new"), build_id="ab" * 20))
    assert (other.kernel, other.build_id) == (asked_for.kernel, "")


def test_a_device_where_a_good_kernel_is_silent_is_the_labs(lab, bad):
    lab.ends = [("rt01", SILENT)] * 5
    lab.ill = Finding.of(Labs.NO_BMC, error="BMC 192.0.2.7 port 623 does not answer")
    with pytest.raises(InfrastructureError, match=r"so does 0123.*does not answer") as caught:
        lab.run(bad, KeptNote())
    assert "rt01" in caught.value.hint
    assert [device for device, error in lab.faults if error] == ["rt01", "rt01"]
    assert lab.ends == []


def test_what_devices_share_may_be_what_is_broken(lab, bad):
    lab.ends = [("rt01", SILENT), ("rt02", SILENT), ("rt01", SILENT)] * 2
    with pytest.raises(InfrastructureError, match="so does"):
        lab.run(bad, KeptNote())


def test_a_good_kernel_that_boots_elsewhere_answers_for_no_device(lab, bad):
    lab.ends = [("rt01", SILENT)] * 2 + [("rt02", "good")] * 2 + [("rt01", "good")]
    assert lab.run(bad, KeptNote()).status is RunStatus.BOOT_FAILED
    assert lab.ends == []


def test_a_device_that_no_other_kernel_met_blames_no_kernel(lab, bad):
    """LAVA gives it to this kernel each time, and never to one that boots."""
    elsewhere = [("rt02", "good")] * 3
    lab.ends = [("rt01", SILENT)] * 2 + elsewhere + [("rt01", SILENT)] + elsewhere
    with pytest.raises(InfrastructureError) as caught:
        lab.run(bad, KeptNote())
    assert not caught.value.retryable
    assert "rt01" in caught.value.hint
    assert lab.ends == []
    # On another device it is asked for itself, and silent there it is the kernel.
    lab.ends = [("rt01", SILENT)] * 2 + elsewhere + [("rt02", "good")]
    assert lab.run(bad, KeptNote()).complete
    lab.ends = [("rt01", SILENT)] * 2 + elsewhere + [("rt03", SILENT)] + elsewhere
    assert lab.run(bad, KeptNote()).status is RunStatus.BOOT_FAILED
    assert lab.ends == []


def test_a_kernel_that_tells_how_it_ends_is_believed_at_once(lab, bad):
    lab.ends = [("rt01", PANIC)]
    assert lab.run(bad, KeptNote()).status is RunStatus.BOOT_FAILED


def test_without_a_good_kernel_twice_is_believed(lab):
    lab.ends = [("rt01", SILENT)] * 2
    assert lab.run(asked(lab, b"bad"), KeptNote()).status is RunStatus.BOOT_FAILED


# --- the list ---


def test_the_newest_kernels_are_kept_and_no_kernel_answers_for_itself(tmp_path):
    store = ArtefactStore(tmp_path)
    known = KnownGood(tmp_path / "lab/known.json", store)
    base = request(modules="")
    first, second, third = (
        replace(base, kernel=store.put_bytes(bytes([n])), revision=str(n) * 40, probes=("f",))
        for n in (1, 2, 3)
    )
    assert known.instead_of(first) is None
    for each in (first, second, third, third, second):
        known.put(each)
    found = known.instead_of(second)
    assert (found.kernel, found.revision, found.probes) == (third.kernel, third.revision, ())
    assert known.instead_of(third).kernel == second.kernel
    other = replace(first, device_type=replace(first.device_type, name="another"))
    assert known.instead_of(other) is None
    store.path(second.kernel).unlink()
    assert known.instead_of(first).kernel == third.kernel


def test_kernels_that_take_turns_write_the_list_once(tmp_path):
    store = ArtefactStore(tmp_path)
    known = KnownGood(place := tmp_path / "lab/known.json", store)
    pair = [replace(request(modules=""), kernel=store.put_bytes(bytes([n]))) for n in (1, 2)]
    for each in pair:
        known.put(each)
    written = place.stat().st_ino
    for each in pair:
        known.put(each)
    assert place.stat().st_ino == written


@pytest.mark.parametrize("text", ["", "[]", "{", '{"qemu-smt": [{"kernel": 1}]}', '{"a": 1}'])
def test_a_list_that_is_none_is_empty(tmp_path, text):
    place = tmp_path / "known.json"
    place.write_text(text)
    known = KnownGood(place, ArtefactStore(tmp_path))
    assert known.instead_of(request()) is None
    known.put(request())
    assert known.instead_of(request(kernel="c" * 64, modules="")) is None  # no such artefact


# --- images ---


def image(setup, payload, *, told=None):
    """An image of `setup` sectors after the first, and `payload` bytes."""
    head = bytearray(512 * ((setup or 4) + 1))
    head[0x1F1] = setup
    struct.pack_into("<I", head, 0x1F4, -(-(payload if told is None else told) // 16))
    head[0x202:0x206] = b"HdrS"
    return bytes(head) + b"x" * payload


@pytest.mark.parametrize("setup", [0, 1, 31])
def test_a_whole_image_is_whole(tmp_path, setup):
    place = tmp_path / "bzImage"
    for payload in (16, 4096, 4097):
        place.write_bytes(image(setup, payload))
        assert missing_bytes(place) == 0
    place.write_bytes(image(setup, 4096, told=8192))
    assert missing_bytes(place) == 4096 - 15
    # Who signs an image makes it longer.
    place.write_bytes(image(setup, 4096) + b"signature")
    assert missing_bytes(place) == 0


@pytest.mark.parametrize("data", [b"", b"kernel", b"\x7fELF" + bytes(4096)])
def test_what_is_no_x86_image_is_not_judged(tmp_path, data):
    place = tmp_path / "Image"
    place.write_bytes(data)
    assert missing_bytes(place) == 0


def test_an_image_that_was_cut_off_is_not_booted(lab):
    whole = image(4, 8192)
    with pytest.raises(ConfigError, match=r"is cut off: \d+ bytes are missing"):
        lab.run(asked(lab, whole[:4000]), KeptNote())
    assert lab.jobs == []


def test_a_kernel_that_somebody_has_sent_is_not_kept(tmp_path):
    store = ArtefactStore(tmp_path)
    known = KnownGood(tmp_path / "known.json", store)
    sent = replace(request(modules=""), kernel=store.put_bytes(b"sent"), foreign=True)
    known.put(sent)
    assert known.instead_of(replace(sent, kernel="c" * 64)) is None
