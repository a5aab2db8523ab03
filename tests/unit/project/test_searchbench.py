# SPDX-License-Identifier: GPL-2.0-or-later
"""The benchmark of the search scores every arm alike, and tells the oracle the truth."""

import random
import statistics
from dataclasses import replace

import numpy as np
import pytest

import bench_search
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from searchbench import git_arms, tables
from searchbench.arms import ARMS, Played, run
from searchbench.calibration import OF_SITE, spec_of
from searchbench.histories import history
from searchbench.noisy import gauss
from searchbench.oracle import known_grids
from searchbench.scoring import NOTHING, Said, alike, nameable, right, strict
from searchbench.world import Cell, World, world

CELL = Cell("small", "linear-30", 6.0, boot=0.3)


def here(cell, trial=0):
    return world(cell, Ancestry(history(cell.history)), trial)


def line(broken, *culprits):
    """A world of a line of 30 with these culprits, where these commits do not build."""
    ancestry = Ancestry(history("linear-30"))
    shas = [commit.sha for commit in ancestry.graph.commits]
    return World(CELL, ancestry, 1, culprits, False, frozenset(shas[i] for i in broken)), shas  # noqa: FBT003


@pytest.mark.parametrize("layout", [False, True])
def test_a_build_has_one_layout_and_where_all_are_linked_anew_each_boot_has(layout):
    """All noise is that of builds; also where the layout of the ends is all that differs."""
    seen = {}
    for fresh in (False, True):
        cell = Cell("links", "linear-30", 1.0, build=1.0, fresh=fresh)
        place = World(cell, Ancestry(history("linear-30")), 1, (), layout, frozenset())
        shas = (place.graph.newer, place.graph.commits[3].sha)
        seen[fresh] = [len({place.boot(sha)[1] for _ in range(4)}) for sha in shas]
    assert seen == {False: [1, 1], True: [4, 4]}


def test_where_a_budget_grows_its_builds_grow_with_its_boots():
    place = here(CELL)
    play = Played(place, OF_SITE, proof=False)
    state = engine.start(spec_of(place, OF_SITE))
    assert not play.grow(OF_SITE.max_boots)
    assert play.within(state).spec.max_builds == OF_SITE.max_builds
    assert play.grow(400)
    spec = play.within(state).spec
    assert (spec.max_boots, spec.max_builds) == (400, 400)


def test_many_steps_have_no_commit_that_is_right():
    cell = Cell("steps", "linear-100", 3.0, steps=20)
    many = here(cell, 1)
    assert len(many.culprits) == 20
    commits = [commit.sha for commit in many.graph.commits]
    shares = [many.share(sha) for sha in ("good", *commits)]
    assert (shares[0], shares[-1]) == (0.0, pytest.approx(1.0))
    assert shares == sorted(shares)
    assert right(many, Said("gradual"))
    assert not any(right(many, Said("culprit", (sha,))) for sha in commits)
    assert not right(many, Said("not_reproduced"))


@pytest.mark.parametrize("arm", ["ours", "oracle"])
def test_a_set_that_holds_the_culprit_is_right(arm):
    cell = Cell("sets", "linear-100", 3.0, boot=0.3, broken=0.4)
    row = run(here(cell, 5), arm, 5)
    assert row.outcome == "culprit_set"
    assert row.right
    assert row.holds
    assert row.size > 1
    assert not row.strict
    assert not row.nameable


def test_a_set_is_right_with_what_no_build_tells_apart_alone():
    world, shas = line((10, 11), 11)
    same = shas[10:13]
    assert alike(world, shas[11]) == set(same)
    assert right(world, Said("culprit_set", tuple(same)))
    assert right(world, Said("culprit_set", (shas[11], shas[12])))
    assert not right(world, Said("culprit_set", (*same, shas[13])))
    assert not right(world, Said("culprit_set", (shas[10], shas[12])))
    assert right(world, Said("culprit", (shas[11],)))


@pytest.mark.parametrize(
    ("culprit", "known"), [(9, True), (10, False), (11, False), (12, False), (13, True), (0, True)]
)
def test_the_ceiling_is_what_unbuildable_stretches_leave(culprit, known):
    """Of 12 it is the parents that do not build."""
    world, _ = line((10, 11), culprit)
    assert nameable(world) == known


def test_a_culprit_that_does_not_build_is_known_by_its_children():
    """It has two, and nothing else comes before both."""
    commits = (Commit("a", ("good",)), Commit("b", ("a",)), Commit("c", ("a",)))
    graph = CommitGraph("good", "m", (*commits, Commit("m", ("b", "c"))))
    world = World(CELL, Ancestry(graph), 1, (0,), False, frozenset({"a"}))  # noqa: FBT003
    assert nameable(world)
    assert not nameable(replace(world, broken=frozenset({"a", "b"})))


def test_several_culprits_are_wrong_where_there_is_one():
    world, shas = line((), 5)
    two, _ = line((), 5, 20)
    assert not right(world, Said("multiple_culprits", (shas[5],)))
    assert right(two, Said("multiple_culprits", (shas[5], shas[20])))
    assert right(two, Said("multiple_culprits", (shas[20],)))
    assert not right(two, Said("multiple_culprits", (shas[5], shas[6])))


def test_a_set_is_no_strict_answer():
    world, shas = line((10, 11), 11)
    assert strict(world, Said("culprit", (shas[11],)))
    assert not strict(world, Said("culprit_set", (shas[11], shas[12])))
    assert not strict(world, Said("inconclusive"))


def test_the_oracle_knows_how_ranges_without_a_culprit_look():
    cell = Cell("none", "linear-30", 2.0, boot=0.3, build=0.2, none=1.0)
    grids = known_grids(cell)
    assert grids.layout.tolist() == [False, True]
    own, wide = (kind.tau for kind in grids.shared.kinds)
    assert own == pytest.approx(0.2**0.5)
    assert wide == cell.layout_tau == 1.4
    nodes = grids.shared.loglik((2.0, 2.1, 1.9)).ravel()
    assert nodes[1] > nodes[0]
    node = np.array([0.0, 1.0]).reshape(2, 1, 1)
    again = grids.shared.again(grids.y, (2.0, 2.1), node)
    assert grids.y[again.argmax()] == pytest.approx(2.0, abs=0.4)
    assert grids.shared.fresh(grids.y).shape == (96, 2, 1, 1)


def test_the_oracle_blames_nobody_where_layouts_make_the_ends_differ():
    """Told that builds of one code are alike, it named a commit in each of these."""
    cell = Cell("none", "linear-60", 2.0, boot=0.3, none=1.0)
    rows = [run(here(cell, n), "oracle", n) for n in (0, 5, 7, 11)]
    assert all(row.reproduced for row in rows)
    assert all(row.outcome in NOTHING for row in rows)


PEERS = [*git_arms.ARMS, "gauss-95", "gauss-99"]


@pytest.mark.parametrize("arm", [*PEERS, "oracle-proved"])
def test_every_arm_names_what_is_plain_to_see(arm):
    rows = [run(here(CELL, n), arm, n) for n in range(2)]
    # A boot that strays far makes one failure of ten.
    assert sum(row.strict for row in rows) >= (1 if "syzbot" in arm else 2)


@pytest.mark.parametrize("arm", PEERS)
def test_no_arm_names_anything_where_nothing_differs(arm):
    row = run(here(replace(CELL, name="none", none=1.0, effect=0.3), 1), arm, 1)
    assert (row.outcome, row.right) == ("not_reproduced", True)


def test_what_nothing_tells_apart_is_a_set_to_a_noisy_bisection():
    world, shas = line((10, 11), 11)
    answer = gauss(0.99, world, "")
    assert answer.outcome == "culprit_set"
    assert set(answer.named) == set(shas[10:13])
    assert right(world, answer)


def test_a_limit_is_the_best_one_for_its_rule():
    rng = random.Random(1)
    ends = tuple(tuple(rng.gauss(level, 1) for _ in range(200)) for level in (0.0, 2.0))
    one = git_arms.best_limit(ends, lambda fails: fails)
    assert one == pytest.approx(1.0, abs=0.15)
    # Three failures in a row are rare, so that the limit has to be low; one of ten comes easily.
    assert git_arms.best_limit(ends, lambda fails: fails**3) < one - 0.3
    assert git_arms.best_limit(ends, lambda fails: 1 - (1 - fails) ** 10) > one + 0.3


def test_pinpoint_repeats_until_samples_are_the_same_or_differ():
    limits = [git_arms.same_above(1.0, boots) for boots in (5, 10, 20, 40, 60)]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] == 1.0
    assert limits[-1] < git_arms.DIFFERENT


def named(cell, arm, count, right_ones, stated, **more):
    return [
        {
            "cell": cell, "arm": arm, "trial": i, "outcome": "culprit", "right": i < right_ones,
            "confidence": stated, **more,
        }
        for i in range(count)
    ]  # fmt: skip


def test_that_a_step_came_gradually_is_a_wrong_answer(capsys):
    cost = dict.fromkeys(("boots", "builds", "hours", "cpu_s", "size"), 1)
    about = {"has_culprit": True, "strict": False, "nameable": True, "reproduced": True}
    rows = named("linear-1sd", "ours", 5, 3, 0.99, **about, **cost)
    rows[4]["outcome"] = "gradual"
    tables.answers(tables.grouped(rows, ["linear-1sd"], ARMS))
    head, row = capsys.readouterr().out.splitlines()
    # No interval has a blank, so a row has as many fields as its head.
    told = dict(zip(head.split(), row.split(), strict=True))
    assert {key: told[key] for key in ("right", "wrong", "open", "none")} == {
        "right": "0.600", "wrong": "2", "open": "0", "none": "0",
    }  # fmt: skip


def test_by_how_much_confidence_is_overstated_at_most():
    # 475 of 500 right at a stated 0.95: 0.934 is the lower bound of Clopper and Pearson.
    assert tables.overstated_at_most(0.95, 475, 500) == pytest.approx(0.95 - 0.9308, abs=1e-3)
    assert tables.overstated_at_most(0.95, 0, 5) == 0.95
    # Exactly a binomial where all are stated alike.
    assert tables.as_few_right([0.9] * 10, 7) == pytest.approx(0.0702, abs=1e-4)
    assert tables.as_few_right([0.5, 0.9], 0) == pytest.approx(0.05)


def test_cells_with_few_named_are_judged_together(capsys):
    rows = named("linear-1sd", "ours", 400, 380, 0.95) + named("kernel-1sd", "ours", 50, 40, 0.98)
    rows += named("linear-2sd", "ours", 50, 50, 0.98) + named("linear-1sd", "git-9", 9, 3, 1.0)
    tables.reliability(tables.grouped(rows, ["linear-1sd", "linear-2sd", "kernel-1sd"], ARMS))
    told = capsys.readouterr().out
    assert "git-9" not in told
    last = told.splitlines()[-1].split()
    assert last[:2] == ["ours", "100"]
    assert float(last[6]) == pytest.approx(8.0)
    assert float(last[8]) < 0.001


def test_hours_are_compared_by_kind_of_range(capsys):
    kinds = {"has_culprit": True, "reproduced": True}
    rows = []
    for arm, factor in (("ours-proved", 1.5), ("oracle-proved", 1.0)):
        for i in range(20):
            kinds = {"has_culprit": i % 2 == 0, "reproduced": i % 4 < 2}
            rows.append(
                {"cell": "linear-1sd", "arm": arm, "trial": i, "hours": factor * (10 + i), **kinds}
            )
    tables.against_oracle(tables.grouped(rows, ["linear-1sd"], ARMS))
    told = capsys.readouterr().out.splitlines()[2:]
    assert len(told) == 4
    assert all("n=5" in line and "ratio 1.50 [1.50,1.50]" in line for line in told)


@pytest.mark.parametrize("sha", ["abc", "g" * 40, "0" * 41])
def test_a_commit_that_is_none_opens_nothing(sha, monkeypatch, tmp_path, capsys):
    log = tmp_path / "opened.jsonl"
    monkeypatch.setattr("sys.argv", ["bench_search.py", "--unopened", sha, "--opened", str(log)])
    with pytest.raises(SystemExit):
        bench_search.main()
    assert "hexadecimal" in capsys.readouterr().err
    assert not log.exists()


def test_every_cell_has_a_name_of_its_own():
    names = [cell.name for cell in bench_search.cells("all")]
    assert len(set(names)) == len(names)
    assert (
        statistics.mode(type(cell).__name__ for cell in bench_search.cells("strange")) == "Strange"
    )
