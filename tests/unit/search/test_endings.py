# SPDX-License-Identifier: GPL-2.0-or-later
"""How a search ends: a commit that stands out is named or put to the proof, never left open."""

import random
from collections import Counter
from dataclasses import replace
from itertools import count

import pytest

from helpers.campaigns import World, line_of, sha, thresholds
from helpers.depth import deep
from helpers.findings import first
from helpers.searches import replayed
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import CampaignRequest, Limits, Observation, Outcome
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.pipeline import Proofs, Searches
from rtbisect.model.kinds.search import Costs, Endings
from rtbisect.model.lab import Measurement, RunStatus
from rtbisect.pipeline import bisect
from rtbisect.search import engine, plan
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.events import Booted, Built, Reverted
from rtbisect.search.parts import Parts
from rtbisect.search.posterior import side_of
from rtbisect.search.spec import Finish, SearchSpec
from searchbench.simulate import events, rehearse

#: A median wait in us, in steps of 1000 us.
WAIT = next(t for t in thresholds() if (t.key.name, t.key.window) == ("p50_us", "rcu-off"))
#: Boots of a busy host, in the order of a search: 0 is the good end, 8 the bad one, 5 the culprit.
BUSY = (
    (0, 6040), (8, 9006), (8, 9004), (0, 5988), (0, 6036), (8, 9055), (8, 11890), (0, 6134),
    (0, 6020), (8, 9145), (8, 10630), (0, 6186), (4, 6893), (4, 6461), (5, 9169), (4, 6779),
    (5, 9126), (6, 9093), (3, 6038), (6, 9379),
)  # fmt: skip
#: Which of its kernels each revision is.
KERNELS = (0, 0, 0, 3, 3, 5, 6, 6, 6)
#: The probability of "no regression" before any boot. After those of BUSY it is 0.017 and 0.053.
PRIORS = (0.2, 0.45)


class Host:
    """Goes on where BUSY ends; every layout of a kernel is like the kernel."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def build(self, revision):
        return f"kernel {KERNELS[int(revision, 16)]}"

    def boot(self, revision):
        level = 9000.0 if int(revision, 16) >= 5 else 6000.0
        return RunStatus.COMPLETE, level + self.rng.gauss(0, 60)

    def boot_layout(self, revision, _layout):
        return self.boot(revision)


def begun(**kw):
    """The search of the busy host, so far; all of its boots count."""
    every = Parts(disturbed=False)
    state = engine.start(
        SearchSpec(graph=line_of(8), threshold=WAIT, seed=0, layout_below=0.2, parts=every, **kw)
    )
    built = set()
    for place, value in BUSY:
        signature = f"kernel {KERNELS[place]}"
        if place not in built:
            built.add(place)
            state = engine.apply(state, Built(sha(place), True, signature, 20.0))  # noqa: FBT003
        seen = Observation(value=float(value))
        event = Booted(
            revision=sha(place),
            status=RunStatus.COMPLETE,
            observation=seen,
            seconds=20.0,
        )
        state = engine.apply(state, event)
    return state


def ended(state, host):
    """The state at its end, the last proposal, and how many boots there were of what."""
    purposes = Counter()
    while not isinstance(first := engine.propose(state)[0], Finish):
        purposes[first.purpose] += first.boot
        for event in events(state, host, first):
            state = engine.apply(state, event)
    return state, first, purposes


@pytest.mark.parametrize("layout_cost_s", [None, 300.0])
@pytest.mark.parametrize("prior", PRIORS)
def test_what_only_no_regression_at_all_speaks_against_is_named(prior, layout_cost_s):
    """No boot tells candidates apart any more; what one tells of "no regression" is enough."""
    state = begun(layout_cost_s=layout_cost_s, prior_none=prior)
    before = len(state.events)
    assert state.belief.none > engine.NONE_AT_MOST
    state, finish, _ = ended(state, Host(1))
    found = engine.answer(state)
    assert (finish.outcome, found.culprit, found.sure) == (Outcome.CULPRIT, sha(5), True)
    assert state.belief.none <= engine.NONE_AT_MOST
    assert len(state.events) < before + 15


def test_kernels_that_were_booted_often_leave_it_to_another_layout():
    state = begun(layout_cost_s=30.0, prior_none=0.56)
    state = replayed(engine, state.spec, (*state.events, *fresh({sha(n): 6e3 for n in (0, 3)}, 20)))
    state = replayed(engine, state.spec, (*state.events, *fresh({sha(n): 9e3 for n in (5, 8)}, 20)))
    far = replace(state, spec=replace(state.spec, max_boots=200, prior_none=1 - 1e-6))
    test = plan.trial_against_none(far)
    assert (test.purpose, test.layout) == ("layout", 1)
    assert test.revision in (sha(4), sha(5))
    # Where there are no such builds, nothing is left to tell.
    none = replace(far, spec=replace(far.spec, layout_cost_s=None))
    assert plan.trial_against_none(none) is None


def fresh(levels, boots=6):
    """Boots of a proof: medians by revision."""
    rng = random.Random(2)
    for _ in range(boots):
        for revision, level in levels.items():
            seen = Observation(value=level + rng.gauss(0, 60))
            yield Booted(
                revision=revision,
                status=RunStatus.COMPLETE,
                observation=seen,
                seconds=20.0,
            )


def test_a_revert_counts_as_a_kernel_without_its_commit():
    state = begun(prior_none=0.45)
    pair = {sha(5): 9000.0, sha(4): 6050.0}
    revert = Reverted(sha(99), sha(8), sha(5))
    back = (revert, *fresh({**pair, sha(99): 6000.0, sha(8): 9000.0}))
    held, enough = engine.confidence_after(state, sha(5), back, rebuilt=True)
    assert enough
    assert held > 0.999
    # One that takes nothing back speaks against the commit.
    in_vain = (revert, *fresh({**pair, sha(99): 9000.0, sha(8): 9000.0}))
    held, enough = engine.confidence_after(state, sha(5), in_vain, rebuilt=False)
    assert not enough
    assert held < 0.5


def test_a_revert_lacks_its_commit_alone():
    state = engine.apply(begun(), Reverted(sha(99), sha(8), sha(5)))
    assert (
        side_of(state.ledger, state.ancestry, sha(99)).tolist() == [True] * 4 + [False] + [True] * 3
    )
    assert state.ancestry.side(sha(8)).all()


def test_what_is_spent_is_told_where_the_budget_ends():
    state, finish, _ = ended(begun(max_boots=20), Host(1))
    assert finish.reason.kind == Endings.LIKELY_CULPRIT
    assert finish.reason.data["boots"] == 20
    early = replayed(engine, replace(state.spec, max_boots=14), state.events[:17])
    spent = Finding.of(Costs.WORK, builds=3, boots=14)
    assert engine.propose(early)[0].reason == Finding.of(Endings.SEARCH_BUDGET, spent=spent)


def test_the_end_of_the_budget_puts_a_likely_commit_to_the_proof():
    state, finish, _ = ended(begun(max_boots=20), Host(1))
    assert (finish.outcome, finish.sure) == (Outcome.CULPRIT, False)
    found = engine.answer(state)
    assert (found.culprit, found.sure) == (sha(5), False)
    assert found.confidence == float(state.belief.commits[4])
    # One that is not likely is left open.
    early = replayed(engine, replace(state.spec, max_boots=14), state.events[:17])
    assert engine.propose(early)[0].outcome is Outcome.INCONCLUSIVE


#: m0 is the good end, s1 to s10 and m1 to m10 are two branches that M merges, v10 is the bad end.
def merged():
    commits = []
    for name in ("s", "m"):
        tip = "m0"
        for number in range(1, 11):
            commits.append(Commit(f"{name}{number}", (tip,)))
            tip = f"{name}{number}"
    commits.append(Commit("M", ("m10", "s10")))
    commits += [Commit(f"v{n}", (f"v{n - 1}" if n > 1 else "M",)) for n in range(1, 11)]
    return CommitGraph("m0", "v10", tuple(commits))


class Steps:
    """Runs of a command: the level rises by a share of 15 at each culprit; standard deviation 5."""

    def __init__(self, graph, shares, seed):
        self.ancestry, self.rng = Ancestry(graph), random.Random(seed)
        self.shares = {self.ancestry.index[name]: share for name, share in shares.items()}

    def build(self, revision):
        return f"files of {revision}"

    def boot(self, revision):
        side = self.ancestry.side(revision)
        level = 100 + 15 * sum(share for place, share in self.shares.items() if side[place])
        return RunStatus.COMPLETE, self.rng.gauss(level, 5)


def runs(seed):
    threshold = CommandRequest(argv=("bench",)).threshold()
    return SearchSpec(
        graph=merged(), threshold=threshold, seed=seed, calibrate_max=40, max_boots=282,
        max_builds=300,
        build_cost_s=0.01, boot_cost_s=1.0,
    )  # fmt: skip


@pytest.mark.parametrize("seed", [3, 6, 7, 11, 14])
def test_a_merge_that_makes_the_step_itself_is_named(seed):
    """With a level between that both branches may have at once, none of these seeds named it."""
    state, finish = rehearse(runs(seed), Steps(merged(), {"M": 1.0}, f"m/{seed}"))
    assert (finish.outcome, finish.sure) == (Outcome.CULPRIT, True)
    assert engine.answer(state).culprit == "M"
    assert state.ledger.boots < 100


@pytest.mark.parametrize("seed", deep([4], [0, 2, 4]))
def test_a_step_in_each_branch_is_not_blamed_on_the_merge(seed):
    world = Steps(merged(), {"s4": 0.5, "m7": 0.5}, seed)
    state, finish = rehearse(runs(seed), world)
    named = engine.answer(state).culprit
    assert finish.outcome in (Outcome.MULTIPLE_CULPRITS, Outcome.CULPRIT, Outcome.INCONCLUSIVE)
    assert named in (None, "s4", "m7")


def busy_lab(tmp_path, *, lasting=True, **limits):
    """The same host as a campaign: the boots of BUSY in their order, all of which count, then quiet
    ones. When the change is not `lasting`, these do not show it.
    """
    coming = {sha(place): [v for p, v in BUSY if p == place] for place, _ in BUSY}

    def draw(request, rng):
        number = int(request.revision, 16)
        bad = 5 <= number < 10**6 and lasting
        known = coming.get(request.revision)
        value = known.pop(0) if known else rng.gauss(9000 if bad else 6000, 60)
        return [
            Measurement(suite="rcu", name="p50_us", window="rcu-off", value=float(value), unit="us")
        ]

    graph = line_of(8)
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, suite="rcu"
    )
    names = {sha(n): sha(kernel) for n, kernel in enumerate(KERNELS)}
    return World(
        tmp_path, graph, FakeLab(draw), request=request, builder=FakeBuilder(same_as=names),
        reverts={(graph.newer, sha(5)): sha(10**6)},
        limits=Limits(**{"layout_below": 0.0, "disturbed": False} | limits),
    )  # fmt: skip


def test_a_campaign_of_the_busy_host_names_its_culprit(tmp_path):
    here = busy_lab(tmp_path)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    assert result.confidence >= 0.95
    assert {check.status for check in result.verifications} == {"pass"}


def test_that_something_else_slowed_runs_is_told(tmp_path):
    here, boots = busy_lab(tmp_path, disturbed=True), count(1)

    def draw(request, rng):
        bad = 5 <= int(request.revision, 16) < 10**6
        value = rng.gauss(9000 if bad else 6000, 60) + 30000 * (next(boots) % 6 in (0, 1))
        return [Measurement(suite="rcu", name="p50_us", window="rcu-off", value=value, unit="us")]

    here.lab = FakeLab(draw)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    told = first(result.reasons, Searches.DISTURBED)
    assert 0.05 * told["boots"] <= told["disturbed"] < told["boots"] <= len(here.lab.requests)


def test_that_the_machine_changed_its_speed_is_told(tmp_path):
    """The proof compares at one speed, too: no later commit takes anything back."""
    here, boots = busy_lab(tmp_path, layout_below=0.2, speeds=True), count(1)

    def draw(request, rng):
        bad = 5 <= int(request.revision, 16) < 10**6
        value = rng.gauss(9000 if bad else 6000, 60) * (0.6 if next(boots) > 14 else 1)
        return [Measurement(suite="rcu", name="p50_us", window="rcu-off", value=value, unit="us")]

    here.lab = FakeLab(draw)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    told = first(result.reasons, Searches.SPEEDS)
    assert 0.55 < told["effect"].data["ratio"] < 0.65
    assert 0 < told["other"] < told["boots"] <= len(here.lab.requests)
    assert {check.status for check in result.verifications} == {"pass"}


#: As many boots as BUSY has, and what is kept for the proof.
SPENT = len(BUSY) + Limits().proof_boots


def test_fresh_boots_make_sure_of_what_the_search_had_no_boots_for(tmp_path):
    here = busy_lab(tmp_path, max_boots=SPENT)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    assert result.confidence >= 0.95
    assert len(here.lab.requests) <= SPENT


def test_what_fresh_boots_do_not_bear_out_is_not_named(tmp_path):
    here = busy_lab(tmp_path, lasting=False, max_boots=SPENT)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.INCONCLUSIVE, None)
    assert result.confidence == 0.0


def test_what_fresh_boots_leave_doubtful_is_not_named(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "confidence_after", lambda *_a, **_k: (0.9, False))
    here = busy_lab(tmp_path, max_boots=SPENT)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.INCONCLUSIVE, None)
    assert dict(result.candidates)[sha(5)] > 0.9
    # Each check passes: a reader is told what is asked beside that, once.
    short = first(result.reasons, Proofs.UNLIKELY)
    assert (short["culprit"], short["probability"], short["asked"]) == (sha(5), 0.9, 0.95)
    assert first(result.reasons, Proofs.PROBABILITY) is None
