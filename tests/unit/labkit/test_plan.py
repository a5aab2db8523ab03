# SPDX-License-Identifier: GPL-2.0-or-later
"""Demo histories as plans, their table of changes, their people and their truth."""

import re
from dataclasses import replace

import pytest

from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.campaign import Cause
from rtbisect_labkit.demo.cases import CASES, KINDS
from rtbisect_labkit.demo.edits import Edit, Replacement, apply, load_catalogue, read_patch
from rtbisect_labkit.demo.people import replacement, rewrite_maintainers
from rtbisect_labkit.demo.plan import BRANCHED_COMMITS, MAX_COMMITS, PLAIN_COMMITS, plan
from rtbisect_labkit.demo.truth import Truth, load, matches, save

SIZES = (4, 8, 12, 13, 16, 23, 24, 31, 47, 48, 64, 150)
DRAWS = [(seed, size) for seed in range(6) for size in SIZES]
#: A hard history needs commits that do not build.
HARD = [(seed, size, True) for seed, size in DRAWS if size > PLAIN_COMMITS]


def ancestors(made):
    above = []
    for step in made.steps:
        own = set()
        for parent in step.parents:
            if parent >= 0:
                own |= above[parent] | {parent}
        above.append(own)
    return above


def faults(made):
    """Per step whether a break is in it without its mend, from the edits alone."""
    above = ancestors(made)
    found = []
    for index, step in enumerate(made.steps):
        edits = [made.steps[i].edit for i in above[index]] + [step.edit]
        broken = {e.file for e in edits if e and e.area == "broken"}
        mended = {e.file for e in edits if e and e.area == "mended"}
        found.append(broken - mended)
    return found


@pytest.mark.parametrize(("seed", "size"), DRAWS)
def test_shape(seed, size):
    made = plan(seed, size)
    assert len(made.steps) == size
    for index, step in enumerate(made.steps):
        assert all(-1 <= parent < index for parent in step.parents)
        assert (len(step.parents) == 2) == (step.edit is None)
    whole = ancestors(made)
    assert whole[-1] == set(range(size - 1)), "every commit is between good and bad"
    whens = [step.when for step in made.steps]
    assert whens == sorted(set(whens))
    subjects = [step.subject for step in made.steps]
    assert len(set(subjects)) == size


@pytest.mark.parametrize(("seed", "size"), DRAWS)
def test_side_branches(seed, size):
    made = plan(seed, size)
    above = ancestors(made)
    merges = [i for i, step in enumerate(made.steps) if step.edit is None]
    assert (len(merges) >= 2) == (size >= BRANCHED_COMMITS)
    for merge in merges:
        first, second = made.steps[merge].parents
        side = (above[second] | {second}) - above[first] - {first}
        assert 3 <= len(side) <= 8
        own = (above[first] | {first}) - above[second]
        assert own, "the main line went on meanwhile"


@pytest.mark.parametrize(("seed", "size", "hard"), [(*d, False) for d in DRAWS] + HARD)
def test_faults_are_those_that_the_truth_tells(seed, size, hard):
    made = plan(seed, size, hard=hard)
    table = load_catalogue()
    build = {pair.breaks.file for pair in table.build_pairs}
    found = faults(made)
    assert made.build_failures == tuple(i for i, f in enumerate(found) if f & build)
    assert made.boot_failures == tuple(i for i, f in enumerate(found) if f - build)
    if size <= PLAIN_COMMITS:
        assert not any(found)
        assert all(step.parents == (i - 1,) for i, step in enumerate(made.steps))
    else:
        assert 2 <= len(made.build_failures) <= (4 if hard else 3)
        assert len(made.boot_failures) == 1
    assert not found[-1], "bad builds and boots"


@pytest.mark.parametrize(("seed", "size"), DRAWS)
def test_culprit_can_be_tested(seed, size):
    for kind in KINDS[:2]:
        made = plan(seed, size, kind)
        found = faults(made)
        assert made.steps[made.culprit].edit is load_catalogue().culprits[kind]
        children = [i for i, s in enumerate(made.steps) if made.culprit in s.parents]
        near = [made.culprit, *made.steps[made.culprit].parents, *children]
        assert not any(found[i] for i in near if i >= 0)
        assert made.culprit_set == (made.culprit,)


@pytest.mark.parametrize(("seed", "size"), [d for d in DRAWS if d[1] > PLAIN_COMMITS])
def test_hard_culprit_hides_in_a_stretch_that_does_not_build(seed, size):
    made = plan(seed, size, hard=True)
    assert made.culprit in made.build_failures
    stretch = made.culprit_set
    assert stretch == tuple(range(stretch[0], stretch[-1] + 1))
    assert set(stretch[:-1]) == set(made.build_failures)
    assert made.steps[stretch[0]].edit.area == "broken"
    assert made.steps[stretch[-1]].edit.area == "mended"
    assert all(made.steps[i].parents == (i - 1,) for i in stretch[1:])


def test_kinds_look_alike():
    for kind in KINDS:
        for seed in range(4):
            made = plan(seed, 64, kind)
            files = [s.edit.file for s in made.steps if s.edit and s.edit.area != "culprit"]
            assert files.count("fs/eventpoll.c") + files.count("include/linux/eventpoll.h") >= 3
            assert sum(f.startswith("kernel/rcu/") for f in files) >= 3
            twins = {s.edit.twin_of for s in made.steps if s.edit} - {""}
            assert twins == set(KINDS[:2]) - {kind}
            areas = {s.edit.area for s in made.steps if s.edit}
            assert {"epoll", "rcu", "built", "docs", "drivers"} <= areas


def test_same_arguments_same_plan_and_every_kind_is_drawn():
    assert plan(7, 64) == plan(7, 64)
    assert plan(7, 64) != plan(8, 64)
    assert {plan(seed, 12).kind for seed in range(30)} == set(KINDS)
    assert {plan(seed, 16, hard=True).kind for seed in range(20)} == set(KINDS[:2])
    made = plan(1, 64, "nothing")
    assert (made.culprit, made.culprit_set) == (None, ())


@pytest.mark.parametrize("kind", [kind for kind in CASES if kind != "nothing"])
def test_every_case_has_its_culprit_and_its_cause(kind):
    made = plan(3, 64, kind)
    assert made.steps[made.culprit].edit is load_catalogue().culprits[CASES[kind].plants]
    assert CASES[kind].cause is not Cause.NONE
    assert made.kind == kind
    # What the commit says about itself gives nothing away.
    said = f"{made.steps[made.culprit].subject} {made.steps[made.culprit].body}".lower()
    assert not any(word in said for word in ("rtbisect", "culprit", "regression", "planted"))


def test_the_culprit_moves():
    places = {plan(seed, 64, "rcu-latency").culprit for seed in range(40)}
    assert len(places) > 15
    assert min(places) < 16
    assert max(places) > 48


def test_the_longest_history_can_be_drawn():
    assert len(plan(3, MAX_COMMITS).steps) == MAX_COMMITS


@pytest.mark.parametrize(
    ("commits", "kind", "hard"),
    [
        (3, None, False),
        (MAX_COMMITS + 1, None, False),
        (64, "epol", False),
        (12, None, True),
        (64, "nothing", True),
    ],
)
def test_what_cannot_be_drawn(commits, kind, hard):
    with pytest.raises(ConfigError):
        plan(1, commits, kind, hard=hard)


def test_the_table_is_large_and_has_no_duplicates():
    table = load_catalogue()
    assert len(table.area("epoll", "rcu", "built")) >= 55
    assert len(table.harmless) >= MAX_COMMITS
    subjects = [edit.subject for edit in table.harmless]
    assert len(set(subjects)) == len(subjects)
    for edit in table.harmless:
        assert edit.body.endswith("\n")
        assert len(edit.subject) <= 75, edit.subject
        assert all(change.find != change.put for change in edit.changes)
        assert not re.search("revert|regress|spinlock|slow", edit.subject, re.IGNORECASE)


def test_edits_of_one_file_never_add_what_another_one_looks_for():
    table = load_catalogue()
    for one in table.harmless:
        for other in table.harmless:
            if one is not other and one.file == other.file:
                for change in one.changes:
                    for seek in other.changes:
                        assert not seek.find or seek.find not in change.put


def test_apply_insists_on_one_place():
    edit = Edit(
        area="built", file="a.c", subject="s", body="b", changes=(Replacement("x\n", "y\n"),)
    )
    assert apply(b"1\nx\n2\n", [edit]) == b"1\ny\n2\n"
    for text in (b"1\n", b"x\nx\n"):
        with pytest.raises(ConfigError, match=r"6\.13\.1 .*6\.12\.117"):
            apply(text, [edit], "6.13.1")
    assert (
        apply(
            b"a\n",
            [
                Edit(
                    area="docs",
                    file="d",
                    subject="s",
                    body="b",
                    changes=(Replacement("", "\nz\n"),),
                )
            ],
        )
        == b"a\n\nz\n"
    )


PATCH = """words
--- a/x.c
+++ b/x.c
@@ -1,3 +1,4 @@ f()
 one
-two
+2
+2.5
 three
@@ -9 +10 @@
-nine
+9
"""


def test_patch():
    file, changes = read_patch(PATCH, "p")
    assert file == "x.c"
    assert changes == (
        Replacement("one\ntwo\nthree\n", "one\n2\n2.5\nthree\n"),
        Replacement("nine\n", "9\n"),
    )


@pytest.mark.parametrize(
    "bad",
    [
        PATCH.replace("1,3", "1,9"), PATCH.replace("1,3", "1,2"), PATCH.replace(" three", "three"),
        PATCH + PATCH, PATCH.partition("@@ -9")[0][:-7], "@@ -1 +1 @@\n-a\n+b\n", "nothing",
    ],
)  # fmt: skip
def test_what_is_no_whole_patch_of_one_file_is_refused(bad):
    with pytest.raises(InternalError, match="p is no patch of exactly one file"):
        read_patch(bad, "p")


def test_maintainers_name_nobody():
    text = (
        "EPOLL\nM:\tAda Real <ada@kernel.test>\nR:\tBob Real <bob@kernel.test>\n"
        "L:\tepoll@vger.test (moderated for non-subscribers)\nS:\tMaintained\n"
        "W:\thttps://ada.test/~ada\nW:\twww.ada.test\nT:\tgit git://git.test/ada/linux.git\n"
        "F:\tfs/eventpoll.c\nK:\t\\bepoll\\b\n\nOTHER\nM:\tAda Real <ada@kernel.test>\n"
    )
    assert rewrite_maintainers(text) == (
        "EPOLL\nM:\tPerson 001 <person-001@example.org>\nR:\tPerson 002 <person-002@example.org>\n"
        "L:\tlist-001@lists.example.org (moderated for non-subscribers)\nS:\tMaintained\n"
        "W:\thttps://www.example.org/1\nW:\thttps://www.example.org/2\n"
        "T:\tgit https://www.example.org/3\n"
        "F:\tfs/eventpoll.c\nK:\t\\bepoll\\b\n\nOTHER\nM:\tPerson 001 <person-001@example.org>\n"
    )
    for file in ("CREDITS", ".mailmap", ".get_maintainer.ignore"):
        assert "kernel.test" not in replacement(file, text)


def truth(**change):
    row = {
        "kind": "rcu-latency", "seed": 1, "commits": 64, "hard": False, "good": "g", "bad": "b",
        "culprit": "c", "culprit_set": ("c",), "build_failures": ("x",), "boot_failures": (),
    }  # fmt: skip
    return Truth(**(row | change))


def test_truth_is_kept(tmp_path):
    save(tmp_path / "deep" / "truth.json", truth())
    assert load(tmp_path / "deep" / "truth.json") == truth()
    (tmp_path / "other").write_text('{"kind": 1}')
    for name in ("other", "away"):
        with pytest.raises(ConfigError, match="no truth file"):
            load(tmp_path / name)


def test_only_the_right_answer_matches():
    kind = CASES[truth().kind].cause
    assert matches(truth(), "culprit", "c", kind)
    assert not matches(truth(), "culprit", "c", "none")
    assert not matches(truth(), "culprit", "d", kind, ["c"])
    assert not matches(truth(), "culprit_set", None, "none", ["c"])
    assert not matches(truth(), "no_regression", None, "none")
    nothing = truth(kind="nothing", culprit=None, culprit_set=())
    assert matches(nothing, "no_regression", None, "none")
    assert matches(nothing, "not_reproduced", None, "none")
    assert not matches(nothing, "inconclusive", None, "none")
    assert not matches(nothing, "culprit", None, "none")
    hard = truth(hard=True, culprit_set=("a", "c", "e"))
    assert matches(hard, "culprit_set", None, "none", ["c", "e"])
    assert not matches(hard, "culprit_set", None, "none", ["a", "e"])
    assert not matches(hard, "culprit_set", None, "none", ["c", "z"])
    assert not matches(hard, "culprit", "c", kind, ["c"])


def test_cases_that_plant_the_same_commit_have_the_same_history():
    one, other = plan(5, 64, "epoll-spinlock"), plan(5, 64, "stall-fix")
    assert (one.steps, one.culprit) == (other.steps, other.culprit)
    assert one.name != other.name
    assert plan(5, 64, "rcu-latency").steps != one.steps


def test_a_history_of_other_edits_has_another_name(monkeypatch):
    """A campaign of an older program keeps its history, and the truth that lies beside it."""
    table = load_catalogue()
    ours = plan(7)
    others = replace(table, harmless=table.harmless[::-1])
    monkeypatch.setattr("rtbisect_labkit.demo.plan.load_catalogue", lambda: others)
    assert plan(7).steps != ours.steps
    assert plan(7).name != ours.name
