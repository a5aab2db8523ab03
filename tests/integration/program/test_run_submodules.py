# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run` on clones with submodules: each revision has those that it names."""

import json
import shlex

import pytest

from helpers.run_command import checker, git, rtbisect, run_words
from helpers.submodules import WithSubmodules
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.kinds.pipeline import Work
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import story_of


@pytest.fixture
def made(tmp_path):
    made = WithSubmodules(tmp_path)
    made.origin.commit("start", start="1\n")
    return made


def search(tmp_path, clone, script, *more):
    checker(tmp_path, script)
    words = ["run", "--pass-fail", "--json", *more, "--", "../check.sh"]
    done = rtbisect(tmp_path / "state", *words, cwd=clone)
    return json.loads(done.stdout), done


def test_the_commit_that_moves_a_submodule_is_found(tmp_path, made):
    good = made.add()
    shas = [made.move_on(**{f"file{n}": "x\n"}) for n in range(5)]
    clone = made.clone("--recurse-submodules")
    # What a run changes in a submodule is put back before the next one.
    script = "grep -q 0 libs/lib/inner/text || exit 200\necho 9 >libs/lib/inner/text\n"
    script += "test ! -e libs/lib/file3"
    answer, done = search(tmp_path, clone, script, "--good", good, "--bad", shas[-1])
    assert answer.get("culprit") == shas[3], done.stdout + done.stderr
    (commit,), command = answer["commits"], shlex.split(answer["next"])
    assert (commit["submodule"], "--submodule=log" in command) == (True, True)
    assert "> lib moves on" in git(clone, *command[3:])


def test_a_build_has_submodules_and_keeps_what_it_made_in_them(tmp_path, made):
    good = made.add()
    shas = [made.move_on(**{f"file{n}": "x\n"}) for n in range(5)]
    clone = made.clone("--recurse-submodules")
    build = (
        f"sh -c 'echo b >>{tmp_path}/builds; echo 5 >>libs/lib/text; ls libs/lib >libs/lib/made'"
    )
    script = "grep -q 5 libs/lib/text || exit 200\n! grep -q file2 libs/lib/made"
    words = ["--build", build, "--good", good, "--bad", shas[-1]]
    answer, done = search(tmp_path, clone, script, *words)
    assert answer.get("culprit") == shas[2], done.stdout + done.stderr
    assert answer["builds"] == len((tmp_path / "builds").read_text().split()) <= len(shas) + 1


def test_an_end_without_its_submodule_is_refused_with_the_command_that_helps(tmp_path, made):
    good, bad = made.add(), made.move_on(file="x\n")
    clone = made.clone()
    ends = ["--good", good, "--bad", bad]
    answer, done = search(tmp_path, clone, "true", *ends)
    said = run_words(Commands.NO_SUBMODULE, path="libs/lib")
    assert (done.returncode, said in answer["error"]) == (2, True)
    assert "git submodule update --init" in answer["hint"]
    assert "--no-submodules" in answer["hint"]
    script = f"ls -A libs/lib >>{tmp_path}/seen"
    answer, done = search(tmp_path, clone, script, "--no-submodules", *ends)
    assert (answer["outcome"], (tmp_path / "seen").read_text()) == ("not_reproduced", "")


def test_an_end_whose_submodule_lost_its_commit_is_refused(tmp_path, made):
    good = made.add()
    kept = made.clone("--recurse-submodules")
    git(kept / "libs/lib", "commit", "-q", "--allow-empty", "-m", "gone")
    gone = git(kept / "libs/lib", "rev-parse", "HEAD")
    git(kept, "commit", "-q", "-a", "-m", "to a commit that is gone")
    git(kept / "libs/lib", "reset", "-q", "--hard", "HEAD~1")
    git(kept / "libs/lib", "reflog", "expire", "--expire=now", "--all")
    git(kept / "libs/lib", "gc", "-q", "--prune=now")
    answer, done = search(tmp_path, kept, "true", "--good", good, "--bad", "HEAD")
    said = run_words(Commands.NO_SUBMODULE_COMMIT, path="libs/lib", commit=gone)
    assert (done.returncode, said in answer["error"]) == (2, True)
    assert "git -C libs/lib fetch" in answer["hint"]


def test_a_revision_between_that_lacks_a_submodule_is_skipped_with_the_reason(tmp_path, made):
    good = made.add()
    made.origin("mv", "libs/lib", "other")
    made.origin("config", "-f", ".gitmodules", "--rename-section", "submodule.lib", "submodule.y")
    lost = made.origin.commit("a submodule that nobody has cloned")
    made.origin("revert", "--no-edit", "HEAD")
    last = made.origin.commit("last", last="x\n")
    clone = made.clone("--recurse-submodules")
    answer, done = search(tmp_path, clone, "test ! -e last", "--good", good, "--bad", last)
    assert answer.get("culprit") == last, done.stdout + done.stderr
    why = run_words(Commands.NO_SUBMODULE, path="other")
    assert run_words(Work.SKIPPED, revision=lost, why=why) in done.stderr
    assert answer["skipped"] == 1
    # The story of a campaign that a program without this line began must not shift by it.
    story = story_of(CampaignStore(tmp_path / "state").database, answer["campaign"])
    assert Work.SKIPPED not in {line.kind for line in story}
