# SPDX-License-Identifier: GPL-2.0-or-later
"""The road through a real LAVA server: real jobs, and faults that are done to them."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import replace
from http.server import ThreadingHTTPServer

import pytest
import requests
import yaml

from helpers.findings import spoken
from helpers.lossy_proxy import Proxy
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab.job_definition import Timeouts
from rtbisect.lab.lava.claims import claims
from rtbisect.lab.lava.known_good import KnownGood
from rtbisect.lab.lava.remote import LavaServerLab, PollIntervals
from rtbisect.lab.lava.rest import LavaRest, RestSettings
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.lab import RunStatus
from rtbisect.model.ports import KeptNote
from rtbisect_labkit import daemons


class Note(KeptNote):
    """The note of a boot; `job` is the server's number of it."""

    @property
    def job(self):
        return int(self.kept[-1].rpartition(":")[2])


def test_a_boot_is_the_same_by_both_roads(lab, served, guests, request_of):
    request = request_of("both-roads", "rcu-off")
    runs = [lab().run(request, Note()), served.run(request, Note())]
    assert [run.status for run in runs] == [RunStatus.COMPLETE] * 2, [run.reason for run in runs]
    told = [[(m.suite, m.name, m.window, m.unit, m.cpu) for m in run.measurements] for run in runs]
    assert told[0] == told[1]
    facts = [dict(run.facts) for run in runs]
    for key in ("uname_v", "cmdline", "isolated", "nohz_full", "smt_active", "cpu_model"):
        assert facts[0][key] == facts[1][key], key
    assert runs[1].device in guests


def test_a_plain_user_is_enough(served, request_of):
    found = list(claims(served, request_of("claims", "rcu-off"), boot=False))
    assert [claim.name for claim in found if claim.holds is False] == []
    assert found[1].said == "user rtbisect"


class Killed(BaseException):
    """What ends a session that is killed: nobody catches it."""


class LastWords(Note):
    """Notes the id of the job, and is killed."""

    def __call__(self, external_id):
        super().__call__(external_id)
        if len(self.kept) == 2:
            raise Killed


def test_a_killed_session_leaves_a_job_that_is_taken_up_again(served, request_of, monkeypatch):
    request = request_of("taken-up", "rcu-off")
    first = LastWords()
    # A session that is interrupted ends its job; one that is killed has no time for it.
    monkeypatch.setattr(LavaServerLab, "_let_go", lambda *_words: None)
    with pytest.raises(Killed):
        served.run(request, first)
    monkeypatch.undo()
    run = served.run(request, second := Note(first.kept[-1]))
    assert run.complete, run.reason
    assert second.job == first.job
    key = first.kept[-1].split(":")[1]
    assert len(served.rest.find(key)) == 1


def running(served, note):
    """Wait until the job of `note` runs on its device."""
    while len(note.kept) < 2 or served.rest.job(note.job).state != "Running":
        time.sleep(0.2)


def meanwhile(act):
    threading.Thread(target=act, daemon=True).start()


def test_a_job_that_a_person_cancels_pauses_the_campaign(served, request_of, fault):
    note = Note()

    def cancel():
        running(served, note)
        served.rest.cancel(note.job)

    meanwhile(cancel)
    with pytest.raises(InfrastructureError, match="was cancelled there"), fault("job cancelled"):
        served.run(request_of("cancelled", "rcu-off"), note)


def test_a_kernel_that_panics_is_the_kernels_fault(served, request_of, fault):
    request = request_of("panic", "rcu-off")
    # rdinit alone falls back to the shell of the initramfs; a requested init must exist.
    line = request.profile.boot_line + " rdinit=/nowhere init=/nowhere"
    broken = replace(request, profile=replace(request.profile, boot_line=line))
    with fault("kernel panics at boot") as told:
        run = served.run(broken, Note())
        told(f"{run.status.value}: {spoken(run.reason)}")
    assert run.status is RunStatus.BOOT_FAILED
    assert run.reason.kind == Boots.PANIC


def test_a_hang_at_boot_is_the_kernels(served, once, request_of, fault):
    request = request_of("boot-hang", "rcu-off")
    line = request.profile.boot_line + " rdinit=/bin/cat"
    hangs = replace(request, profile=replace(request.profile, boot_line=line))
    with fault("hang at boot") as told:
        run = once(timeouts=Timeouts(boot_s=20)).run(hangs, Note())
        told(f"{run.status.value}: {spoken(run.reason)}")
    assert run.status is RunStatus.BOOT_FAILED
    assert run.reason.kind == Boots.HANG


def test_a_hang_in_a_test_is_the_kernels(once, request_of, fault):
    request = request_of("hang", "osnoise-off", window_ms=600_000)
    with fault("hang in a suite") as told:
        run = once(timeouts=Timeouts(test_s=12)).run(request, Note())
        told(f"{run.status.value}: {spoken(run.reason)}")
    assert run.status is RunStatus.HUNG
    assert run.measurements == ()


def test_a_panic_in_a_test_is_the_kernels(once, request_of, fault):
    lab = once()
    text = lab._job_text

    def panics(*words):
        job = yaml.safe_load(text(*words))
        (test,) = (action["test"] for action in job["actions"] if "test" in action)
        steps = test["definitions"][0]["repository"]["run"]["steps"]
        steps.insert(0, "echo c >/proc/sysrq-trigger")
        return yaml.safe_dump(job)

    lab._job_text = panics
    with fault("kernel panics in a suite") as told:
        run = lab.run(request_of("suite-panic", "rcu-off"), Note())
        told(f"{run.status.value}: {spoken(run.reason)}")
    assert run.status is RunStatus.HUNG
    assert "sysrq" in run.reason.data["symptom"]
    assert run.measurements == ()


def test_a_kernel_image_that_is_cut_off_is_not_booted(served, once, request_of, fault):
    request = request_of("cut", "rcu-off")
    store = served.artefacts
    whole = store.path(request.kernel).read_bytes()
    cut = store.put_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigError, match="is cut off"), fault("kernel image cut off"):
        once().run(replace(request, kernel=cut), Note())


@pytest.fixture
def known(served, tmp_path, request_of):
    """Another image of the kernel that requests have, known to boot."""
    store = served.artefacts
    mine = request_of("known", "rcu-off")
    other = store.put_bytes(store.path(mine.kernel).read_bytes() + b"\0")
    found = KnownGood(tmp_path / "known-good.json", store)
    found.put(replace(mine, kernel=other))
    return found


def test_a_prompt_that_no_kernel_gets_to_is_the_labs(once, known, request_of, fault):
    with pytest.raises(InfrastructureError, match="so does"), fault("no kernel gets to its prompt"):
        once(timeouts=Timeouts(boot_s=1), known_good=known).run(
            request_of("silent", "rcu-off"), Note()
        )


def test_a_kernel_that_hangs_where_another_one_boots_is_to_blame(once, known, request_of, fault):
    request = request_of("own-silence", "rcu-off")
    store = known._artefacts
    # A jump to itself where the kernel would unpack itself (boot.rst: 64-bit entry point).
    image = bytearray(store.path(request.kernel).read_bytes())
    begin = ((image[0x1F1] or 4) + 1) * 512
    for entry in (begin, begin + 0x200):
        image[entry : entry + 2] = b"\xeb\xfe"
    hangs = replace(request, kernel=store.put_bytes(bytes(image)))
    with fault("kernel hangs at once, another one boots") as told:
        run = once(timeouts=Timeouts(boot_s=20), known_good=known).run(hangs, Note())
        told(f"{run.status.value}: {spoken(run.reason)}")
    assert run.status is RunStatus.BOOT_FAILED


def test_a_token_that_is_none_stops_with_what_to_do(served, server, tmp_path, request_of, fault):
    wrong = tmp_path / "token"
    wrong.write_text("0" * 32 + "\n")
    wrong.chmod(0o600)
    rest = LavaRest(RestSettings(url=server.url, token=wrong))
    lab = LavaServerLab(served.settings, rest, served.desk, served.artefacts)
    with pytest.raises(ConfigError, match="does not take the token"), fault("token revoked"):
        lab.run(request_of("no-token", "rcu-off"), Note())


@pytest.fixture
def offers(served, monkeypatch):
    """Change what the desk says that it gives out."""

    def change(how):
        offer = served.desk.offer
        monkeypatch.setattr(served.desk, "offer", lambda *words: how(offer(*words)))

    return change


def test_a_server_that_serves_the_old_kernel_is_the_labs_fault(
    once, offers, kernel, newer, request_of, fault
):
    """Both kernels boot and measure, and `uname -v` is the same."""
    old = once().desk.offer(kernel.kernel, "kernel")
    offers(lambda offered: old if offered.sha256 == newer.kernel else offered)
    request = request_of("stale", "rcu-off", revision=newer.revision, kernel=newer.kernel)
    asked = replace(request, modules=newer.modules, build_id=newer.build_id)
    with pytest.raises(InfrastructureError, match="another kernel"), fault("old kernel served"):
        once().run(asked, Note())


def test_an_artefact_with_another_sha256_is_no_verdict(once, offers, request_of, fault):
    offers(lambda offered: replace(offered, sha256="0" * 64))
    with pytest.raises((ConfigError, InfrastructureError)), fault("artefact, wrong sha256"):
        once().run(request_of("wrong-sum", "rcu-off"), Note())


def test_an_artefact_that_is_gone_is_no_verdict(once, offers, request_of, fault):
    offers(lambda offered: replace(offered, url=f"{offered.url}-gone/x"))
    with pytest.raises((ConfigError, InfrastructureError)), fault("artefact, 404"):
        once().run(request_of("gone", "rcu-off"), Note())


@pytest.fixture
def disturbed(served, request_of, fault):
    """Run a job and do something to the lab while it runs; the boot has to be complete."""

    def go(what, act):
        note = Note()

        def disturb():
            running(served, note)
            act()

        meanwhile(disturb)
        with fault(what) as told:
            run = served.run(request_of(what.replace(" ", "-"), "rcu-off"), note)
            told(run.status.value)
        assert run.complete, run.reason

    return go


def test_a_server_that_restarts_in_a_job_loses_nothing(disturbed, server):
    def restart():
        daemons.end(server.folder, "web")
        daemons.end(server.folder, "scheduler")
        time.sleep(3.0)
        server.up()

    disturbed("server restarts in a job", restart)


def test_a_worker_that_is_killed_in_a_job_loses_nothing(disturbed, server):
    def kill():
        os.kill(daemons.runs(server.folder, "worker"), signal.SIGKILL)
        time.sleep(3.0)
        server.up()

    disturbed("worker killed in a job", kill)


def test_a_database_that_restarts_in_a_job_loses_nothing(disturbed, server):
    words = [*server._pg_ctl(), "-w", "-m", "fast", "restart"]
    disturbed("database restarts in a job", lambda: server._as("postgres", words))


def test_a_call_that_is_lost_costs_a_pause(served, once, request_of, monkeypatch, fault):
    nobody = "http://127.0.0.1:9/ended/"
    monkeypatch.setattr(served.desk, "expect", lambda key: nobody + key)
    with fault("callback lost") as told:
        run = once(pace=PollIntervals(called_s=5.0)).run(request_of("lost-call", "rcu-off"), Note())
        told(run.status.value)
    assert run.complete, run.reason


def test_a_call_that_is_forged_ends_no_job(served, request_of, fault):
    """Whoever sees the job's text can call; the server itself is asked then."""
    note, answers = Note(), []

    def forge():
        running(served, note)
        key = note.kept[-1].split(":")[1]
        url = f"{served.desk.settings.url}/ended/{key}"
        for token in ("forged", key, key):
            answer = requests.post(url, "{}", headers={"Authorization": token}, timeout=10)
            answers.append(answer.status_code)
            time.sleep(0.5)

    meanwhile(forge)
    with fault("callback forged") as told:
        run = served.run(request_of("forged", "rcu-off"), note)
        told(run.status.value)
    assert run.complete, run.reason
    assert answers == [403, 200, 200]


@contextlib.contextmanager
def small_disk(place):
    """A disk with room for a job's texts, not for a kernel."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    subprocess.run([mount, "-t", "tmpfs", "-o", "size=512k", "none", place], check=True)
    try:
        yield
    finally:
        subprocess.run([umount, "-l", place], check=True)


def test_a_dispatcher_whose_disk_is_full_is_the_labs(once, request_of, fault):
    with (
        small_disk("/var/lib/lava/dispatcher/tmp"),
        pytest.raises(InfrastructureError),
        fault("disk full on the dispatcher"),
    ):
        once().run(request_of("full", "rcu-off"), Note())


def test_devices_that_are_out_of_service_are_named(once, server, guests, request_of, fault):
    for name in guests:
        server.health(name, "MAINTENANCE")
    try:
        lab = once(pace=PollIntervals(hopeless_s=3.0))
        with (
            pytest.raises(InfrastructureError, match=f"{guests[0]} is in maintenance"),
            fault("devices taken offline"),
        ):
            lab.run(request_of("offline", "rcu-off"), Note())
    finally:
        for name in guests:
            server.health(name, "GOOD")


def test_an_answer_that_is_lost_is_no_second_job(served, server, request_of, fault):
    Proxy.target, Proxy.drops, Proxy.bad = server.url, 1, 2
    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as front:
        meanwhile(front.serve_forever)
        url = f"http://127.0.0.1:{front.server_address[1]}"
        rest = LavaRest(RestSettings(url=url, token=server.token))
        lab = LavaServerLab(served.settings, rest, served.desk, served.artefacts)
        with fault("answer to a submission lost, then 500 and 502") as told:
            run = lab.run(request_of("lost-answer", "rcu-off"), note := Note())
            told(run.status.value)
        front.shutdown()
    assert run.complete, run.reason
    key = note.kept[-1].split(":")[1]
    assert len(served.rest.find(key)) == 1
    assert Proxy.drops == 0
