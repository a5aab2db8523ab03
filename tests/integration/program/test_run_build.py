# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect run --build`: each revision is built once, in a tree that is kept for it."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from helpers.repositories import ENV
from helpers.run_command import git, history, rtbisect, run_words
from helpers.signals import hears_signals
from rtbisect.model.kinds.pipeline import Work


def builder(tmp_path, text):
    """A build that counts itself and makes `product` of the revision."""
    script = tmp_path / "build.sh"
    script.write_text(
        f'#!/bin/sh\necho "$RTBISECT_REVISION" >>{tmp_path}/built\n{text}\n'
        "test ! -e product || { echo stained; exit 1; }\n"
        'echo "$RTBISECT_REVISION" >product\ntest ! -e slow || echo slow >>product\n'
    )
    script.chmod(0o755)
    return script


def bench(tmp_path, text='grep -qx "$RTBISECT_REVISION" product'):
    script = tmp_path / "bench.sh"
    script.write_text(f"#!/bin/sh\n{text} || exit 200\n! grep -q slow product\n")
    script.chmod(0o755)
    return script


def built(tmp_path):
    return Counter((tmp_path / "built").read_text().split())


def run_built(tmp_path, repo, good, bad, *more, command=None):
    words = ["run", "--good", good, "--bad", bad, "--pass-fail", "--json", *more]
    build = ["--build", str(tmp_path / "build.sh")]
    return rtbisect(
        tmp_path / "state", *words, *build, "--", *(command or ["../bench.sh"]), cwd=repo
    )


def test_a_revision_is_built_once_and_its_product_is_kept(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=20)
    builder(tmp_path, "")
    bench(tmp_path)
    done = run_built(tmp_path, repo, good, bad)
    answer = json.loads(done.stdout)
    assert answer["culprit"] == culprit, done.stderr
    counted = built(tmp_path)
    assert set(counted.values()) == {1}
    assert answer["builds"] == len(counted)
    assert (answer["runs"], answer["skipped"]) == (answer["boots"], 0)
    assert run_words(Work.BUILDING, revision=good, variant="")[:8] in done.stderr
    log = tmp_path / f"state/run/{answer['campaign']}/build-{good[:12]}.log"
    assert log.is_file()


def test_revisions_that_do_not_build_are_skipped_after_one_build(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=24)
    range_ = git(repo, "rev-list", "--topo-order", f"{good}..{bad}").split()
    near = [
        sha for sha in range_ if sha not in (bad, culprit, git(repo, "rev-parse", f"{culprit}^"))
    ]
    broken = near[2:8]
    builder(tmp_path, "case $RTBISECT_REVISION in " + "|".join(broken) + ") exit 2;; esac")
    bench(tmp_path)
    done = run_built(tmp_path, repo, good, bad)
    answer = json.loads(done.stdout)
    assert answer["outcome"] in ("culprit", "culprit_set"), done.stderr
    failed = [sha for sha in built(tmp_path) if sha in broken]
    assert answer["skipped"] == len(failed)
    assert set(built(tmp_path).values()) == {1}
    told = rtbisect(tmp_path / "state", "resume", answer["campaign"], cwd=repo).stdout
    assert f"{answer['builds']} builds, {answer['runs']} runs, " in told


def test_a_tree_that_was_not_kept_is_built_again_and_counted(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=12)
    builder(tmp_path, "")
    bench(tmp_path)
    done = run_built(tmp_path, repo, good, bad, "--keep-builds", "1")
    answer = json.loads(done.stdout)
    assert answer["culprit"] == culprit, done.stderr
    counted = built(tmp_path)
    assert max(counted.values()) > 1
    assert answer["builds"] == counted.total()
    trees = [path for path in (tmp_path / "state/trees").iterdir() if path.suffix == ".built"]
    assert len(trees) == 1


def test_files_of_the_commit_stay_as_the_build_left_them(tmp_path, repo):
    """A build that writes into a file that git knows is not taken back, what a run changes is."""
    good, bad, culprit = history(repo, 4, count=12)
    builder(tmp_path, "echo configured >>file1")
    bench(tmp_path, 'test "$(grep -c configured file1)" = 1 && echo configured >>file1')
    done = run_built(tmp_path, repo, good, bad)
    assert json.loads(done.stdout).get("culprit") == culprit, done.stderr


def test_what_a_build_leaves_running_is_ended_also_a_server(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=8)
    builder(tmp_path, f"setsid sh -c 'echo $$ >>{tmp_path}/left; exec sleep 987' & sleep 0.2")
    bench(tmp_path)
    done = run_built(tmp_path, repo, good, bad)
    answer = json.loads(done.stdout)
    assert answer["culprit"] == culprit, done.stderr
    left = [int(pid) for pid in (tmp_path / "left").read_text().split()]
    assert len(left) == answer["builds"]
    for pid in left:
        status = Path(f"/proc/{pid}/status")
        assert not status.exists() or "State:\tZ" in status.read_text()


@pytest.mark.parametrize(
    ("text", "more", "code", "said"),
    [
        ("exit 2", [], 3, "ended with 2"),
        ("sleep 60", ["--build-timeout", "0.5"], 3, "--build-timeout"),
        ("no-such-compiler", [], 2, "look at --build"),
        ("exit 200", [], 3, "`rtbisect resume` goes on"),
    ],
)
def test_a_build_that_fails_at_the_good_end_is_told_in_a_line(
    tmp_path, repo, text, more, code, said
):
    good, bad, _ = history(repo, 4, count=6)
    builder(tmp_path, f"{text} || exit $?")
    bench(tmp_path)
    done = run_built(tmp_path, repo, good, bad, *more)
    assert (done.returncode, said in done.stdout + done.stderr) == (code, True), done.stderr
    assert built(tmp_path)[good] == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--build", "make && ls"], "no shell reads it"),
        (["--build", "'make"], "a quote that does not end"),
        (["--build", ""], "--build is empty"),
        (["--build", "no-such-program-anywhere"], "is not there"),
        (["--keep-builds", "3"], "--keep-builds needs --build"),
        (["--build", "true", "--build-timeout", "0"], "is not a time limit"),
    ],
)
def test_bad_words_of_a_build_are_one_line(tmp_path, repo, words, said):
    good, bad, _ = history(repo, 5, count=4)
    words = ["run", "--good", good, "--bad", bad, *words, "--", "true"]
    done = rtbisect(tmp_path / "state", *words, cwd=repo)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert done.stderr.count("\n") == 1


def test_a_product_is_what_runs_and_not_that_of_the_working_tree(tmp_path, repo):
    """The user has built, too: that binary is of no revision."""
    good, bad, culprit = history(repo, 4, count=12)
    builder(tmp_path, "printf '#!/bin/sh\\ntest ! -e slow\\n' >tool; chmod +x tool")
    (repo / "tool").write_text("#!/bin/sh\nexit 201\n")
    (repo / "tool").chmod(0o755)
    (repo / ".git/info/exclude").write_text("tool\n")
    done = run_built(tmp_path, repo, good, bad, command=["./tool"])
    assert json.loads(done.stdout).get("culprit") == culprit, done.stderr


def test_a_build_that_was_interrupted_goes_on(tmp_path, repo):
    good, bad, culprit = history(repo, 4, count=12)
    builder(
        tmp_path,
        f"test -e {tmp_path}/go || {{ touch {tmp_path}/go;"
        " kill -INT $(ps -o ppid= -p $$); sleep 9; }",
    )
    bench(tmp_path)
    program = Path(sys.executable).with_name("rtbisect")
    words = ["run", "--good", good, "--bad", bad, "--pass-fail", "--build", tmp_path / "build.sh"]
    done = subprocess.run(
        [program, "--state", tmp_path / "state", *words, "--", "../bench.sh"],
        cwd=repo, env=os.environ | ENV, capture_output=True, text=True, check=False,
        preexec_fn=hears_signals,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    done = rtbisect(tmp_path / "state", "resume", "run-1", "--json", cwd=tmp_path)
    answer = json.loads(done.stdout)
    assert answer["culprit"] == culprit, done.stderr
    # It did not count as a build that fails.
    assert (answer["skipped"], built(tmp_path)[good]) == (0, 2)
