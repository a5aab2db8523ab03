# SPDX-License-Identifier: GPL-2.0-or-later
"""A request to stable: what it says, and where there is none to make."""

from dataclasses import replace

import pytest

from helpers.findings import Like, all_of, first, words
from helpers.report_cases import backport, repair
from helpers.report_parts import BOT, settings
from rtbisect.errors import ConfigError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Obstacle
from rtbisect.model.kinds.report import Changes, Concerns, Opens, Series, Symptoms, Untested
from rtbisect.model.report import Standing
from rtbisect.report.draft import DraftMailer, marks
from rtbisect.report.letter import letter
from rtbisect.report.opening import opening, symptom
from rtbisect.report.own import check_mailable, held_back
from rtbisect.report.policy import Purpose, mainline_of, purpose_of

ABOVE, TESTED, BELOW, UNAFFECTED = backport().series


def standing(*series):
    return replace(backport(), series=series)


def of(**commit):
    report = backport()
    return replace(report, culprit=replace(report.culprit, **commit))


def no_request(mainline="", lacking=()):
    return Finding.of(Obstacle.NO_REQUEST, mainline=mainline, lacking=lacking)


def asked(report):
    return letter(report, BOT).asked


def kinds(report):
    return {each.kind for each in all_of(letter(report, BOT).said)}


def test_it_opens_with_who_lacks_what_and_what_that_costs():
    report = backport()
    found = opening(report)
    assert found == Like(
        Opens.BACKPORT, series=("linux-6.12.y", "linux-6.6.y"), applies=False,
        commit=report.culprit.sha, subject=report.culprit.subject, beside="epoll-cfs-bandwidth",
    )  # fmt: skip
    assert found.data["change"] == Like(Changes.WITHOUT, base=8, base_boots=12, new=0, new_boots=12)
    assert symptom(report) == Like(Symptoms.ENDED, base=8, new=0)
    assert opening(standing(TESTED)) == Like(Opens.BACKPORT, series=(TESTED.name,), applies=True)
    assert opening(standing(BELOW)) == Like(Opens.BACKPORT, series=(BELOW.name,), applies=False)


def test_it_says_of_each_series_how_it_stands_right_below():
    told = asked(backport())
    assert told[0] == Finding.of(
        Series.PICK,
        commit=backport().culprit.sha,
        lacking=(
            Finding.of(Series.APPLIES, name="linux-6.12.y"),
            Finding.of(Series.CONFLICTS, name="linux-6.6.y", files=("fs/eventpoll.c",)),
        ),
    )
    assert first(told, Series.HAVE)["names"] == ("linux-6.17.y",)
    assert first(told, Series.UNAFFECTED)["names"] == ("linux-5.10.y",)
    assert first(told, Series.TESTED)["names"] == ("linux-6.12.y",)
    assert Untested.SERIES not in kinds(backport())
    assert not {each.kind for each in letter(backport(), BOT).concerns} & set(Series)


def test_what_git_did_not_tell_of_a_series_is_said():
    told = asked(standing(TESTED, replace(BELOW, standing=Standing.UNKNOWN, files=())))
    assert first(told, Series.UNKNOWN)["names"] == (BELOW.name,)
    assert len(first(told, Series.PICK)["lacking"]) == 1


def test_a_series_that_took_the_repair_back_lacks_it():
    reverted = replace(ABOVE, standing=Standing.REVERTED)
    lacking = first(asked(standing(reverted)), Series.PICK)["lacking"]
    assert lacking == (Like(Series.REVERTED, name="linux-6.17.y", commit=reverted.commit),)


@pytest.mark.parametrize(
    ("commit", "mainline"),
    [
        ({"upstream": "f" * 40, "release": "v6.12.54"}, "f" * 40),
        ({"release": "v6.18"}, backport().culprit.sha),
        ({"release": "v6.18-rc3"}, backport().culprit.sha),
        ({"release": "v6.12.54"}, ""),
        ({"release": "v6.18-rt1"}, ""),
        ({"release": ""}, ""),
    ],
)
def test_stable_is_asked_for_the_mainline_commit_or_for_nothing(commit, mainline):
    report = of(**commit)
    assert mainline_of(report.culprit) == mainline
    if mainline:
        assert first(asked(report), Series.PICK)["commit"] == mainline
        assert opening(report) == Like(Opens.BACKPORT, commit=mainline)
    else:
        assert not asked(report)
        assert Series.PICK not in kinds(report)
        assert Series.LACK in kinds(report)


HELD = {
    "no series": (standing(), no_request(backport().culprit.sha)),
    "all have it": (standing(ABOVE, UNAFFECTED), no_request(backport().culprit.sha)),
    "not known to be of mainline": (
        of(release=""), no_request(lacking=("linux-6.12.y", "linux-6.6.y"))
    ),
    "neither": (replace(of(release=""), series=()), no_request()),
}  # fmt: skip


@pytest.mark.parametrize(("report", "held"), HELD.values(), ids=HELD)
def test_a_repair_that_nobody_can_be_asked_for_stays_with_its_operator(report, held, tmp_path):
    assert held_back(report) == held
    assert purpose_of(report, "mainline", hurts=True) is Purpose.TOLD
    assert dict(marks(report))["Kind"] == "repair"
    assert opening(report) == Like(Opens.REPAIR, commit=report.culprit.sha)
    assert not asked(report)
    assert letter(report, BOT).before_sending == ()
    with pytest.raises(ConfigError) as refused:
        check_mailable(report)
    assert refused.value.message == words(held)
    assert "vX.Y" in refused.value.hint
    text = DraftMailer(settings(tmp_path)).draft(report, ()).eml
    assert "[internal]" in text
    assert "stable@" not in text


def test_how_series_stand_is_said_where_nobody_is_asked_too():
    assert Concerns.NEEDED in kinds(standing())
    have = standing(ABOVE, UNAFFECTED)
    assert {Series.HAVE, Series.UNAFFECTED} <= kinds(have)
    assert not kinds(have) & {Concerns.NEEDED, Series.LACK, Series.PICK}
    # A figure is not what stable picks a commit for.
    slower = replace(repair(), series=backport().series)
    assert opening(slower).kind == Opens.REPAIR
    assert Series.LACK in kinds(slower)


@pytest.mark.words
@pytest.mark.parametrize(
    ("report", "said"),
    [
        (standing(TESTED), "linux-6.12.y lacks mainline commit"),
        (standing(TESTED), "), which applies there: without it"),
        (backport(), "linux-6.12.y and linux-6.6.y lack mainline commit"),
        (standing(ABOVE, replace(ABOVE, standing=Standing.REVERTED), TESTED, BELOW),
         "linux-6.17.y, linux-6.12.y and linux-6.6.y lack mainline"),
        (standing(TESTED), " for linux-6.12.y (it applies). Tested in"),
        (standing(BELOW), "Please backport mainline commit"),
        (standing(BELOW), " to linux-6.6.y (conflicts in fs/eventpoll.c)."),
    ],
)  # fmt: skip
def test_a_request_is_worded_by_how_its_series_stand(report, said):
    whole = letter(report, BOT)
    assert said in " ".join(map(words, (*whole.opening, *whole.asked)))


@pytest.mark.words
@pytest.mark.parametrize(
    ("boots", "said"),
    [
        ((13, 26, 0, 26), "CFS bandwidth timer no longer stops (13 -> 0 of 26 boots)"),
        ((13, 26, 0, 24), "CFS bandwidth timer no longer stops (13 of 26 -> 0 of 24 boots)"),
        ((13, 26, 2, 26), "CFS bandwidth timer stops (13 -> 2 of 26 boots)"),
    ],
)
def test_a_subject_says_what_was_repaired(boots, said):
    names = ("base", "base_boots", "new", "new_boots")
    data = dict(zip(names, boots, strict=True))
    found = Finding.of(Symptoms.ENDED, suite="stall", name="frozen_periods", **data)
    assert words(found) == said
