# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a campaign: one file that fetches nothing, foreign text escaped, nothing left out."""

import base64
import hashlib
import re
from dataclasses import replace

import pytest

from helpers.findings import said
from helpers.page_cases import MARKUP, TURNING, badly_told, boot, many_candidates, runs
from helpers.page_reader import Page, page
from helpers.report_cases import CASES, MANY, NONE, STALL
from helpers.report_epoll import epoll
from helpers.report_parts import LOUD, QUIET, QUIET_TIP, TEMPLATES, sha
from rtbisect.evidence import bundle
from rtbisect.model.campaign import Outcome
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.page import Headed
from rtbisect.model.lab import RunStatus
from rtbisect.model.report import EarlierFigure
from rtbisect.model.result import Gate, GateStatus
from rtbisect.report.page import write_page
from rtbisect.report.page_history import (
    earlier_picture,
    history_picture,
    order_picture,
    with_own,
)
from rtbisect.report.page_machine import role
from rtbisect.report.page_pictures import boots_picture, side_rows
from rtbisect.report.page_text import told


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_answer_has_a_page_that_names_it(tmp_path, name):
    report = CASES[name]()
    _, found = page(report, tmp_path)
    answer = told(report, Finding.of(Headed.ANSWER, outcome=report.result.outcome))
    (title, *_), (head, *_) = found.text_of("title"), found.text_of("h1")
    assert title.startswith(f"{report.campaign}: {answer}")
    assert head.rstrip() == f"{report.campaign}: {answer}"


def test_a_page_is_one_file_that_fetches_and_runs_nothing(tmp_path):
    text, found = page(epoll(), tmp_path, runs())
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    policy = next(
        each["content"]
        for each in found.all_of("meta")
        if each.get("http-equiv") == "Content-Security-Policy"
    )
    style = text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}';" in policy
    assert not found.all_of("script")
    assert not found.all_of("img")
    assert not [a for _, a in found.seen for name in a if name in ("style", "src", "onclick")]
    assert "url(" not in style
    assert "@import" not in style


def test_a_page_can_be_read_with_a_reader_and_on_a_phone(tmp_path):
    _, found = page(epoll(), tmp_path, runs())
    assert found.all_of("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in found.all_of(
        "meta"
    )
    assert all(table["caption"].strip() for table in found.tables)
    assert all(each.get("scope") in ("row", "col") for each in found.all_of("th"))
    identities = [each["id"] for _, each in found.seen if "id" in each]
    assert len(identities) == len(set(identities))
    pictures = [each for each in found.all_of("svg") if each.get("role") == "img"]
    assert len(pictures) == 3
    for each in pictures:
        assert set(each["aria-labelledby"].split()) <= set(identities)
    assert all(text.strip() for text in found.text_of("desc"))
    # The others are told beside them.
    others = [each for each in found.all_of("svg") if each.get("role") != "img"]
    assert all(each["aria-hidden"] == "true" for each in others)


def test_foreign_text_is_escaped_wherever_it_stands(tmp_path):
    report, boots = badly_told()
    text, found = page(report, tmp_path, boots)
    assert not found.all_of("script")
    assert not found.all_of("img")
    assert MARKUP not in text
    assert TURNING not in text
    assert not [a for a in found.all_of("a") if not re.fullmatch(r"[a-zA-Z0-9.]+", a["href"])]
    # The tree, the device, the host, the gate, and the boot that failed.
    assert sum(MARKUP in each for _, each in found.texts) >= 5


def test_a_name_that_is_no_text_does_not_keep_a_page_from_its_reader(tmp_path):
    report = epoll()
    odd = "sched: \ud800 \x00 half"
    _, found = page(replace(report, culprit=replace(report.culprit, subject=odd)), tmp_path)
    assert found.fields()["subject"] == "sched: ? ? half"


def test_a_long_subject_in_three_scripts_is_there_in_full(tmp_path):
    report, boots = badly_told()
    _, found = page(report, tmp_path, boots)
    assert len(report.culprit.subject) == 300
    assert found.fields()["subject"] == report.culprit.subject
    assert found.fields()["author"].endswith("<dev@kernel.example.org>")


def test_all_rows_of_all_tables_are_there(tmp_path):
    report, boots = badly_told()
    _, found = page(report, tmp_path, boots)
    result = report.result
    verdicts = [row[1] for row in found.table("verdict")]
    assert verdicts == ["regressed"] * 8 + ["better"] * 2
    assert len(found.table("gate")) == len(result.gates)
    assert found.table("gate")[0][1] == "fail"
    assert len(found.table("check")) == len(result.verifications)
    assert len(found.table("beside")) == len(result.table)
    assert len(found.table("host", "adds")) == 2
    assert len(found.table("functions, each called by the next")) == len(result.origins)
    assert len(found.table("revision", "has the change")) == len(result.tested)
    assert [row[0] for row in found.table("CPU")] == list(map(str, range(256)))
    ended = [row[4] for row in found.table("boot", "ended")]
    assert ended == ["complete"] * (len(boots) - 1) + ["boot_failed"]
    assert dict(report.facts).items() <= found.fields().items()


def test_forty_commits_that_may_be_it_are_all_told(tmp_path):
    report = many_candidates()
    _, found = page(report, tmp_path)
    there = [row[2] for row in found.table("probability", "subject")]
    assert sorted(there) == sorted(sha[:12] for sha, _ in report.result.candidates)


def test_a_picture_has_a_dot_for_each_boot(tmp_path):
    _, found = page(epoll(), tmp_path, runs())
    kinds = [each["class"] for each in found.all_of("circle")]
    # Both sides and the revert with its tip; the history without the revert; all in their order;
    # and the keys.
    assert kinds.count("without") == 16 + 16 + 16 + 3
    assert kinds.count("with") == 16 + 16 + 16 + 3
    assert kinds.count("other") == 8 + 1


@pytest.mark.parametrize(
    ("name", "axis"),
    [
        ("epoll", ["rescheduling IPIs/s, logarithmic", "5", "10", "20", "50"]),
        ("rcu", ["synchronize_rcu(), us", "7000", "8000", "9000"]),
        ("hang", ["timer stops", "no", "yes"]),
    ],
)
def test_an_axis_says_above_the_boots_what_it_shows(name, axis):
    report = (CASES | {"epoll": epoll})[name]()
    drawn = boots_picture(report, side_rows(report))
    named, *labels = drawn.labels
    assert [named.text, *(each.text for each in labels[-len(axis) + 1 :])] == axis
    assert (named.x, named.anchor) == (0, "start")
    assert named.y < min(each.y for each in (*labels, *drawn.dots))


def test_of_what_a_boot_has_or_has_not_a_revision_has_its_share(tmp_path):
    report = CASES["hang"]()
    boots = [
        boot(number, value, STALL, "1")
        for number, sample in ((1, NONE), (23, NONE), (24, MANY))
        for value in sample.values
    ]
    drawn = history_picture(report, boots)
    assert "timer stops, share of boots" in {each.text for each in drawn.labels}
    assert [each.kernel for each in drawn.dots] == ["without", "without", "with"]
    low, also_low, high = (each.y for each in drawn.dots)
    assert low == also_low
    top, bottom = sorted(line.y1 for line in drawn.grid)
    assert (bottom - high) / (bottom - top) == pytest.approx(8 / 12, abs=0.01)
    _, found = page(report, tmp_path, boots)
    assert {each["class"] for each in found.all_of("line")} == {"grid", "mark"}


def test_in_their_order_boots_have_the_numbers_of_the_table():
    """One that tells nothing leaves a gap; a dot is one boot, and no share of boots."""
    report = CASES["hang"]()
    seen = [boot(1, value, STALL, "1") for value in (0.0, 0.0, 1.0)]
    lost = replace(seen[0], status=RunStatus.HUNG, measurements=())
    drawn = order_picture(report, [seen[0], lost, *seen[1:]])
    first, second, third = (each.x for each in drawn.dots)
    assert second - first == pytest.approx(2 * (third - second), abs=0.2)
    texts = [each.text for each in drawn.labels]
    assert "boot 4" in texts
    assert "timer stops" in texts


def test_a_commit_with_two_parents_is_compared_with_both():
    report = epoll()
    first, revert = report.result.verifications
    second = replace(first, parent="1" * 12, judgement=replace(first.judgement, base=QUIET_TIP))
    result = replace(report.result, verifications=(first, second, revert))
    rows = side_rows(replace(report, result=result))
    assert [(row.kernel, row.sample) for row in rows] == [
        ("without", QUIET),
        ("with", LOUD),
        ("without", QUIET_TIP),
        ("without", revert.judgement.base),
        ("with", revert.judgement.new),
    ]


def test_what_earlier_campaigns_measured_is_told_beside_the_ends_of_this_one(tmp_path):
    report = epoll()
    earlier = [
        EarlierFigure(
            campaign=f"check-{n}",
            date=f"2026-01-0{n}T10:00:00+00:00",
            revision=sha(n),
            sample=QUIET,
        )
        for n in (1, 2)
    ]
    place = write_page(report, (), tmp_path, TEMPLATES, earlier)
    found = Page(place.read_text("utf-8"))
    rows = [(row[0], row[1], row[2]) for row in found.table("campaign", "day")]
    assert rows == [
        ("check-1", "2026-01-01", sha(1)[:12]),
        ("check-2", "2026-01-02", sha(2)[:12]),
        (report.campaign, "2026-01-31", report.older[:12]),
        (report.campaign, "2026-01-31", report.newer[:12]),
    ]
    drawn = earlier_picture(report, with_own(report, earlier))
    assert [each.kernel for each in drawn.dots] == ["other", "other", "without", "with"]
    _, found = page(report, tmp_path)
    assert not found.table("campaign", "day")


def test_where_nothing_was_measured_there_is_no_picture(tmp_path):
    report = epoll()
    bare = replace(
        report.result, judgement=None, verifications=(), metric=None, culprit=None,
        outcome=Outcome.INCONCLUSIVE,
    )  # fmt: skip
    _, found = page(replace(report, result=bare, culprit=None), tmp_path, runs())
    assert not [each for each in found.all_of("svg") if each.get("role") == "img"]


def test_a_page_says_what_speaks_against_a_report(tmp_path):
    report = epoll()
    gate = Gate("G7 reads", GateStatus.FAIL, said("an instrument read <b> of the rows"))
    report = replace(report, result=replace(report.result, gates=(*report.result.gates, gate)))
    text, _ = page(report, tmp_path)
    assert "<li>G7 reads: an instrument read &lt;b&gt; of the rows</li>" in text


def test_a_page_on_a_repair_calls_the_broken_side_broken(tmp_path):
    report = CASES["backport"]()
    boots = [
        boot(number, value, STALL, "1")
        for number, sample in ((1, MANY), (23, MANY), (24, NONE))
        for value in sample.values
    ]
    text, _ = page(report, tmp_path, boots)
    assert "</svg> broken</span>" in text
    assert "</svg> repaired</span>" in text
    assert role(report, report.older) == "older end"


def test_the_console_of_what_stands_still_is_there_in_full(tmp_path):
    report = CASES["hang"]()
    _, found = page(report, tmp_path)
    console = next(text for text in found.text_of("pre") if "rtbisect-symptom" in text)
    assert console.splitlines() == list(report.excerpt)


def test_a_page_links_what_lies_beside_it_and_nothing_else(tmp_path):
    for name in ("report.eml", "campaign.log"):
        (tmp_path / name).write_text("")
    _, found = page(epoll(), tmp_path)
    assert [each["href"] for each in found.all_of("a")] == ["report.eml", "campaign.log"]


def test_the_page_of_a_bundle_names_no_mail_to_the_operator(tmp_path):
    (tmp_path / "report.eml").write_text("")
    page(epoll(), tmp_path)
    bundle._relink(tmp_path / "index.html")
    assert "report.eml" not in (tmp_path / "index.html").read_text("utf-8")


def test_no_path_of_this_machine_is_told(tmp_path):
    text, _ = page(replace(epoll(), repo="/srv/somebody/linux.git"), tmp_path)
    assert "/srv/somebody" not in text


def test_revisions_that_booted_have_their_role():
    report = epoll()
    commits = report.graph.commits
    culprit = next(each for each in commits if each.sha == report.result.culprit)
    revisions = [
        report.older,
        *culprit.parents,
        culprit.sha,
        report.newer,
        commits[3].sha,
        "f" * 40,
    ]
    assert [role(report, each) for each in revisions] == [
        "good end", "parent", "culprit", "bad end", "", "revert",
    ]  # fmt: skip


def test_a_cpu_that_some_revisions_do_not_tell_has_a_gap(tmp_path):
    boots = [
        *runs(cpus=(2,), booted=((23, QUIET),)),
        *runs(cpus=(2, 3), booted=((24, QUIET),)),
    ]
    _, found = page(epoll(), tmp_path, boots)
    rows = found.table("CPU", f"{sha(24)[:12]} culprit")
    assert [(row[0], row[1] == "-", row[2] == "-") for row in rows] == [
        ("2", False, False),
        ("3", True, False),
    ]
