# SPDX-License-Identifier: GPL-2.0-or-later
"""A small change is proved on other builds."""

from pathlib import Path

from helpers.campaigns import REVERT, World, boots, line_of, scaled, sha
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import CampaignRequest, Outcome
from rtbisect.model.code import PROOF_LAYOUTS
from rtbisect.model.kinds.pipeline import Searches, Work
from rtbisect.model.kinds.search import Checks
from rtbisect.model.result import CheckName
from rtbisect.pipeline import bisect
from rtbisect.search.build_groups import FEWEST


def small(tmp_path, factor):
    """A world whose wait grows by `factor(kernel variant)` from commit 3 on, on the rcu suite."""
    graph = line_of(8)
    request = CampaignRequest(
        kind="bisect", site="s", tree="t", older=graph.older, newer=graph.newer, suite="rcu"
    )
    here = World(tmp_path, graph, None, request=request, reverts={(graph.newer, sha(3)): REVERT})

    def draw(asked, random):
        variant = next(v for v, kernel in kernels(here) if kernel == asked.kernel)
        more = factor(variant) if 3 <= int(asked.revision, 16) < 10**6 else 1.0
        return scaled(boots(None)(asked, random), ("p50_us", "rcu-off"), more)

    here.lab = FakeLab(draw)
    return here


def kernels(here):
    """(variant, kernel) of everything that was asked of the builder."""
    asked = list(here.builder.requests)
    builder = FakeBuilder(same_as=here.builder.same_as)
    return [(r.variant, builder.build(Path(), r, print).kernel) for r in asked]


def test_a_small_change_is_proved_with_other_code_layouts(tmp_path):
    here = small(tmp_path, lambda _variant: 1.15)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(3))
    check = next(v for v in result.verifications if v.check is CheckName.BUILDS)
    assert (check.status, check.note.kind) == ("pass", Checks.BUILDS)
    assert (check.judgement.base.n, check.judgement.new.n) == (FEWEST, FEWEST)
    built = {(r.revision, r.variant) for r in here.builder.requests if r.variant}
    # Boots of the proof are in layouts that the search has not seen.
    assert {(sha(2), "layout-1"), (sha(3), "layout-1")} <= built
    proof = {f"layout-{number}" for number in PROOF_LAYOUTS[:FEWEST]}
    assert {(sha(place), variant) for place in (2, 3) for variant in proof} <= built


def test_a_small_change_that_another_code_layout_does_not_show_is_no_culprit(tmp_path):
    here = small(tmp_path, lambda variant: 1.0 if variant else 1.15)
    result, _report = bisect.bisect(*here.open())
    assert result.culprit is None
    assert result.outcome in (Outcome.LAYOUT_SENSITIVE, Outcome.NOT_REPRODUCED)


def test_a_large_change_needs_no_other_code_layout(tmp_path):
    here = small(tmp_path, lambda _variant: 1.4)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(3))
    assert not any(r.variant for r in here.builder.requests)


def test_what_it_takes_is_told_once_other_builds_of_the_ends_have_booted(tmp_path):
    here = small(tmp_path, lambda _variant: 1.15)
    setup, parts = here.open()
    bisect.bisect(setup, parts)
    story = parts.journal.story()
    told = next(n for n, line in enumerate(story) if line.kind == Searches.EXPECTED)
    before = [line.data for line in story[:told] if line.kind == Work.BUILT]
    ends = [sha(0), sha(8)]
    layouts = [(data["variant"], data["revision"]) for data in before if data["variant"]]
    assert layouts == [(f"layout-{number}", end) for number in (1, 2) for end in ends]
    assert {data["revision"] for data in before} == set(ends)
