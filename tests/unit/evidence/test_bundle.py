# SPDX-License-Identifier: GPL-2.0-or-later
"""Evidence of a campaign: judged again from its folder alone, and refused when it is not whole."""

import gzip
import hashlib
import json
import re
import shutil
from dataclasses import fields, replace

import pytest

from helpers.campaigns import ROOT, World, boots, line_of, sha
from helpers.findings import words
from helpers.report_cases import rcu
from helpers.report_parts import settings
from rtbisect.errors import ConfigError
from rtbisect.evidence import bundle
from rtbisect.evidence.bundle import CampaignEvidence, differences, rejudge
from rtbisect.evidence.replay import Answers, RecordingSubject, RecordingTree
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import CampaignRequest, Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.difference import Differs
from rtbisect.model.report import Report
from rtbisect.model.result import CheckStatus, Difference, DiffersBy, Result
from rtbisect.pipeline import bisect
from rtbisect.report.draft import DraftMailer
from rtbisect.report.page import DRAFT, PAGE
from rtbisect.store import codec
from rtbisect.store.journal import JournalStep, steps_of

#: A folder that only this machine has.
HERE = "/srv/alice/lab"


@pytest.fixture
def campaign(finished, tmp_path):
    """A finished campaign on the fakes, its evidence, and its folder, which may be changed."""
    world, result, folder = finished
    return world, result, shutil.copytree(folder, tmp_path / "bundle")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    place = tmp_path_factory.mktemp("finished")
    graph = line_of(8)
    reverts = {(graph.newer, sha(5)): sha(10**6)}
    request = CampaignRequest(
        kind="bisect", site=f"{HERE}/site.yaml", tree="t", older=graph.older, newer=graph.newer,
        repo=f"{HERE}/linux",
    )  # fmt: skip
    world = World(place / "state", graph, FakeLab(boots(5), None), reverts=reverts, request=request)
    setup, parts = world.open()
    setup = replace(setup, repo=request.repo)
    result, _ = bisect.bisect(setup, parts)
    world.store.finish(world.campaign, result, None)
    steps = steps_of(world.store.database, world.campaign)
    answers = Answers()

    def heard(journal):
        tree, subject = RecordingTree(parts.tree, answers), RecordingSubject(parts.subject, answers)
        return setup, bundle._idle_ports(tree, subject, journal)

    again, _ = bundle._rerun(steps, "bisect", heard)
    assert again == result
    folder = place / "bundle"
    folder.mkdir()
    record = world.store.get(world.campaign)
    bundle._fill_folder(
        folder, world.store, record, CampaignEvidence(setup, steps, answers, result)
    )
    return world, result, folder


def sums(folder):
    """Make SHA256SUMS true again after a change."""
    names = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != bundle.SUMS)
    lines = [
        f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.relative_to(folder)}" for p in names
    ]
    (folder / bundle.SUMS).write_text("".join(f"{line}\n" for line in lines))


def test_a_bundle_gives_the_same_answer(campaign):
    world, result, folder = campaign
    assert result.outcome is Outcome.CULPRIT
    found = rejudge(folder)
    assert found.same
    assert found.now == result
    assert found.campaign == world.campaign
    assert list(differences(found)) == []


@pytest.mark.parametrize("name", ["format-1", "format-1-run"])
def test_a_bundle_of_an_older_program_gives_the_same_answer(name):
    found = rejudge(ROOT / "tests/data/bundles" / name)
    assert list(differences(found)) == []
    assert found.held.outcome is Outcome.CULPRIT
    assert found.same


def test_other_measurements_give_another_answer(campaign):
    _, result, folder = campaign
    place = folder / "journal.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(place.read_bytes()).splitlines()]
    bad = [row for row in rows if row["kind"] == "Run" and result.culprit in row["value"]]
    assert bad
    for row in bad:
        run = json.loads(row["value"])
        for each in run["measurements"]:
            each["value"] *= 0.01
        row["value"] = json.dumps(run)
    place.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    with pytest.raises(ConfigError, match="is not as SHA256SUMS says"):
        rejudge(folder)
    sums(folder)
    found = rejudge(folder)
    assert not found.same
    assert list(differences(found))


def test_a_check_that_ends_differently_is_a_difference(campaign):
    found = rejudge(campaign[2])
    first, *rest = found.now.verifications
    other = replace(first, status=CheckStatus.FAIL, note=None)
    assert first.status is not CheckStatus.FAIL
    now = replace(found.now, verifications=(other, *rest))
    (line,) = differences(replace(found, now=now))
    assert line.startswith("verifications: ")
    assert f"{words(first.name)} {first.status}" in line
    assert f"{words(first.name)} fail" in line


DIFFERENCE = Difference(DiffersBy.CODE, Finding.of(Differs.COUNTS, instructions=0.1))


@pytest.mark.parametrize("name", [each.name for each in fields(Result)])
def test_whatever_makes_two_answers_differ_is_told(campaign, name):
    found = rejudge(campaign[2])
    known = replace(found, held=replace(found.held, difference=DIFFERENCE))
    known = replace(known, now=replace(found.now, difference=DIFFERENCE))
    other = replace(known, now=replace(known.now, **{name: None}))
    assert known.same
    assert not other.same
    (line,) = differences(other)
    assert line.startswith(f"{name}: ")


def test_what_an_older_program_did_not_ask_is_no_difference(campaign):
    found = rejudge(campaign[2])
    assert found.held.difference is None
    later = replace(found, now=replace(found.now, difference=DIFFERENCE))
    assert later.same
    assert list(differences(later)) == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("manifest.json", "{}", "cannot be read"),
        ("manifest.json", "[", "cannot be read"),
        ("manifest.json", '{"format": 99, "rtbisect": "9"}', "has format 99"),
        ("setup.json", "{}", "cannot be read"),
        ("answers.json.gz", "x", "answers.json.gz"),
        ("journal.jsonl.gz", "x", "journal.jsonl.gz"),
    ],
)
def test_a_folder_that_is_no_bundle_is_refused(campaign, name, text, said):
    folder = campaign[2]
    (folder / name).write_text(text)
    sums(folder)
    with pytest.raises(ConfigError, match=said):
        rejudge(folder)


@pytest.mark.parametrize("line", ["x", f"{'0' * 64}  ../../etc/passwd", f"{'0' * 64}  /etc/passwd"])
def test_sums_name_files_of_the_bundle_alone(campaign, line):
    folder = campaign[2]
    place = folder / bundle.SUMS
    place.write_text(place.read_text() + line + "\n")
    with pytest.raises(ConfigError, match="a line that is none"):
        rejudge(folder)


def test_a_file_that_is_missing_or_a_link_is_told(campaign, tmp_path):
    folder = campaign[2]
    (folder / "setup.json").rename(tmp_path / "setup.json")
    with pytest.raises(ConfigError, match="is not as"):
        rejudge(folder)
    (folder / "setup.json").symlink_to(tmp_path / "setup.json")
    with pytest.raises(ConfigError, match="is not as"):
        rejudge(folder)
    (folder / bundle.SUMS).unlink()
    with pytest.raises(ConfigError, match="has no file SHA256SUMS"):
        rejudge(folder)


def test_a_campaign_that_is_not_finished_has_no_evidence(campaign, tmp_path):
    world, _, _ = campaign
    record = replace(world.store.get(world.campaign), result=None)
    with pytest.raises(ConfigError, match="no answer of a search"):
        bundle.write_bundle(world.state, record, tmp_path / "b")


def test_the_last_digits_of_another_machine_are_no_other_answer(campaign):
    _, result, _ = campaign
    near = replace(result, confidence=result.confidence * (1 + 1e-12))
    assert near != result
    assert bundle.alike(near, result)
    assert not bundle.alike(replace(result, confidence=result.confidence - 0.001), result)
    assert not bundle.alike(replace(result, culprit="x"), result)
    assert not bundle.alike(replace(result, reasons=()), result)
    assert not bundle.alike(result, None)


def told_rows(folder):
    place = folder / "journal.jsonl.gz"
    return place, [json.loads(line) for line in gzip.decompress(place.read_bytes()).splitlines()]


def with_first(**changes):
    def change(rows):
        return [rows[0] | changes, *rows[1:]]

    return change


def with_values(value):
    def change(rows):
        for row in rows:
            if row["kind"] == "Run":
                run = json.loads(row["value"])
                for each in run["measurements"]:
                    each["value"] = value
                row["value"] = json.dumps(run)
        return rows

    return change


@pytest.mark.parametrize(
    "change",
    [
        with_first(seq=float("inf")), with_first(seq=10**30), with_first(started_s=10**400),
        with_first(key="\ud800"), with_first(started_s=float("nan")), lambda rows: rows * 2,
        with_values(-5.0), with_values(float("nan")), lambda rows: [rows],
    ],
)  # fmt: skip
def test_a_journal_that_means_harm_is_told(campaign, change):
    folder = campaign[2]
    place, rows = told_rows(folder)
    place.write_bytes(gzip.compress("".join(f"{json.dumps(r)}\n" for r in change(rows)).encode()))
    sums(folder)
    try:
        found = rejudge(folder)
    except ConfigError as error:
        assert str(folder) in str(error)  # noqa: PT017  (some have an answer, and say another one)
    else:
        assert not found.same


@pytest.mark.parametrize("name", ["manifest.json", "setup.json", "journal.jsonl.gz"])
def test_json_without_end_is_told(campaign, name):
    folder = campaign[2]
    data = b"[" * 200_000
    (folder / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    sums(folder)
    with pytest.raises(ConfigError, match="cannot be read"):
        rejudge(folder)


def test_a_packed_file_that_is_torn_is_told(campaign):
    folder = campaign[2]
    place = folder / "answers.json.gz"
    data = bytearray(place.read_bytes())
    data[20:40] = bytes(20)
    place.write_bytes(bytes(data))
    sums(folder)
    with pytest.raises(ConfigError, match=r"answers\.json\.gz|cannot be read"):
        rejudge(folder)


def test_a_window_that_nobody_measured_is_told(campaign):
    folder = campaign[2]
    place = folder / "setup.json"
    place.write_text(place.read_text().replace("pf-on", "pf-odd"))
    sums(folder)
    try:
        assert not rejudge(folder).same
    except ConfigError as error:
        assert str(folder) in str(error)  # noqa: PT017


def with_draft(campaign, tmp_path, repo):
    """The bundle of a campaign that has a draft."""
    world, result, _ = campaign
    made = DraftMailer(settings(tmp_path / "reports")).draft(replace(rcu(), repo=repo), ())
    record = replace(world.store.get(world.campaign), report=made)
    folder = tmp_path / "with-page"
    folder.mkdir()
    kept = replace(made, path=f"{HERE}/state/reports/bisect-1/report.eml")
    step = JournalStep(
        key="report", seq=0, kind="Report", value=codec.to_json(Report, kept),
        started_s=0.0, finished_s=1.0,
    )  # fmt: skip
    setup = replace(world.open()[0], repo=repo)
    evidence = CampaignEvidence(setup, (step,), Answers(), result)
    bundle._fill_folder(folder, world.store, record, evidence)
    return folder


def published(folder):
    """All text of a bundle by the names of its files."""
    files = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {
        name: gzip.decompress(data) if name.endswith(".gz") else data
        for name, data in files.items()
    }


def test_folders_of_this_machine_are_not_published(campaign, tmp_path):
    folders = (campaign[2], with_draft(campaign, tmp_path, f"{HERE}/linux"))
    for folder in folders:
        assert not [name for name, text in published(folder).items() if HERE.encode() in text]
        assert json.loads((folder / "manifest.json").read_text())["request"]["site"] == "site.yaml"
        bundle.check_sums(folder)
    assert json.loads((folders[1] / "result.json").read_text())["repo"] == ""


def test_an_address_that_others_can_fetch_is_published(campaign, tmp_path):
    address = "https://git.example.org/linux.git"
    texts = published(with_draft(campaign, tmp_path, address))
    assert all(address.encode() in texts[name] for name in ("setup.json", "result.json"))


def test_a_bundle_of_a_draft_has_its_page(campaign, tmp_path):
    folder = with_draft(campaign, tmp_path, rcu().repo)
    page = folder / PAGE
    linked = re.findall(r'<li><a href="([^"]+)">', page.read_text("utf-8"))
    assert bundle.SUMS in linked
    assert all((folder / name).is_file() for name in linked)
    # Other people read it: it names none of the operator's own mails.
    assert DRAFT not in page.read_text("utf-8")
    assert page.stat().st_mode & 0o044 == 0o044
    assert f"  {PAGE}\n" in (folder / bundle.SUMS).read_text()
    bundle.check_sums(folder)


def test_the_page_of_a_bundle_links_what_is_there(tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<li><a href="report.eml">report.eml</a></li>')
    bundle._relink(page)
    assert page.read_text() == '<li><a href="SHA256SUMS">SHA256SUMS</a></li>'
