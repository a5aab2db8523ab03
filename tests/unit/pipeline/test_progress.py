# SPDX-License-Identifier: GPL-2.0-or-later
"""What a person sees of a search while it runs."""

from dataclasses import replace

import pytest

from helpers.campaigns import sha, world
from rtbisect.model.kinds.pipeline import Searches, Work
from rtbisect.pipeline import bisect
from rtbisect.search.spec import BootPurpose


class Watched:
    """Keeps what was shown."""

    def __init__(self):
        self.told, self.steps = [], []

    def tell(self, finding):
        self.told.append(finding)

    def step(self, what, done, total, left):
        assert what.kind == Work.BOOTING
        self.steps.append((what.data["purpose"], done, total, left))


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    seen = Watched()
    setup, parts = world(tmp_path_factory.mktemp("world"), 5).open()
    setup = replace(setup, limits=replace(setup.limits, max_boots=80))
    bisect.bisect(setup, replace(parts, progress=seen))
    return seen


def test_the_candidates_are_seen_to_narrow(watched):
    stood = [each.data for each in watched.told if each.kind == Searches.STANDS]
    assert stood[-1]["likeliest"] == sha(5)
    assert stood[-1]["holding"] == 1 < stood[0]["holding"] <= stood[0]["candidates"]
    assert all(0 <= each["probability"] <= 1 for each in stood)


def test_what_is_kept_for_the_proof_is_told_first(watched):
    kinds = [each.kind for each in watched.told]
    (keeps,) = (each.data for each in watched.told if each.kind == Searches.KEEPS)
    assert kinds.index(Searches.KEEPS) < 2
    assert 0 < keeps["kept"] <= keeps["leading"] < keeps["most"] == 80


def test_a_total_of_a_search_has_room_for_the_proof(watched):
    proofs = [step for step in watched.steps if step[0] == BootPurpose.VERIFY]
    before = watched.steps[: watched.steps.index(proofs[0])]
    searching = [step for step in before if step[0] == BootPurpose.SEARCH]
    assert searching
    for _purpose, done, total, _left in searching:
        # A proof takes six boots of each side at least.
        assert total - done >= 12
    totals = [total for _purpose, _done, total, _left in watched.steps[len(before) - 1 :]]
    assert totals == sorted(totals)


def test_a_total_is_what_was_told_of_search_and_proof(watched):
    (told,) = (each.data for each in watched.told if each.kind == Searches.EXPECTED)
    done, total = next(step[1:3] for step in watched.steps if step[1] > 2 * told["boots"])
    assert total == done - 1 + round(told["expected"]) + told["most"]
    # That a commit leads, or leads no more, is nothing new.
    searching = [step[2] for step in watched.steps if step[0] == BootPurpose.SEARCH]
    assert max(searching) - min(searching) < told["most"] - told["least"]


def test_the_time_of_a_proof_is_a_range_from_its_next_look_to_its_last(watched):
    proofs = [step for step in watched.steps if step[0] == BootPurpose.VERIFY]
    assert all(left.low_s <= left.middle_s <= left.high_s for *_what, left in proofs)
    first = proofs[0]
    boot_s = first[3].middle_s / (first[2] - first[1] + 1)
    # The last boot of this look may be the last one, and no boot is beyond the budget.
    assert proofs[-1][3].low_s == pytest.approx(boot_s)
    assert first[3].high_s <= (80 - first[1] + 1) * boot_s * 1.001


def test_the_time_that_is_left_is_a_range_in_which_builds_count(watched):
    searching = [step for step in watched.steps if step[0] == BootPurpose.SEARCH]
    for _purpose, done, total, left in searching:
        assert 0 < left.low_s <= left.middle_s <= left.high_s
        # A boot of the fake lab takes so long.
        assert left.middle_s > 20.0 * (total - done)
    assert any(left.low_s < left.high_s for *_rest, left in searching)


def test_each_commit_has_its_probability_whenever_the_search_has_heard_of_a_boot(watched):
    spreads = [each.data for each in watched.told if each.kind == Searches.SPREAD]
    stood = [each.data for each in watched.told if each.kind == Searches.STANDS]
    assert len(stood) == sum(each["moved"] for each in spreads) < len(spreads)
    last = spreads[-1]
    assert last["commits"][last["probabilities"].index(max(last["probabilities"]))] == sha(5)
    like = dict(zip(last["tested"], last["newer"], strict=True))
    assert like[sha(5)] > 0.9
    assert like[sha(4)] < 0.1


def test_no_total_exceeds_the_budget(watched):
    assert all(done <= total <= 80 for _purpose, done, total, _left in watched.steps)
