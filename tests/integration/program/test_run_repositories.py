# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run` on repositories as they are: which commits are candidates."""

import json

import pytest

from helpers.repositories import Repo
from helpers.run_command import checker, rtbisect, run_words
from rtbisect.campaign.resolve import uncommitted
from rtbisect.errors import InfrastructureError
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.kinds.pipeline import Ends, Work


def search(tmp_path, repo, *more):
    words = ["run", "--pass-fail", "--json", *more]
    return rtbisect(tmp_path / "state", *words, "--", "../check.sh", cwd=repo)


def lines(tmp_path, repo, culprit="fault"):
    """Two lines that a merge joins, of four commits each; the side has the fault in its third."""
    made = Repo(repo)
    shas = {"start": made.commit("start", start="1\n")}
    made("checkout", "-q", "-b", "side")
    for number in range(1, 5):
        extra = {culprit: "1\n"} if number == 3 else {}
        shas[f"side{number}"] = made.commit(f"side {number}", side=f"{number}\n", **extra)
    made("checkout", "-q", "main")
    for number in range(1, 5):
        shas[f"main{number}"] = made.commit(f"main {number}", main=f"{number}\n")
    made("merge", "-q", "--no-ff", "-m", "join", "side")
    shas["join"] = made("rev-parse", "HEAD")
    checker(tmp_path, f"echo $RTBISECT_REVISION >>{tmp_path}/ran\ntest ! -e fault")
    return made, shas


def replayed(tmp_path, made):
    """What git says of the log of the answer; it has nothing to ask for, and has ended."""
    said = made("bisect", "replay", str(tmp_path / "state/reports/run-1/bisect.log"))
    made("bisect", "reset")
    return said


def ran(tmp_path):
    return set((tmp_path / "ran").read_text().split())


def test_all_good_revisions_count_and_a_merge_may_be_bad(tmp_path, repo):
    made, shas = lines(tmp_path, repo)
    goods = ["--good", shas["main4"], "--good", shas["side2"], "--good", shas["start"]]
    done = search(tmp_path, repo, *goods, "--bad", "main")
    answer = json.loads(done.stdout)
    assert answer["culprit"] == shas["side3"], done.stderr
    assert answer["good"] == shas["main4"]
    assert run_words(Ends.SEVERAL, older=shas["main4"], others=2) in done.stderr
    left = {shas[name] for name in ("side3", "side4", "join")}
    # The parent of the culprit is measured, for the proof.
    assert ran(tmp_path) <= left | {shas["main4"], shas["side2"]}
    assert f"{shas['side3']} is the first bad commit" in replayed(tmp_path, made)
    again = (tmp_path / "state/reports" / answer["campaign"] / "campaign.log").read_text()
    recipe = again.partition("\nReproduce\n")[2].replace("\\\n", " ").split()
    for sha in (shas["main4"], shas["side2"], shas["start"]):
        assert f"--good {sha}" in " ".join(recipe)


def test_a_good_revision_beside_the_bad_one_limits_by_what_both_have(tmp_path, repo):
    made, shas = lines(tmp_path, repo)
    made("checkout", "-q", "-b", "other", shas["side2"])
    other = made.commit("other", other="1\n")
    goods = ["--good", other, "--good", shas["start"]]
    done = search(tmp_path, repo, *goods, "--bad", shas["side4"])
    answer = json.loads(done.stdout)
    assert answer["culprit"] == shas["side3"], done.stderr
    assert shas["side1"] not in ran(tmp_path)
    assert f"{shas['side3']} is the first bad commit" in replayed(tmp_path, made)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        (["--good", "start", "--good", "join", "--bad", "side4"], "in its history"),
        (["--good", "start", "--bad", "side4", "--bad", "main4"], "--bad is given 2 times"),
        (
            ["--find-fix", "--bad", "start", "--good", "side4", "--good", "main4"],
            "--good is given 2 times",
        ),
    ],
)
def test_ends_that_make_no_range_are_one_line(tmp_path, repo, ends, said):
    _made, shas = lines(tmp_path, repo)
    done = search(tmp_path, repo, *[shas.get(word, word) for word in ends])
    assert (done.returncode, said in json.loads(done.stdout)["error"]) == (2, True), done.stdout


def test_with_first_parents_a_merge_stands_for_its_branch(tmp_path, repo):
    made, shas = lines(tmp_path, repo)
    done = search(tmp_path, repo, "--first-parent", "--good", shas["start"], "--bad", shas["join"])
    answer = json.loads(done.stdout)
    assert answer["candidates"][0]["commit"] == shas["join"], done.stderr
    assert ran(tmp_path).isdisjoint({shas[f"side{number}"] for number in range(1, 5)})
    assert f"{shas['join']} is the first bad commit" in replayed(tmp_path, made)


def test_skipped_revisions_are_not_tested_and_counted(tmp_path, repo):
    _made, shas = lines(tmp_path, repo)
    skip = ["--skip", shas["side3"], "--skip", f"{shas['main1']}..{shas['main3']}"]
    done = search(tmp_path, repo, *skip, "--good", shas["start"], "--bad", shas["side4"])
    answer = json.loads(done.stdout)
    assert answer["outcome"] == "culprit_set", done.stderr
    assert {each["commit"] for each in answer["candidates"]} == {shas["side3"], shas["side4"]}
    assert shas["side3"] not in ran(tmp_path)
    assert answer["builds"] == 0


@pytest.mark.parametrize(
    ("skip", "said"),
    [
        ("side4", "holds an end"),
        ("start..side4", "holds an end"),
        ("main1...main2", "is not a range"),
        ("nothing", "is no commit"),
    ],
)
def test_a_skip_that_makes_no_sense_is_one_line(tmp_path, repo, skip, said):
    made, shas = lines(tmp_path, repo)
    for name, sha in shas.items():
        made("tag", name, sha)
    done = search(tmp_path, repo, "--skip", skip, "--good", "start", "--bad", "side4")
    assert (done.returncode, said in json.loads(done.stdout)["error"]) == (2, True), done.stdout


def test_what_is_not_committed_is_named_or_refused(tmp_path, repo):
    _made, shas = lines(tmp_path, repo)
    (repo / "main").write_text("mine\n")
    ends = ["--good", shas["start"], "--bad", shas["side4"]]
    named = run_words(Ends.UNCOMMITTED, files=1, first="main")
    done = search(tmp_path, repo, "--refuse-uncommitted", *ends)
    assert (done.returncode, (tmp_path / "ran").exists()) == (2, False)
    assert json.loads(done.stdout)["error"].startswith("main ")
    done = search(tmp_path, repo, *ends)
    assert (json.loads(done.stdout)["culprit"], named in done.stderr) == (shas["side3"], True)
    done = search(tmp_path, repo, "--overlay", "main", *ends)
    assert (done.returncode, named in done.stderr) == (0, False)


def test_todays_test_runs_on_each_revision_and_resume_has_it_as_it_was(tmp_path, repo):
    """The benchmark is no part of any revision, or an older one that knows nothing."""
    made = Repo(repo)
    good = made.commit("start", start="1\n", old_sh="#!/bin/sh\nexit 7\n")
    shas = [made.commit(f"change {n}", **{f"file{n}": "x\n"}) for n in range(8)]
    (repo / "tests").mkdir()
    (repo / "tests/check.sh").write_text("#!/bin/sh\n. ./old.sh\n")
    (repo / "tests/check.sh").chmod(0o755)
    (repo / "old.sh").write_text(
        f"echo x >>{tmp_path}/count\ntest -e {tmp_path}/now || kill -KILL $$\ntest ! -e file5\n"
    )
    words = ["run", "--good", good, "--bad", "main", "--pass-fail", "--json"]
    words += ["--overlay", "tests", "--overlay", "old.sh", "--", "./tests/check.sh"]
    done = rtbisect(tmp_path / "state", *words, cwd=repo)
    assert done.returncode == 3, done.stderr
    # What is there today is not what the campaign began with.
    (repo / "tests/check.sh").write_text("#!/bin/sh\nexit 200\n")
    (tmp_path / "now").touch()
    done = rtbisect(tmp_path / "state", "resume", "run-1", "--json", cwd=repo)
    answer = json.loads(done.stdout)
    assert answer["culprit"] == shas[5], done.stderr
    story = (tmp_path / "state/reports/run-1/campaign.log").read_text().replace("\\\n", " ")
    assert "--overlay tests --overlay old.sh -- ./tests/check.sh" in " ".join(story.split())
    assert made("status", "--porcelain") == "M old.sh\n?? tests/"


def test_files_of_an_overlay_are_those_of_the_repository_that_is_given(tmp_path, repo):
    made = Repo(repo)
    good = made.commit("start", start="1\n", _gitignore="*.bin\n")
    shas = [made.commit(f"change {n}", **{f"file{n}": "x\n"}) for n in range(6)]
    (repo / "tests").mkdir()
    for name in ("check.sh", "check.bin"):
        (repo / "tests" / name).write_text("#!/bin/sh\ntest ! -e file3\n")
        (repo / "tests" / name).chmod(0o755)
    words = ["run", "--repo", "repo", "--good", good, "--bad", "main", "--pass-fail", "--json"]
    words += ["--overlay", "tests"]
    # What git ignores is not laid over with its folder.
    ignored = rtbisect(tmp_path / "state", *words, "--", "./tests/check.bin", cwd=tmp_path)
    assert (ignored.returncode, "tests/check.bin" in ignored.stdout) == (2, True), ignored.stdout
    done = rtbisect(tmp_path / "state", *words, "--", "./tests/check.sh", cwd=tmp_path)
    assert json.loads(done.stdout).get("culprit") == shas[3], done.stdout + done.stderr
    words += ["--overlay", "tests/check.bin"]
    done = rtbisect(tmp_path / "state", *words, "--", "./tests/check.bin", cwd=tmp_path)
    assert json.loads(done.stdout).get("culprit") == shas[3], done.stdout + done.stderr


@pytest.mark.parametrize("name", ["HEAD", "main"])
def test_what_is_not_committed_is_told_whatever_files_are_called(tmp_path, repo, name):
    made = Repo(repo)
    made.commit("start", **{name: "1\n"})
    assert uncommitted(repo, ()) == ()
    (repo / name).write_text("2\n")
    assert uncommitted(repo, ()) == (name,)
    made("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    assert uncommitted(tmp_path / "bare", ()) == ()
    made("checkout", "-q", "--orphan", "new")
    assert uncommitted(repo, ()) == (name,)
    (repo / ".git/index").write_text("damaged")
    with pytest.raises(InfrastructureError):
        uncommitted(repo, ())


@pytest.mark.parametrize("brought", [("--overlay", "makefile"), ("--carry",)])
def test_a_build_has_what_is_laid_over_and_what_is_carried(tmp_path, repo, brought):
    made = Repo(repo)
    good = made.commit("start", makefile="all: ; false\n")
    shas = [made.commit(f"change {n}", **{f"file{n}": "x\n"}) for n in range(6)]
    (repo / "makefile").write_text("all: ; ls > product\n")
    words = ["run", "--good", good, "--bad", "main", "--pass-fail", "--json", "--build", "make"]
    words += [*brought, "--", "sh", "-c", "! grep -q file3 product"]
    done = rtbisect(tmp_path / "state", *words, cwd=repo)
    assert json.loads(done.stdout).get("culprit") == shas[3], done.stdout + done.stderr


def test_uncommitted_changes_are_carried_as_they_were_at_the_start(tmp_path, repo):
    """A change in a file that later commits change too, a new file, a mode, bytes that are no
    text.
    """
    made = Repo(repo)
    text = "".join(f"{n}\n" for n in range(30))
    good = made.commit("start", text=text, tool="#!/bin/sh\nexit 9\n", gone="x\n")
    shas = [
        made.commit(f"change {n}", text=text.replace("25\n", f"25 {n}\n"), **{f"file{n}": "x\n"})
        for n in range(8)
    ]
    (repo / "text").write_text((repo / "text").read_text().replace("3\n", "mine\n", 1))
    (repo / "tool").write_text("#!/bin/sh\ntest ! -e file5\n")
    (repo / "tool").chmod(0o755)
    (repo / "bytes").write_bytes(bytes(range(256)))
    (repo / "gone").unlink()
    made("add", "bytes")
    # What its owner wants of a diff to read is none that can be applied.
    made("config", "diff.context", "0")
    made("config", "diff.submodule", "log")
    before = made("status", "--porcelain")
    checker(
        tmp_path,
        "grep -q mine text && test $(wc -c <bytes) = 256 && test ! -e gone || exit 200\n"
        f"test -e {tmp_path}/now || exit 200\necho 9 >text; ./tool",
    )
    done = search(tmp_path, repo, "--carry", "--good", good, "--bad", "main")
    assert done.returncode == 3, done.stderr
    assert run_words(Ends.UNCOMMITTED, files=4, first="bytes") not in done.stderr
    assert made("status", "--porcelain") == before
    made("reset", "-q", "--hard")
    (tmp_path / "now").touch()
    done = rtbisect(tmp_path / "state", "resume", "run-1", "--json", cwd=repo)
    assert json.loads(done.stdout).get("culprit") == shas[5], done.stdout + done.stderr
    story = (tmp_path / "state/reports/run-1/campaign.log").read_text()
    assert " --carry " in " ".join(story.replace("\\\n", " ").split())


def test_a_revision_that_the_changes_do_not_fit_is_skipped_and_an_end_refused(tmp_path, repo):
    made = Repo(repo)
    good = made.commit("start", text="1\n")
    other = made.commit("another text", text="2\n")
    made.commit("the old text", text="1\n")
    bad = made.commit("bad", bad="1\n")
    (repo / "text").write_text("mine\n")
    checker(tmp_path, "grep -q mine text || exit 200\ntest ! -e bad")
    done = search(tmp_path, repo, "--carry", "--good", good, "--bad", bad)
    assert json.loads(done.stdout).get("culprit") == bad, done.stdout + done.stderr
    why = run_words(Commands.NOT_CARRIED, first="text")
    assert run_words(Work.SKIPPED, revision=other, why=why) in done.stderr
    done = search(tmp_path, repo, "--carry", "--good", other, "--bad", bad)
    refused = json.loads(done.stdout)
    assert (done.returncode, why in refused["error"]) == (2, True)
    assert "--overlay" in refused["hint"]


def test_only_commits_that_touch_the_paths_are_candidates(tmp_path, repo):
    """The one that fails touches them on a side branch; neither end of the range does."""
    made = Repo(repo)
    good = made.commit("start", start="1\n", src__a="0\n")
    shas, others = {}, set()
    for number in range(4):
        others.add(made.commit(f"else {number}", **{f"file{number}": "x\n"}))
        shas[number] = made.commit(f"touches {number}", src__a=f"{number + 1}\n")
    made("checkout", "-q", "-b", "side")
    shas["bad"] = made.commit("the one", src__bad="1\n")
    made("checkout", "-q", "main")
    shas["main"] = made.commit("another file", src__b="1\n")
    made("merge", "-q", "--no-ff", "-m", "join", "side")
    shas["join"] = made("rev-parse", "HEAD")
    last = made.commit("last", last="1\n")
    checker(tmp_path, f"echo $RTBISECT_REVISION >>{tmp_path}/ran\ntest ! -e src/bad")
    done = search(tmp_path, repo, "--path", "src", "--good", good, "--bad", last)
    assert json.loads(done.stdout).get("culprit") == shas["bad"], done.stdout + done.stderr
    assert ran(tmp_path).isdisjoint(others)
    assert run_words(Ends.RANGE, commits=8, older=good, newer=last) in done.stderr
    said = run_words(Ends.PATHS, paths=("src",))
    assert said in done.stderr
    shown = rtbisect(tmp_path / "state", "status", "run-1", cwd=repo)
    assert said in shown.stdout + shown.stderr
    story = (tmp_path / "state/reports/run-1/campaign.log").read_text()
    assert " --path src " in " ".join(story.replace("\\\n", " ").split())


def test_paths_that_nobody_touches_are_one_line(tmp_path, repo):
    _made, shas = lines(tmp_path, repo)
    ends = ["--good", shas["start"], "--bad", shas["side4"]]
    done = search(tmp_path, repo, "--path", "nowhere", *ends)
    assert (done.returncode, "touches nowhere" in json.loads(done.stdout)["error"]) == (2, True)


@pytest.mark.parametrize("path", ["", "/src", "../src", "src/../../x"])
def test_a_path_out_of_the_repository_is_one_line(tmp_path, repo, path):
    _made, shas = lines(tmp_path, repo)
    ends = ["--good", shas["start"], "--bad", shas["side4"]]
    done = search(tmp_path, repo, "--path", path, *ends)
    assert (done.returncode, "--path" in json.loads(done.stdout)["error"]) == (2, True)


def test_a_change_outside_the_paths_is_not_denied(tmp_path, repo):
    """The ends differ, and nothing that touches the paths makes them."""
    made = Repo(repo)
    good = made.commit("start", src__a="0\n")
    for number in range(3):
        made.commit(f"touches {number}", src__a=f"{number + 1}\n")
    last = made.commit("elsewhere", slow="1\n")
    checker(tmp_path, "test ! -e slow")
    done = search(tmp_path, repo, "--path", "src", "--good", good, "--bad", last)
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["culprit"]) == ("culprit", last), done.stderr
