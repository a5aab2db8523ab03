# SPDX-License-Identifier: GPL-2.0-or-later
from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.depth import deep
from helpers.searches import replayed
from rtbisect.model.campaign import Better, MetricKey, Outcome, Role, Scale, Statistic, Threshold
from rtbisect.model.code import Commit, CommitGraph
from rtbisect.model.lab import RunStatus
from rtbisect.search import engine
from rtbisect.search.ancestry import Ancestry
from rtbisect.search.events import Booted
from rtbisect.search.gradual import NOT_GRADUAL, shapes, stretches_of
from rtbisect.search.ledger import Ledger
from rtbisect.search.spec import Finish, SearchSpec
from searchbench.simulate import events, rehearse

THRESHOLD = Threshold(
    key=MetricKey("suite", "metric", "on"),
    unit="us",
    better=Better.LOWER,
    scale=Scale.LOG,
    statistic=Statistic.MEDIAN,
    min_effect=1.5,
    limit=None,
    floor=0.0,
    role=Role.PRIMARY,
    control=None,
    reason="",
)
#: Each example is a whole search, or several.
FEW = settings(max_examples=deep(8, 100))


@st.composite
def graphs(draw, most=40, least=1):
    """Random histories with merges and boundary parents; every commit leads to the last."""
    size = draw(st.integers(least, most))
    commits, tips = [], []
    for i in range(size):
        known = [f"c{j}" for j in range(i)]
        near = st.sampled_from(["good", "old", *known[-4:]] if known else ["good"])
        parents = draw(st.lists(near, min_size=1, max_size=2, unique=True))
        if i == size - 1:
            parents = list(dict.fromkeys([*tips, *parents]))
        tips = [t for t in tips if t not in parents] + [f"c{i}"]
        commits.append(Commit(f"c{i}", tuple(parents)))
    return CommitGraph("good", f"c{size - 1}", tuple(commits))


class Oracle:
    """Noise-free; revisions in `broken` do not build, those in `dead` do not boot."""

    def __init__(self, graph, culprit, broken=(), dead=()):
        self.ancestry = Ancestry(graph)
        self.culprit = self.ancestry.index[culprit]
        self.broken, self.dead = broken, dead
        self.asked = []

    def build(self, sha):
        self.asked.append(sha)
        return None if sha in self.broken else ""

    def boot(self, sha):
        self.asked.append(sha)
        if sha in self.dead:
            return RunStatus.BOOT_FAILED, 0.0
        return RunStatus.COMPLETE, 4.0 if self.ancestry.side(sha)[self.culprit] else 1.0


@settings(max_examples=deep(40, 400))
@given(graphs(least=8), st.integers(0, len(shapes()) - 1))
def test_stretches_cover_the_history_and_share_all_of_the_shift(graph, row):
    ancestry = Ancestry(graph)
    found = replace(NOT_GRADUAL, shares=shapes()[[row]])
    parts = stretches_of(Ledger(THRESHOLD, ()), ancestry, found)
    assert (parts[0].older, parts[-1].newer) == graph.ends
    assert abs(sum(part.share for part in parts) - 1) < 1e-9
    for part, following in pairwise(parts):
        assert part.newer == following.older
        assert ancestry.side(following.newer)[ancestry.index[part.newer]]
    assert all(part.low == part.share == part.high for part in parts)


def specification(graph, **changes):
    return SearchSpec(graph=graph, threshold=THRESHOLD, seed=0, **changes)


@FEW
@given(graphs(), st.data())
def test_a_noise_free_search_is_exact(graph, data):
    culprit = data.draw(st.sampled_from(graph.commits)).sha
    oracle = Oracle(graph, culprit)
    state, finish = rehearse(specification(graph), oracle)
    assert finish.outcome is Outcome.CULPRIT
    assert engine.answer(state).culprit == culprit
    parents = next(c.parents for c in graph.commits if c.sha == culprit)
    assert {culprit, *parents} <= set(oracle.asked)


@settings(max_examples=deep(3, 25))
@given(graphs(most=24))
def test_a_noise_free_search_finds_every_culprit(graph):
    for commit in graph.commits:
        state, _ = rehearse(specification(graph), Oracle(graph, commit.sha))
        assert engine.answer(state).culprit == commit.sha


@FEW
@given(graphs(), st.data())
def test_nothing_outside_the_range_is_tested_but_parents_of_the_culprit(graph, data):
    culprit = data.draw(st.sampled_from(graph.commits))
    oracle = Oracle(graph, culprit.sha)
    state, _ = rehearse(specification(graph), oracle)
    inside = {c.sha for c in graph.commits} | {"good"}
    booted = {e.revision for e in state.events if isinstance(e, Booted)}
    assert booted <= inside
    assert set(oracle.asked) - inside <= set(culprit.parents)


@FEW
@given(graphs(), st.data())
def test_skips_never_lose_the_culprit(graph, data):
    shas = [c.sha for c in graph.commits]
    culprit = data.draw(st.sampled_from(shas))
    broken = data.draw(st.sets(st.sampled_from(shas), max_size=8)) - {graph.newer}
    dead = data.draw(st.sets(st.sampled_from(shas), max_size=4)) - {graph.newer}
    state, finish = rehearse(specification(graph), Oracle(graph, culprit, broken, dead))
    answer = engine.answer(state)
    assert finish.outcome in {Outcome.CULPRIT, Outcome.CULPRIT_SET}
    assert culprit in {answer.culprit, *(sha for sha, _ in answer.candidates)}
    if finish.outcome is Outcome.CULPRIT:
        assert answer.culprit == culprit
    assert answer.confidence >= 0.95 - 1e-9


@FEW
@given(graphs(), st.data())
def test_a_replayed_prefix_proposes_the_same(graph, data):
    spec = specification(graph)
    oracle = Oracle(graph, data.draw(st.sampled_from(graph.commits)).sha)
    state, proposals = engine.start(spec), []
    while True:
        first = engine.propose(state)[0]
        proposals.append((len(state.events), first))
        if isinstance(first, Finish):
            break
        for event in events(state, oracle, first):
            state = engine.apply(state, event)
    for length, proposal in proposals[:: max(1, len(proposals) // 6)]:
        assert engine.propose(replayed(engine, spec, state.events[:length]))[0] == proposal
    assert engine.answer(replayed(engine, spec, state.events)) == engine.answer(state)


@FEW
@given(graphs(), st.data())
def test_the_order_of_the_log_does_not_matter(graph, data):
    """Boots of one revision have an order, boots of different ones have none."""
    spec = specification(graph)
    shas = [c.sha for c in graph.commits]
    broken = data.draw(st.sets(st.sampled_from(shas), max_size=4)) - {graph.newer}
    oracle = Oracle(graph, data.draw(st.sampled_from(shas)), broken)
    state, _ = rehearse(spec, oracle)
    cut = data.draw(st.integers(0, len(state.events)))
    events_ = state.events[:cut]
    queues = {}
    for event in events_:
        queues.setdefault(event.revision, []).append(event)
    order = data.draw(st.permutations([event.revision for event in events_]))
    mixed = tuple(queues[sha].pop(0) for sha in order)
    one, other = replayed(engine, spec, events_), replayed(engine, spec, mixed)
    assert engine.propose(one) == engine.propose(other)
    assert engine.answer(one) == engine.answer(other)


class Chaos:
    """A world without truth: every answer is drawn."""

    def __init__(self, data):
        self.data = data

    def build(self, sha):
        return self.data.draw(st.sampled_from(["", "", "", "k1", "k2", None]))

    def boot(self, sha):
        status = self.data.draw(st.sampled_from([RunStatus.COMPLETE] * 9 + list(RunStatus)))
        return status, self.data.draw(st.floats(0.5, 2)) * (4 if sha[-1] in "13579" else 1)


@settings(max_examples=deep(6, 60))
@given(graphs(most=20), st.data())
def test_every_search_ends_within_its_budget(graph, data):
    spec = specification(graph, max_boots=40, max_builds=12)
    state, finish = rehearse(spec, Chaos(data))
    assert finish.reason
    assert state.ledger.boots <= 40
    assert state.ledger.builds <= 12
    answer = engine.answer(state)
    assert all(0 <= p <= 1 for _, p in answer.candidates)
    assert sum(p for _, p in answer.candidates) <= 1 + 1e-9
