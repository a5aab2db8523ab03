# SPDX-License-Identifier: GPL-2.0-or-later
"""A search that has measured nothing says so, and at which ends."""

import pytest

from helpers.results import other_result
from rtbisect.cli.run_answer import Figured
from rtbisect.model.campaign import CampaignRequest, Outcome
from rtbisect.model.code import Build, BuildStatus
from rtbisect.model.command import CommandRequest
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.answer import Broken
from rtbisect.model.kinds.boot import Commands
from rtbisect.model.lab import NOT_RUN_CODE, Run, RunStatus
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal

GOOD, BAD, BETWEEN = "a" * 40, "b" * 40, "c" * 40
LATE = (RunStatus.HUNG, Finding.of(Commands.LATE, limit_s=0.5), ())
GONE = (RunStatus.SKIPPED, Finding.of(Commands.NOT_THERE, program="./x"), ())
ASKED = (RunStatus.SKIPPED, Finding.of(Commands.ENDED, code=125), ())
FAILED = (RunStatus.INVALID, Finding.of(Commands.ENDED, code=3), ())
NO_PROGRAM = (RunStatus.COMPLETE, None, ((NOT_RUN_CODE, "127"),))
WELL = (RunStatus.COMPLETE, None, ())
BOTH = {"ends": (GOOD, BAD)}


def broken(tmp_path, steps, outcome=Outcome.INCONCLUSIVE):
    """What is said of a search with these steps."""
    request = CampaignRequest(
        kind="run", site="", tree="/repo", older=GOOD, newer=BAD, repo="/repo",
        extra=CommandRequest(argv=("x",)).extra(),
    )  # fmt: skip
    store = CampaignStore(tmp_path)
    name = store.create("run", codec.to_json(CampaignRequest, request), "2026-01-01T00:00:00+00:00")
    journal = StoreJournal(store.database, name)
    for number, step in enumerate(steps):
        journal.step(f"step/{number}", type(step), lambda _note, step=step: step)
    store.finish(name, other_result(outcome), None)
    figured = Figured.of(store, store.get(name))
    assert figured is not None
    return figured.broken


def runs(*ends):
    return [
        Run(run_id=f"run-1-r{number}", revision=sha, status=status, reason=reason, facts=facts)
        for number, (sha, (status, reason, facts)) in enumerate(ends, 1)
    ]


@pytest.mark.parametrize(
    ("ends", "kind", "data"),
    [
        ([(GOOD, LATE), (BAD, LATE), (GOOD, LATE)], Broken.LATE, {"runs": 3, "limit_s": 0.5}),
        ([(GOOD, GONE), (BAD, GONE)], Broken.NOT_THERE, {"why": GONE[1]}),
        ([(GOOD, NO_PROGRAM), (BAD, NO_PROGRAM)], Broken.NOT_RUN, {"runs": 2, "code": 127}),
        (
            [(GOOD, LATE), (BAD, FAILED)],
            Broken.NO_FIGURE,
            {"runs": 2, "why": FAILED[1], "campaign": "run-1", "moved": False},
        ),
    ],
)
def test_runs_without_a_figure_are_a_broken_environment(tmp_path, ends, kind, data):
    outcome = Outcome.NOT_REPRODUCED if kind is Broken.NOT_RUN else Outcome.INCONCLUSIVE
    assert broken(tmp_path, runs(*ends), outcome) == Finding.of(kind, **BOTH, **data)


def test_ends_that_nothing_builds_are_told_with_the_error(tmp_path):
    builds = [
        Build(revision=sha, config_name="c", status=BuildStatus.FAILED, first_error="no make")
        for sha in (GOOD, BAD)
    ]
    told = Finding.of(Broken.NOT_BUILT, **BOTH, error="no make", campaign="run-1")
    assert broken(tmp_path, builds) == told


@pytest.mark.parametrize(
    "ends",
    [
        [(GOOD, ASKED), (BAD, ASKED)],
        [(GOOD, LATE), (BAD, WELL)],
        # A failing test that cannot be started at one end is what the search is about.
        [(GOOD, WELL), (BAD, NO_PROGRAM)],
    ],
)
def test_what_works_at_an_end_is_no_broken_environment(tmp_path, ends):
    assert broken(tmp_path, runs(*ends)) is None


def test_only_the_end_that_was_tried_is_named(tmp_path):
    told = broken(tmp_path, runs((GOOD, LATE), (BETWEEN, LATE)))
    assert told.data["ends"] == (GOOD,)
