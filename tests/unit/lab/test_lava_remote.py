# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab behind a LAVA server, with a server that loses answers, restarts and says no."""

import dataclasses
import gzip
import threading
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
import yaml

from helpers.lab_logs import STARTED, block, failed_job, files, good_job, request, small_lava_jobs
from helpers.lava_rest_server import PAGE, TOKEN, LavaServer
from rtbisect.campaign import session
from rtbisect.campaign.fingerprint import SetupChangedError
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab.job_definition import expected_cases
from rtbisect.lab.lava import fair_use
from rtbisect.lab.lava.artefacts_http import Desk, DeskSettings
from rtbisect.lab.lava.base import Patience
from rtbisect.lab.lava.claims import Claim, claims, first_claims
from rtbisect.lab.lava.fair_use import FairUse
from rtbisect.lab.lava.quarantine import Quarantine
from rtbisect.lab.lava.remote import LavaServerLab
from rtbisect.lab.lava.rest import GoneError, LavaRest, RestSettings
from rtbisect.lab.lava.rest_types import DeviceState, JobState
from rtbisect.lab.lava.settings import LavaServerSettings, PollIntervals
from rtbisect.model.campaign import CampaignRequest
from rtbisect.model.lab import RunStatus
from rtbisect.model.ports import KeptNote, NoNote
from rtbisect.store.artefacts import ArtefactStore
from rtbisect.store.campaigns import CampaignStore

KEY = "fedcba9876543210"
POWER = failed_job(["pdu-reboot", "reset-device"], "Infrastructure", "'power' failed")


class Bench:
    def __init__(self, root):
        self.root = root
        self.server = LavaServer()
        self.artefacts = ArtefactStore(root / "artefacts")
        self.token = root / "token"
        self.token.write_text(f"{TOKEN}\n")
        self.token.chmod(0o600)
        self.settings = LavaServerSettings(
            lab="ours",
            work_dir=root / "work",
            **small_lava_jobs(root),
            patience=Patience(retries=1, pause_s=0.0),
            pace=PollIntervals(look_s=0.0, called_s=0.0, settle_s=0.0, hopeless_s=-1.0),
        )
        self.desk = Desk(DeskSettings("http://127.0.0.1:1"), self.artefacts)
        self.told = []
        self.good = good()

    def rest(self, **changes):
        settings = {"url": self.server.url, "token": self.token, "outage_s": 0.0} | changes
        return LavaRest(RestSettings(**settings), tell=self.told.append, sleep=lambda _s: None)

    def lab(self, **rest):
        return LavaServerLab(
            self.settings, self.rest(**rest), self.desk, self.artefacts, self.told.append
        )

    def request(self):
        return request(kernel=self.artefacts.put_bytes(b"kernel"), modules="")

    def run(self, note=None, **rest):
        return self.lab(**rest).run(self.request(), note or KeptNote())


def good():
    asked = request()
    cases = dict.fromkeys(expected_cases(asked), "pass")
    return good_job(cases, [*block(files(asked)), "RTBISECT-DONE"])


@pytest.fixture
def bench(tmp_path):
    here = Bench(tmp_path)
    yield here
    here.desk.close()
    here.server.close()


def test_a_good_boot_is_complete_and_told_with_its_host(bench):
    bench.server.logs = [bench.good]
    bench.server.looks = 3
    run = bench.run(note := KeptNote())
    assert (run.status, run.device, run.seconds) == (RunStatus.COMPLETE, "host-1", 42.25)
    assert run.measurements
    assert dict(run.facts)["lab"] == "ours"
    assert gzip.decompress(bench.artefacts.path(run.log).read_bytes()).decode() == bench.good
    (job,) = bench.server.submitted()
    key = yaml.safe_load(job["definition"])["metadata"]["key"]
    assert job["description"].startswith(f"rtbisect {key} c1-run-1 ")
    # The key is noted before anything is submitted.
    assert note.kept == [f"lava:{key}", f"lava:{key}:{job['id']}"]


def test_a_log_as_a_server_hands_it_out_is_the_same(bench):
    bench.server.logs = ["".join(f"- {line}\n" for line in bench.good.splitlines())]
    assert bench.run().status is RunStatus.COMPLETE


@pytest.mark.parametrize("how", ["lost", "garbled", "drop", PAGE, (302, PAGE), 418, 502, 500])
def test_a_job_is_submitted_once_whatever_the_server_answers(bench, how):
    bench.server.script = [("POST jobs/", how)]
    bench.server.logs = [bench.good] * 2
    assert bench.run().status is RunStatus.COMPLETE
    assert len(bench.server.submitted()) == 1
    assert any("looking whether the job arrived" in line for line in bench.told)


def test_a_job_that_arrived_after_all_is_ended(bench):
    """The first request was done, and shows in the queue too late."""
    bench.server.script = [("POST jobs/", "lost")]
    bench.server.hidden = 1
    bench.server.looks = 2
    bench.server.logs = [bench.good] * 2
    assert bench.run().status is RunStatus.COMPLETE
    first, second = bench.server.submitted()
    assert bench.server.cancelled == [first["id"]]
    assert second["description"] == first["description"]


def test_a_server_that_never_takes_a_job_ends_the_wait(bench):
    bench.server.script = [("POST jobs/", 503)] * 9
    with pytest.raises(InfrastructureError, match="takes no job") as caught:
        bench.run()
    assert not caught.value.retryable
    assert bench.server.seen.count("POST jobs/") == 5


@pytest.mark.parametrize("known", ["by its id", "by its key"])
def test_a_job_that_outlived_us_is_taken_up_again(bench, known):
    bench.server.logs = [bench.good]
    lab = bench.lab()
    number = lab.rest.submit(lab._text(bench.request(), KEY))
    left = f"lava:{KEY}:{number}" if known == "by its id" else f"lava:{KEY}"
    assert bench.run(KeptNote(left)).status is RunStatus.COMPLETE
    assert len(bench.server.submitted()) == 1


def test_a_job_that_never_arrived_is_submitted_under_the_noted_key(bench):
    bench.server.logs = [bench.good]
    assert bench.run(KeptNote(f"lava:{KEY}")).status is RunStatus.COMPLETE
    (job,) = bench.server.submitted()
    assert KEY in job["description"]


@pytest.mark.parametrize("what", ["cancelled", "gone"])
def test_a_job_that_will_never_tell_is_not_taken_up(bench, what):
    """Else no resume would ever get past it."""
    bench.server.logs = ["", bench.good] if what == "cancelled" else [bench.good]
    lab = bench.lab()
    number = 7
    if what == "cancelled":
        number = lab.rest.submit(lab._text(bench.request(), KEY))
        lab.rest.cancel(number)
    run = lab.run(bench.request(), note := KeptNote(f"lava:{KEY}:{number}"))
    assert run.status is RunStatus.COMPLETE
    assert not any(KEY in kept for kept in note.kept)


def here(bench):
    """Devices on this machine: what runs there disturbs what it does next."""
    lock = bench.root / "machine.lock"
    bench.settings = dataclasses.replace(bench.settings, machine_lock=lock)
    return lock


BAD_ANSWERS = [
    PAGE,
    b"",
    b"null",
    b"[]",
    b'{"detail": "a proxy"}',
    b'{"id": true}',
    b'{"id": 7}',
    b'{"id": 1e999}',
    b'{"id": ' + b"9" * 5000 + b"}",
    b"[" * 100_000,
    b"\xff\xfe\x00",
    (302, PAGE),
    (403, PAGE),
    (404, PAGE),
    (418, PAGE),
    (520, PAGE),
    (599, b"{}"),
]


@pytest.mark.parametrize("bad", BAD_ANSWERS, ids=range(len(BAD_ANSWERS)))
@pytest.mark.parametrize("asked", ["jobs/100/", "jobs/", "jobs/100/logs/"])
def test_one_bad_answer_does_not_orphan_a_job(bench, bad, asked):
    bench.server.logs = [bench.good]
    bench.server.looks = 2
    # A job without a log has an empty one.
    bad = bad or PAGE if asked.endswith("logs/") else bad
    bench.server.script = [(f"GET {asked}", bad)]
    assert bench.run(outage_s=60.0).complete
    assert len(bench.server.submitted()) == 1
    assert bench.server.cancelled == []


@pytest.mark.parametrize("how", [404, 405])
def test_a_job_that_a_try_lost_is_taken_up_by_the_next_one(bench, how):
    """What LAVA itself denies is no outage."""
    bench.server.logs = [bench.good]
    bench.server.looks = 2
    bench.server.script = [("GET jobs/100/", how)]
    assert bench.run().complete
    assert len(bench.server.submitted()) == 1


def test_the_lock_is_not_let_go_beside_a_job_that_runs(bench):
    here(bench)
    bench.server.logs = [bench.good] * 2
    bench.server.looks = 9
    bench.server.script = [("GET jobs/100/", 405)]
    assert bench.run().complete
    # The first one was ended before the next try took the lock.
    assert bench.server.cancelled == [100]


def test_a_session_that_is_interrupted_leaves_no_job_on_this_machine(bench):
    here(bench)
    lab = bench.lab()

    def interrupted(*_words):
        raise KeyboardInterrupt

    lab.desk.wait = interrupted
    with pytest.raises(KeyboardInterrupt):
        lab.run(bench.request(), KeptNote())
    assert bench.server.cancelled == [100]


@pytest.mark.parametrize(
    ("ending", "on_this_machine", "cancelled"),
    [("loose", False, [100]), ("loose", True, [100]), ("kept", True, [100]), ("kept", False, [])],
)
def test_a_job_of_a_killed_session_is_ended_by_who_boots_next(
    bench, ending, on_this_machine, cancelled
):
    """`lab check`, `host accept` and known-good boots have no journal that could take it up."""
    if on_this_machine:
        here(bench)
    folder = bench.root / "work/under-way/ours"
    folder.mkdir(parents=True)
    lab = bench.lab()
    bench.server.looks = 5
    assert lab.rest.submit(lab._text(bench.request(), KEY)) == 100
    if ending == "loose" or on_this_machine:
        (folder / f"{KEY}.{ending}").touch()
    bench.server.looks, bench.server.logs = 1, [bench.good]
    assert bench.run(NoNote()).complete
    assert bench.server.cancelled == cancelled
    assert list(folder.iterdir()) == []


def test_a_job_that_somebody_waits_for_is_left_alone(bench):
    lab = bench.lab()
    bench.server.logs = ["", bench.good]
    assert lab.rest.submit(lab._text(bench.request(), KEY)) == 100
    with lab._under_way.hold(KEY, kept=False, wait_s=0.0):
        assert bench.run(NoNote()).complete
    assert bench.server.cancelled == []


def test_a_job_without_a_journal_is_entered_before_it_is_submitted(bench):
    """So that one can be found whose session was killed at any moment."""
    lab = bench.lab()
    submit, folder = lab.rest.submit, bench.root / "work/under-way/ours"
    seen = []

    def watched(text):
        seen.extend(folder.iterdir())
        return submit(text)

    lab.rest.submit = watched
    bench.server.logs = [bench.good]
    assert lab.run(bench.request(), NoNote()).complete
    (entry,) = seen
    assert entry.suffix == ".loose"
    assert entry.stem in bench.server.jobs[100]["description"]
    assert list(folder.iterdir()) == []


def test_a_job_that_cannot_be_ended_stays_entered(bench):
    lab = bench.lab()
    bench.server.script = [("GET jobs/100/", 502)] * 9
    bench.server.looks = 9
    bench.server.script += [("GET jobs/100/cancel/", 502), ("POST jobs/100/cancel/", 502)] * 9
    with pytest.raises(InfrastructureError, match="answers 502"):
        lab.run(bench.request(), NoNote())
    assert len(list((bench.root / "work/under-way/ours").iterdir())) == 1
    bench.server.script, bench.server.logs = [], [bench.good]
    assert bench.run(NoNote()).complete
    assert bench.server.cancelled == [100]


def test_another_job_under_the_noted_number_is_none_of_ours(bench):
    """A server that lost its database counts from one again."""
    lab = bench.lab()
    bench.server.logs = ["", bench.good]
    number = lab.rest.submit(lab._text(bench.request(), "0" * 16))
    assert lab.run(bench.request(), KeptNote(f"lava:{KEY}:{number}")).complete
    assert len(bench.server.submitted()) == 2


OURS, OLD = "ab" * 20, "cd" * 20


def runs_kernel(bench, told):
    """A log of a good boot that tells this build id first."""
    asked = request()
    cases = dict.fromkeys(expected_cases(asked), "pass")
    said = [f"rtbisect: build id {told}"] if told else []
    return good_job(cases, [*said, *block(files(asked)), "RTBISECT-DONE"])


def test_another_kernel_than_the_one_that_was_built_is_the_labs_fault(bench):
    """A server that goes on serving the old file; never an invalid run, which would take the commit
    out of the search.
    """
    asked = dataclasses.replace(bench.request(), build_id=OURS)
    bench.server.logs = [runs_kernel(bench, OLD)] * 2
    with pytest.raises(InfrastructureError, match="host-1 runs another kernel") as caught:
        bench.lab().run(asked, KeptNote())
    assert caught.value.retryable
    bench.server.logs = [runs_kernel(bench, OLD), runs_kernel(bench, OURS)]
    assert bench.lab().run(asked, KeptNote()).complete


def test_another_kernel_that_hangs_is_the_labs_fault(bench):
    hang = ["0_rtbisect", "lava-test-shell"]
    told = [STARTED, f"rtbisect: build id {OLD}", "Kernel panic - not syncing: x"]
    bench.server.logs = [failed_job(hang, "Test", "timed out", told)] * 2
    with pytest.raises(InfrastructureError, match="runs another kernel"):
        bench.lab().run(dataclasses.replace(bench.request(), build_id=OURS), KeptNote())


@pytest.mark.parametrize(("ours", "told"), [("", OLD), (OURS, ""), (OURS, OURS), (OURS, "cd*")])
def test_where_a_build_id_is_not_known_nothing_is_said(bench, ours, told):
    bench.server.logs = [runs_kernel(bench, told)]
    assert bench.lab().run(dataclasses.replace(bench.request(), build_id=ours), KeptNote()).complete


def test_what_another_road_left_is_nothing_to_take_up(bench):
    bench.server.logs = [bench.good]
    assert bench.run(KeptNote("pgid:12:34:56")).status is RunStatus.COMPLETE


def test_a_fault_of_the_lab_is_tried_again_as_another_job(bench):
    bench.server.logs = [POWER, bench.good]
    bench.server.ends = ["Incomplete", "Complete"]
    lab = bench.lab()
    number = lab.rest.submit(lab._text(bench.request(), KEY))
    run = lab.run(bench.request(), KeptNote(f"lava:{KEY}:{number}"))
    assert run.status is RunStatus.COMPLETE
    one, other = bench.server.submitted()
    assert KEY in one["description"]
    assert KEY not in other["description"]


def test_a_fault_that_stays_is_raised_with_its_log(bench):
    bench.server.logs = [POWER] * 2
    bench.server.ends = ["Incomplete"] * 2
    with pytest.raises(InfrastructureError, match="pdu-reboot failed") as caught:
        bench.run()
    assert "artefact" in caught.value.hint


def test_a_cancelled_job_stops_the_campaign(bench):
    bench.server.ends = ["Canceled"]
    with pytest.raises(InfrastructureError, match="was cancelled there") as caught:
        bench.run()
    assert not caught.value.retryable
    assert len(bench.server.submitted()) == 1


def test_the_verdict_may_stand_in_the_results_only(bench):
    lines = [line for line in POWER.splitlines() if '"job"' not in line]
    bench.server.logs = ["\n".join(lines)] * 2
    bench.server.ends = ["Incomplete"] * 2
    lab = bench.lab()
    metadata = yaml.safe_dump(
        {"definition": "lava", "error_type": "Infrastructure", "error_msg": "no power"}
    )
    rows = [
        {"name": "job", "result": "fail", "metadata": "definition: other"},
        {"name": "job", "result": "fail", "metadata": "{"},
        {"name": "job", "result": "fail", "metadata": metadata},
    ]
    submit = bench.server._submit

    def with_results(body):
        number = submit(body)
        bench.server.jobs[number]["tests"] = rows
        return number

    bench.server._submit = with_results
    with pytest.raises(InfrastructureError, match="pdu-reboot failed: no power"):
        lab.run(bench.request(), KeptNote())


def test_a_log_without_any_verdict_is_a_fault_of_the_lab(bench):
    bench.server.logs = ["", ""]
    bench.server.ends = ["Incomplete"] * 2
    with pytest.raises(InfrastructureError, match="ended as Incomplete, without a verdict"):
        bench.run()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_queue_without_a_device_is_left_with_the_reason(bench, method):
    bench.server.cancels_by = method
    bench.server.devices = [
        bench.server.device("host-1", "Maintenance"),
        bench.server.device("host-2", "Bad"),
    ]
    with pytest.raises(InfrastructureError, match="host-1 is in maintenance, host-2 is in bad"):
        bench.run()
    assert bench.server.cancelled == [100]
    bench.server.devices = [bench.server.device("host-1")]
    bench.server.workers = [{"hostname": "lab1", "state": "Offline"}]
    (found,) = bench.rest().devices("qemu-smt")
    assert found.why_not == "host-1's worker lab1 is offline"


def test_an_outage_is_waited_out(bench):
    bench.server.logs = [bench.good]
    bench.server.script = [("GET jobs/100/", how) for how in (502, 503, "drop", 500)]
    assert bench.run(outage_s=60.0).status is RunStatus.COMPLETE
    assert sum("trying again" in line for line in bench.told) == 1


def test_an_outage_that_lasts_is_told(bench):
    bench.server.script = [("GET jobs/100/", 502)] * 99
    with pytest.raises(InfrastructureError, match="answers 502, for 0 s now") as caught:
        bench.run()
    assert not caught.value.retryable


def test_a_revoked_token_is_a_matter_of_configuration(bench):
    bench.token.write_text("00000000")
    with pytest.raises(ConfigError, match=r"does not take the token \(401\)"):
        bench.run()


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [("", 0o600, "holds no token"), ("a b", 0o600, "no token"), (TOKEN, 0o644, "by others")],
)
def test_a_token_file_is_looked_at(bench, text, mode, said):
    bench.token.write_text(text)
    bench.token.chmod(mode)
    with pytest.raises(ConfigError, match=said):
        bench.rest()
    bench.token.unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        bench.rest()


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"id": "x"}', b"[" * 100_000, b"\xff\xfe"])
def test_nonsense_is_no_answer_of_lava(bench, body):
    bench.server.script = [("GET jobs/", body)]
    with pytest.raises(InfrastructureError, match=r"LAVA|no id|no JSON"):
        bench.rest().job(1)
    bench.server.script = [("GET devices/", body)]
    with pytest.raises(InfrastructureError):
        bench.rest().devices("x")


def test_a_job_that_is_gone_is_told(bench):
    with pytest.raises(GoneError, match="has no jobs/7"):
        bench.rest().job(7)
    assert bench.rest().log(7) == b""


def test_what_the_server_calls_invalid_is_ours_to_correct(bench):
    bench.lab().preflight(bench.request())
    with pytest.raises(ConfigError, match="no job_name"):
        bench.rest().validate("a: b\n")
    bench.server.script = [("POST jobs/", 400)]
    with pytest.raises(ConfigError, match="refuses the job: as told"):
        bench.rest().submit("a: b\n")


def test_who_only_asked_does_not_listen_any_more(bench):
    lab, other = bench.lab(), Desk(DeskSettings("http://127.0.0.1:1"), bench.artefacts)
    lab.desk = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), bench.artefacts)
    lab.desk.expect(KEY)
    address = lab.desk._server.server_address
    lab.preflight(bench.request())
    other.settings = DeskSettings("http://127.0.0.1:1", address)
    try:
        assert other.expect(KEY)
    finally:
        other.close()


def test_a_campaign_that_ended_lets_the_next_one_listen(bench, tmp_path, monkeypatch):
    bench.desk = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), bench.artefacts)
    lab = bench.lab()

    def begun(*_words):
        lab.desk.expect(KEY)
        return SimpleNamespace(tree="rt"), SimpleNamespace(lab=lab)

    def changed(*_words):
        raise SetupChangedError("the site file changed")

    monkeypatch.setattr(session.assemble, "assemble", begun)
    monkeypatch.setattr(session, "keep_setup", changed)
    store = CampaignStore(tmp_path)
    named = store.create("check", "{}", "2026-01-02T03:04:05+00:00")
    asked = CampaignRequest("check", "site.yaml", "rt", "", "")
    with pytest.raises(SetupChangedError):
        session._go(store, named, asked, None, SimpleNamespace(say=print))
    assert lab.desk._server is None


def test_a_job_is_ours_alone_to_read_unless_the_site_says_more(bench):
    text = bench.lab()._text(bench.request(), KEY)
    assert yaml.safe_load(text)["visibility"] == "personal"


def test_a_call_of_the_server_ends_the_pause(tmp_path):
    here = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), ArtefactStore(tmp_path))
    try:
        url = here.expect(KEY)
        assert url == f"http://127.0.0.1:1/ended/{KEY}"
        base = f"http://127.0.0.1:{here._server.server_address[1]}"

        def call(path, token):
            asked = urllib.request.Request(f"{base}{path}", b"{}", {"Authorization": token})
            try:
                with urllib.request.urlopen(asked, timeout=10) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                return error.code

        assert call(f"/ended/{KEY}", "forged") == 403
        assert call("/ended/ffffffffffffffff", KEY) == 403
        assert call("/ended/../../x", KEY) == 404
        assert not here.wait(KEY, 0.0)
        begin = time.monotonic()
        threading.Timer(0.05, call, (f"/ended/{KEY}", KEY)).start()
        assert here.wait(KEY, 600.0)
        assert time.monotonic() - begin < 300
        assert not here.wait(KEY, 0.0)
    finally:
        here.close()


def test_only_what_was_offered_is_served(tmp_path):
    store = ArtefactStore(tmp_path)
    here = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), store)
    kernel, log = store.put_bytes(b"kernel"), store.put_bytes(b"log")
    try:
        offered = here.offer(kernel, "kernel")
        word = here.settings.word
        assert offered.url == f"http://127.0.0.1:1/artefact/{word}/{kernel}/kernel"
        base = f"http://127.0.0.1:{here._server.server_address[1]}"

        def get(path, method="GET"):
            asked = urllib.request.Request(f"{base}{path}", method=method)
            try:
                with urllib.request.urlopen(asked, timeout=10) as answer:
                    return answer.status, answer.read(), answer.headers["Content-Length"]
            except urllib.error.HTTPError as error:
                return error.code, b"", None

        assert get(f"/artefact/{word}/{kernel}/kernel") == (200, b"kernel", "6")
        assert get(f"/artefact/{word}/{kernel}/kernel", "HEAD") == (200, b"", "6")
        assert get(f"/artefact/{word}/{log}/log")[0] == 404
        assert get(f"/artefact/{word}/{kernel}/../../x")[0] == 404
        assert get(f"/artefact/{kernel}/kernel")[0] == 404
        assert get("/")[0] == 404
        store.path(kernel).unlink()
        assert get(f"/artefact/{word}/{kernel}/kernel")[0] == 404
    finally:
        here.close()


def test_an_address_that_is_taken_is_told(tmp_path):
    store = ArtefactStore(tmp_path)
    one = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), store)
    sha256 = store.put_bytes(b"x")
    one.offer(sha256, "x")
    other = Desk(DeskSettings("http://127.0.0.1:1", one._server.server_address), store)
    try:
        with pytest.raises(ConfigError, match=r"cannot listen on 127\.0\.0\.1"):
            other.offer(sha256, "x")
    finally:
        one.close()


# --- what holds of a lab ---


def claimed(bench, *, boot=False):
    return {claim.name: claim for claim in claims(bench.lab(), bench.request(), boot=boot)}


@pytest.fixture
def open_bench(bench):
    """With somebody who listens, as a lab is asked through."""
    bench.desk = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), bench.artefacts)
    bench.desk._listen()
    port = bench.desk._server.server_address[1]
    settings = DeskSettings(f"http://127.0.0.1:{port}", ("127.0.0.1", port))
    bench.desk.settings = settings
    return bench


def test_a_usable_lab_is_told_claim_by_claim(open_bench):
    open_bench.server.logs = [open_bench.good]
    found = claimed(open_bench, boot=True)
    assert [(name, claim.holds) for name, claim in found.items()] == [
        ("server", True),
        ("token", True),
        ("device type", True),
        ("devices", True),
        ("artefacts", True),
        ("job", True),
        ("boot", True),
    ]
    assert found["boot"].said == "on host-1 in 42 s"
    assert found["devices"].said == "1 of 1 take jobs; 0 jobs wait"
    assert claimed(open_bench)["boot"].holds is None


def test_each_claim_fails_with_its_reason(open_bench):
    server = open_bench.server
    server.user = ""
    server.types = ["other"]
    server.devices = [server.device("host-1", "Bad")]
    server.script = [("POST jobs/validate/", 200)]
    server.logs = [POWER] * 2
    server.ends = ["Incomplete"] * 2
    open_bench.desk.settings = DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0))
    found = {name: (c.holds, c.said) for name, c in claimed(open_bench, boot=True).items()}
    assert found["token"] == (
        False,
        "the server takes us for nobody: a token is needed to submit jobs",
    )
    assert found["device type"] == (
        False,
        "qemu-smt is none of those that this user sees: other",
    )
    assert found["devices"] == (False, "no device fits, because host-1 is in bad")
    assert found["artefacts"][0] is False
    assert "cannot be fetched" in found["artefacts"][1]
    assert found["job"][0] is False
    assert found["boot"][0] is False


def test_a_server_is_asked_before_there_is_a_site_file(bench):
    server = bench.server
    server.devices += [server.device("host-2", "Bad"), server.device("host-3")]
    found = list(first_claims(bench.rest()))
    assert [(claim.name, claim.holds) for claim in found] == [
        ("server", True),
        ("token", True),
        ("device types", True),
        ("job", None),
    ]
    assert found[2].said == "devices that take jobs: qemu-smt (2)"
    server.devices = [server.device("host-2", "Bad")]
    assert list(first_claims(bench.rest()))[2] == Claim(
        "device types", holds=False, said="no device of any of 1 types takes jobs"
    )


# --- queues and manners ---


def job(number, submitter="other", state="Submitted"):
    return JobState(number, "name", state, "Unknown", "qemu-smt", "", submitter, "", "")


def device(name, health="Good", state="Idle"):
    return DeviceState(name, "qemu-smt", health, state, "lab1", offline=False)


def test_a_place_in_the_queue_is_one_line():
    queue = [job(1), job(2), job(5, "bot")]
    devices = [device("a", state="Running"), device("b", "Maintenance")]
    assert fair_use.place(5, queue, devices) == "2 jobs ahead; a running, b is in maintenance"
    assert fair_use.hopeless("qemu-smt", devices) == ""
    assert fair_use.hopeless("qemu-smt", []) == "the lab shows no device of type qemu-smt"


@pytest.mark.parametrize(
    ("manners", "hour", "queue", "said"),
    [
        (FairUse(), 12, [], ""),
        (FairUse(), 12, [job(1)] * 9, ""),
        (FairUse(), 12, [job(1, "bot"), job(2, "bot")], "2 jobs of ours wait"),
        (FairUse(yields=True), 12, [job(1)], "1 jobs of others wait"),
        (FairUse((19, 7)), 12, [], "from 19:00 to 07:00 UTC"),
        (FairUse((19, 7)), 23, [], ""),
        (FairUse((19, 7)), 3, [], ""),
        (FairUse((7, 19)), 12, [], ""),
        (FairUse((7, 19)), 19, [], "from 07:00 to 19:00 UTC"),
    ],
)
def test_a_guest_has_manners(manners, hour, queue, said):
    now = datetime(2026, 1, 31, hour, 30, tzinfo=UTC)
    found = fair_use.hold_back(manners, now, "bot", queue, 2)
    assert said in found
    assert bool(said) == bool(found)


@pytest.fixture
def listed(bench):
    found = Quarantine(bench.root / "quarantine.json")
    bench.settings = dataclasses.replace(bench.settings, quarantine=found)
    return found


def test_a_boot_on_a_quarantined_device_is_no_evidence(bench, listed):
    bench.server.devices.append(bench.server.device("host-2"))
    listed.put("host-1", "fan 2 is slow", datetime.now(UTC))
    bench.server.logs = [bench.good, bench.good]
    with pytest.raises(InfrastructureError, match="was given host-1, which is quarantined: fan 2"):
        bench.run()
    # Both tries landed there; neither goes on, and none was asked for its log.
    assert len(bench.server.cancelled) == 2
    listed.release("host-1")
    bench.server.logs = [bench.good]
    assert bench.run().complete


def test_only_quarantined_devices_are_no_device(bench, listed):
    listed.put("host-1", "fan 2 is slow", datetime.now(UTC))
    bench.server.devices[0]["health"] = "Maintenance"
    bench.server.devices.append(bench.server.device("host-2", health="Bad"))
    assert [each.why_not for each in bench.lab()._devices("qemu-smt")] == [
        "host-1 is in maintenance",
        "host-2 is in bad",
    ]
    bench.server.devices[0]["health"] = "Good"
    assert bench.lab()._devices("qemu-smt")[0].why_not == "host-1 is quarantined (fan 2 is slow)"


def test_a_device_that_fails_again_and_again_is_quarantined(bench, listed):
    lab = bench.lab()
    bench.server.logs = [POWER, bench.good, POWER, POWER, POWER]
    # A boot that ends well in between takes the fault back.
    assert lab.run(bench.request(), KeptNote()).complete
    with pytest.raises(InfrastructureError):
        lab.run(bench.request(), KeptNote())
    assert listed.all() == {}
    with pytest.raises(InfrastructureError):
        lab.run(bench.request(), KeptNote())
    assert listed.all()["host-1"].reason.startswith("3 faults in a row, the last one: ")
    assert any(line.startswith("host-1 is quarantined: 3 faults") for line in bench.told)


def test_a_device_whose_bmc_tells_of_a_fault_is_quarantined_before_a_campaign(bench, listed):
    bench.server.devices.append(bench.server.device("host-2"))
    faults = {"host-1": "BMC 192.0.2.7 port 623 does not answer"}
    examine = lambda name: faults.get(name, "")  # noqa: E731
    bench.settings = dataclasses.replace(bench.settings, examine=examine)
    lab = bench.lab()
    lab.preflight(bench.request())
    assert list(listed.all()) == ["host-1"]
    assert listed.all()["host-1"].reason == f"found before a campaign: {faults['host-1']}"
    assert any("host-1 is quarantined" in line for line in bench.told)
    # Who is out of service is not asked.
    faults["host-2"] = "out of limits: inlet"
    bench.server.devices[1]["health"] = "Maintenance"
    lab.preflight(bench.request())
    assert list(listed.all()) == ["host-1"]


def test_a_fault_is_told_with_what_the_bmc_says(bench):
    def refused(_name):
        raise ConfigError("the BMC refuses the password", "correct it")

    bench.server.logs = [POWER] * 2
    bench.server.ends = ["Incomplete"] * 2
    bench.settings = dataclasses.replace(bench.settings, examine=refused)
    with pytest.raises(InfrastructureError, match=r"pdu-reboot failed.*refuses the password"):
        bench.run()
