# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab behind a LAVA server, with a server that loses answers, restarts and says no."""

import dataclasses
import gzip
from types import SimpleNamespace

import pytest
import yaml

from helpers.lab_logs import STARTED, block, failed_job, files, good_job, request
from helpers.lava_bench import KEY, POWER
from helpers.lava_rest_server import PAGE
from rtbisect.campaign import session
from rtbisect.campaign.fingerprint import SetupChangedError
from rtbisect.errors import InfrastructureError
from rtbisect.lab.job_definition import expected_cases
from rtbisect.lab.lava.artefacts_http import Desk, DeskSettings
from rtbisect.model.campaign import CampaignRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Labs
from rtbisect.model.lab import RunStatus
from rtbisect.model.ports import KeptNote
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore


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
    number = lab.rest.submit(lab._job_text(bench.request(), KEY))
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
        number = lab.rest.submit(lab._job_text(bench.request(), KEY))
        lab.rest.cancel(number)
    run = lab.run(bench.request(), note := KeptNote(f"lava:{KEY}:{number}"))
    assert run.status is RunStatus.COMPLETE
    assert not any(KEY in kept for kept in note.kept)


@pytest.mark.parametrize("how", [404, 405])
def test_a_job_that_a_try_lost_is_taken_up_by_the_next_one(bench, how):
    """What LAVA itself denies is no outage."""
    bench.server.logs = [bench.good]
    bench.server.looks = 2
    bench.server.script = [("GET jobs/100/", how)]
    assert bench.run().complete
    assert len(bench.server.submitted()) == 1


def test_another_job_under_the_noted_number_is_none_of_ours(bench):
    """A server that lost its database counts from one again."""
    lab = bench.lab()
    bench.server.logs = ["", bench.good]
    number = lab.rest.submit(lab._job_text(bench.request(), "0" * 16))
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
    number = lab.rest.submit(lab._job_text(bench.request(), KEY))
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


@pytest.mark.words
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
    assert found.why_not == Finding.of(Labs.OFFLINE, device="host-1", worker="lab1")


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
        return SimpleNamespace(tree="rt"), SimpleNamespace(subject=lab)

    def changed(*_words):
        raise SetupChangedError("the site file changed")

    monkeypatch.setattr(session.assemble, "assemble", begun)
    monkeypatch.setattr(session, "keep_setup", changed)
    store = CampaignStore(tmp_path)
    asked = CampaignRequest(kind="check", site="site.yaml", tree="rt", older="", newer="")
    named = store.create(
        "check", codec.to_json(CampaignRequest, asked), "2026-01-02T03:04:05+00:00"
    )
    with pytest.raises(SetupChangedError):
        session._run(store, named, asked, None, SimpleNamespace(say=print))
    assert lab.desk._server is None


def test_a_job_is_ours_alone_to_read_unless_the_site_says_more(bench):
    text = bench.lab()._job_text(bench.request(), KEY)
    assert yaml.safe_load(text)["visibility"] == "personal"
