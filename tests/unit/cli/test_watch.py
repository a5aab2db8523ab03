# SPDX-License-Identifier: GPL-2.0-or-later
"""What watch makes of the answers of its campaigns, with campaigns that end at once."""

import errno
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.campaigns import ROOT, Quiet, sha
from helpers.results import other_result
from rtbisect.campaign import session
from rtbisect.campaign.fingerprint import (
    MachineFingerprint,
    SetupChangedError,
    machine_parts,
    new_fingerprint,
)
from rtbisect.campaign.plan import setup_of
from rtbisect.cli import watch
from rtbisect.cli.output import Output
from rtbisect.config.site_file import SiteFiles, load_site
from rtbisect.errors import ConfigError, Exit, InfrastructureError, Interrupted
from rtbisect.model.campaign import CampaignRequest, Outcome
from rtbisect.pipeline.further import FurtherBudgets
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal
from rtbisect.store.session_files import SessionFiles

REQUEST = CampaignRequest(kind="check", site="/site.yaml", tree="rt", older=sha(1), newer=sha(2))


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Campaigns end with the outcome that `answers` holds for their kind."""
    store, answers, begun = CampaignStore(tmp_path), {}, []

    def finish(identity, request):
        store.finish(identity, other_result(answers[request.kind]), None)
        return store.get(identity)

    def start(_state, request, _progress, _sites=None):
        begun.append(request.kind)
        text = codec.to_json(CampaignRequest, replace(request, repo="/srv"))
        return finish(store.create(request.kind, text, "now"), request)

    def go_on(_state, identity, _progress, _sites=None):
        record = store.get(identity)
        begun.append(f"resumed {identity}")
        return finish(identity, record.request)

    monkeypatch.setattr(session, "start", start)
    monkeypatch.setattr(session, "go_on", go_on)
    return Output(tmp_path), store, answers, begun


@pytest.mark.parametrize(
    ("check", "bisect", "kept", "code"),
    [
        (Outcome.NO_REGRESSION, None, "pass", 0),
        (Outcome.INCONCLUSIVE, None, "undecided", 4),
        (Outcome.CULPRIT_SET, Outcome.CULPRIT, "regressed", 1),
        (Outcome.CULPRIT_SET, Outcome.CULPRIT_SET, "regressed", 1),
        # Nothing was drafted: the next tip has to be compared with the same base again.
        (Outcome.CULPRIT_SET, Outcome.NO_REGRESSION, "undecided", 1),
        (Outcome.CULPRIT_SET, Outcome.NOT_REPRODUCED, "undecided", 1),
        (Outcome.CULPRIT_SET, Outcome.INCONCLUSIVE, "undecided", 1),
    ],
)
def test_a_tip_counts_as_told_only_when_a_draft_tells_it(bench, check, bisect, kept, code):
    output, store, answers, _begun = bench
    answers |= {"check": check, "bisect": bisect}
    row = watch._check_and_bisect(output, {"campaigns": []}, REQUEST, SiteFiles())
    assert row["exit"] == code
    assert store.checked_revisions("rt") == {sha(2): kept}


def test_a_campaign_that_a_kill_interrupted_goes_on(bench):
    output, store, answers, begun = bench
    answers |= {"check": Outcome.NO_REGRESSION}
    text = codec.to_json(CampaignRequest, replace(REQUEST, repo="/srv"))
    mine = store.create("check", text, "now")
    other = codec.to_json(CampaignRequest, replace(REQUEST, newer=sha(3)))
    store.create("check", other, "now")
    watch._check_and_bisect(output, {"campaigns": []}, REQUEST, SiteFiles())
    assert begun == [f"resumed {mine}"]


@pytest.mark.parametrize("paused", [False, True], ids=["not begun", "paused"])
def test_a_bisection_that_could_not_end_goes_on_without_another_check(bench, monkeypatch, paused):
    output, store, answers, begun = bench
    answers |= {"check": Outcome.CULPRIT_SET, "bisect": Outcome.CULPRIT}
    start = session.start

    def stopped(state, request, progress, sites=None):
        if request.kind == "check":
            return start(state, request, progress, sites)
        if paused:
            text = codec.to_json(CampaignRequest, replace(request, repo="/srv"))
            store.create(request.kind, text, "now")
        raise InfrastructureError("no power")

    monkeypatch.setattr(session, "start", stopped)
    with pytest.raises(InfrastructureError):
        watch._check_and_bisect(output, {"campaigns": []}, REQUEST, SiteFiles())
    assert not store.checked_revisions("rt")
    monkeypatch.setattr(session, "start", start)
    row = watch._check_and_bisect(output, {"campaigns": []}, REQUEST, SiteFiles())
    assert begun == ["check", "resumed bisect-2" if paused else "bisect"]
    assert row["exit"] == Exit.REGRESSED
    assert store.checked_revisions("rt") == {sha(2): "regressed"}


def test_what_has_ended_before_the_tip_was_remembered_is_taken(bench):
    output, store, answers, begun = bench
    answers |= {"check": Outcome.CULPRIT_SET, "bisect": Outcome.CULPRIT}
    for kind in ("check", "bisect"):
        request = replace(REQUEST, kind=kind, repo="/srv")
        name = store.create(kind, codec.to_json(CampaignRequest, request), "now")
        store.finish(name, other_result(answers[kind]), None)
    watch._check_and_bisect(output, row := {"campaigns": []}, REQUEST, SiteFiles())
    assert (begun, row["campaigns"]) == ([], ["check-1", "bisect-2"])
    assert store.checked_revisions("rt") == {sha(2): "regressed"}


def test_a_campaign_of_another_setup_is_begun_anew(bench, monkeypatch):
    output, store, answers, begun = bench
    answers |= {"check": Outcome.NO_REGRESSION}
    text = codec.to_json(CampaignRequest, replace(REQUEST, repo="/srv"))
    store.create("check", text, "now")

    def changed(_state, _identity, _progress, _sites=None):
        raise SetupChangedError("the site file changed")

    monkeypatch.setattr(session, "go_on", changed)
    watch._check_and_bisect(output, {"campaigns": []}, REQUEST, SiteFiles())
    assert begun == ["check"]


@pytest.mark.parametrize("alike", [True, False])
def test_what_another_lab_has_answered_is_asked_again(bench, alike):
    output, store, answers, begun = bench
    answers |= {"check": Outcome.NO_REGRESSION}
    place = ROOT / "site.example.yaml"
    target = load_site(place).kernelci.targets()[0]
    request = replace(REQUEST, site=str(place), tree=target.name)
    text = codec.to_json(CampaignRequest, replace(request, repo="/srv"))
    name = store.create("check", text, "now")
    parts = machine_parts(setup_of(load_site(place), target, request))
    kept = new_fingerprint(MachineFingerprint, parts if alike else parts | {"window_ms": 1})
    StoreJournal(store.database, name).step("machine", MachineFingerprint, lambda _note: kept)
    store.finish(name, other_result(Outcome.NO_REGRESSION), None)
    watch._check_and_bisect(output, {"campaigns": []}, request, SiteFiles())
    assert begun == ([] if alike else ["check"])


def pause(store, kind, *, asked):
    """A campaign that is paused, because somebody has `asked` for it or not."""
    request = replace(REQUEST, kind=kind, repo="/srv")
    name = store.create(kind, codec.to_json(CampaignRequest, request), "now")
    if asked:
        SessionFiles.of(store.state, name).ask_to_stop()
    return name


@pytest.mark.parametrize("kind", ["check", "bisect"])
def test_what_a_person_has_stopped_waits_for_a_person(bench, kind):
    output, store, answers, begun = bench
    answers |= {"check": Outcome.CULPRIT_SET, "bisect": Outcome.CULPRIT}
    name = pause(store, kind, asked=True)
    row = watch._check_and_bisect(output, {"campaigns": []}, REQUEST, SiteFiles())
    assert (row["level"], row["exit"], begun) == ("stopped", Exit.UNDECIDED, [])
    assert name in row["note"]
    assert not store.checked_revisions("rt")
    store.finish(name, other_result(answers[kind]), None)
    assert watch._check_and_bisect(output, {"campaigns": []}, REQUEST, SiteFiles())["exit"] == 1
    assert store.checked_revisions("rt") == {sha(2): "regressed"}


class SleptError(Exception):
    """In the place of the time until the next look."""


@pytest.fixture
def looks(bench, monkeypatch, tmp_path):
    """Looks of the command until it sleeps, `--once` or not: its exit code, or None."""
    place = tmp_path / "site.yaml"
    place.touch()

    def sleep(_s):
        raise SleptError

    def look(*, once):
        try:
            return watch.watch.main(
                ["--site", str(place), *(["--once"] if once else [])],
                obj=bench[0],
                standalone_mode=False,
            )
        except SleptError:
            return None

    monkeypatch.setattr(watch.time, "sleep", sleep)
    return look


def test_a_broken_site_file_is_told_and_looked_at_again(looks, monkeypatch, capsys):
    def broken(_path):
        raise ConfigError("line 3")

    monkeypatch.setattr(watch, "load_site", broken)
    with pytest.raises(ConfigError):
        looks(once=True)
    assert looks(once=False) is None
    told = capsys.readouterr()
    assert ("line 3" in told.err, told.out) == (True, "")


def test_what_the_system_refuses_at_one_tree_does_not_stop_the_others(looks, monkeypatch):
    targets = [SimpleNamespace(name=name) for name in ("one", "two")]
    site = SimpleNamespace(kernelci=SimpleNamespace(targets=lambda: targets))
    looked = []

    def base_for_watch(_state, _site, name, _judged):
        looked.append(name)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(watch, "load_site", lambda _path: site)
    monkeypatch.setattr(watch.SiteFiles, "at", lambda _self, place: place)
    monkeypatch.setattr(watch.resolve, "base_for_watch", base_for_watch)
    assert looks(once=True) == Exit.LAB
    assert looks(once=False) is None
    assert looked == ["one", "two"] * 2


def test_a_stop_ends_the_round(bench, monkeypatch):
    output, _store, _answers, _begun = bench
    names = ("one", "two", "three")
    targets = [SimpleNamespace(name=name) for name in names]
    site = SimpleNamespace(kernelci=SimpleNamespace(targets=lambda: targets))
    looked = []

    def base_for_watch(_state, _site, name, _judged):
        looked.append(name)
        raise Interrupted("stopped") if name == "two" else ConfigError("no branch")

    monkeypatch.setattr(watch, "load_site", lambda _path: site)
    monkeypatch.setattr(watch.SiteFiles, "at", lambda _self, place: place)
    monkeypatch.setattr(watch.resolve, "base_for_watch", base_for_watch)
    rows = watch._round(output, Path("/site.yaml"), 0)
    assert looked == ["one", "two"]
    assert [(row["level"], row["exit"]) for row in rows] == [("error", 2), ("stopped", 130)]


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("error", [Interrupted("stopped"), KeyboardInterrupt()])
def test_that_a_person_has_stopped_a_campaign_is_known_until_it_goes_on(
    tmp_path, monkeypatch, asked, error
):
    store = CampaignStore(tmp_path)
    name, seen = pause(store, "check", asked=False), []

    def fails(*_words):
        seen.append(session.stopped(tmp_path, REQUEST))
        if asked:
            SessionFiles.of(tmp_path, name).ask_to_stop()
        raise error

    monkeypatch.setattr(session.assemble, "assemble", fails)
    for _session in range(2):
        with pytest.raises(type(error)):
            session._run(store, name, None, Quiet(), FurtherBudgets())
        assert session.stopped(tmp_path, REQUEST) == (name if asked else "")
    assert seen == ["", ""]


def test_an_open_question_stays_open(bench, monkeypatch):
    output, store, _answers, _begun = bench
    monkeypatch.setattr(watch.SiteFiles, "at", lambda _self, place: place)
    monkeypatch.setattr(watch.resolve, "base_for_watch", lambda *_words: (sha(1), sha(2)))
    store.mark_checked("rt", sha(2), "undecided", "now")
    row = watch._watch_target(output, "/site.yaml", "rt", 0)
    assert (row["level"], row["exit"]) == ("unchanged", Exit.UNDECIDED)
    store.mark_checked("rt", sha(2), "regressed", "now")
    assert watch._watch_target(output, "/site.yaml", "rt", 0)["exit"] == Exit.ANSWERED
