# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of a range before its search: a person's word, a check, a choice of the worst."""

from dataclasses import replace

import pytest

from helpers.campaigns import as_kept, sha, world
from helpers.findings import first
from helpers.results import other_result
from rtbisect.model.campaign import (
    CampaignKind,
    Judgement,
    Level,
    Outcome,
    Prior,
    Role,
    Sample,
)
from rtbisect.model.command import Extra
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Judged
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.pipeline import bisect
from rtbisect.pipeline.known import prior_none
from rtbisect.pipeline.steps import Steps
from rtbisect.search.prior import BASE_NONE, after_check, of_worst


def asked(tmp_path, *, suite="ipi", sure=None):
    here = world(tmp_path, 4)
    pairs = Extra(sure=sure).pairs
    here.request = replace(here.request, suite=suite, extra=pairs)
    return here


def steps_of(here, **limits):
    setup, parts = here.open()
    setup = replace(setup, limits=replace(setup.limits, **limits))
    return Steps(setup=setup, ports=parts)


def primary_of(steps):
    return [t for t in steps.setup.judged if t.role is Role.PRIMARY]


def checked(here, key, *, p=0.004, level=Level.REGRESSED):
    """A check of the same ends has judged a figure so."""
    request = replace(here.request, kind=CampaignKind.CHECK, suite=None, extra=())
    identity = here.store.create(CampaignKind.CHECK, as_kept(request), "now")
    sides = Sample((1.0,)), Sample((2.0,))
    why = Finding.of(Judged.HOLM, p=p, metrics=1, alpha=0.005)
    judgement = Judgement(
        key=key, level=level, base=sides[0], new=sides[1], effect=2.0, interval=(1.0, 3.0), p=p,
        reason=why,
    )  # fmt: skip
    result = replace(other_result(Outcome.CULPRIT_SET), judgements=(judgement,))
    here.store.finish(identity, result, None)


def test_of_a_range_of_which_nothing_is_known_nothing_is_said(tmp_path):
    steps = steps_of(asked(tmp_path))
    assert prior_none(steps, primary_of(steps)[0]) == BASE_NONE == 0.2
    assert not any(line.kind is Searches.PRIOR for line in steps.ports.journal.story())


def test_a_person_says_how_sure_a_change_is(tmp_path):
    steps = steps_of(asked(tmp_path, sure=0.6))
    assert prior_none(steps, primary_of(steps)[0]) == pytest.approx(0.4)
    told = first(steps.ports.journal.story(), Searches.PRIOR)
    assert (told["none"], told["figures"], told["p"]) == (pytest.approx(0.4), 1, None)


@pytest.mark.parametrize("sure", [None, 0.6])
def test_the_worst_of_several_figures_is_more_likely_to_be_luck(tmp_path, sure):
    steps = steps_of(asked(tmp_path, suite=None, sure=sure))
    primary = primary_of(steps)
    assert len(primary) > 1
    none = BASE_NONE if sure is None else 1 - sure
    assert prior_none(steps, primary[0]) == pytest.approx(of_worst(none, len(primary)))


def test_a_check_of_the_same_ends_counts_for_the_figure_that_it_found_worse(tmp_path):
    here = asked(tmp_path)
    one, other, *_ = primary_of(steps_of(here))
    checked(here, one.key, p=0.004)
    steps = steps_of(here)
    figures = len(primary_of(steps))
    assert prior_none(steps, one) == pytest.approx(after_check(0.004, figures, 2))
    assert first(steps.ports.journal.story(), Searches.PRIOR)["p"] == 0.004
    assert prior_none(steps_of(asked(tmp_path / "other")), other) == BASE_NONE


@pytest.mark.parametrize("level", [Level.PASS, Level.UNDECIDED])
def test_a_check_that_found_nothing_says_nothing(tmp_path, level):
    here = asked(tmp_path)
    (one, *_) = primary_of(steps_of(here))
    checked(here, one.key, level=level)
    assert prior_none(steps_of(here), one) == BASE_NONE


def test_the_word_of_a_person_contains_what_a_check_has_told(tmp_path):
    here = asked(tmp_path, sure=0.9)
    (one, *_) = primary_of(steps_of(here))
    checked(here, one.key)
    assert prior_none(steps_of(here), one) == pytest.approx(0.1)


def test_a_campaign_that_goes_on_knows_what_it_knew(tmp_path):
    here = asked(tmp_path)
    (one, *_) = primary_of(steps_of(here))
    assert prior_none(steps_of(here), one) == BASE_NONE
    checked(here, one.key)
    assert prior_none(steps_of(here), one) == BASE_NONE


def test_a_campaign_that_began_before_has_the_prior_of_then(tmp_path):
    steps = steps_of(asked(tmp_path, suite=None, sure=0.6), prior_known=False)
    assert prior_none(steps, primary_of(steps)[0]) == 0.2
    # Nothing that it has not recorded then.
    journal = steps.ports.journal
    assert journal.step("prior", Prior, lambda _note: Prior(none=0.5, figures=9)).figures == 9


def test_the_search_begins_with_it(tmp_path):
    """Who is sure that nothing changed gets other answers than who is sure that something did."""
    said = {}
    for sure in (0.05, 0.99):
        here = asked(tmp_path / str(sure), sure=sure)
        setup, parts = here.open()
        result, _ = bisect.bisect(setup, parts)
        assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(4))
        said[sure] = first(parts.journal.story(), Searches.PRIOR)["none"]
    assert said == {0.05: pytest.approx(0.95), 0.99: pytest.approx(0.01)}
