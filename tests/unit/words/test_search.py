# SPDX-License-Identifier: GPL-2.0-or-later
"""What the search and its verification find, in words."""

from dataclasses import replace

import pytest

from rtbisect.model.campaign import Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.judge import Told
from rtbisect.model.kinds.pipeline import Work
from rtbisect.model.kinds.screen import Shown
from rtbisect.model.kinds.search import Checks, Costs, Endings, Untestable
from rtbisect.model.result import CheckName
from rtbisect.model.subject import Measured
from rtbisect.search.spec import BootPurpose
from rtbisect.words.search import SENTENCES
from rtbisect.words.speak import speak
from rtbisect.words.voice import voice_of

pytestmark = pytest.mark.words

SHA = "0123456789abcdef0123"
REVISION = Finding.of(Untestable.REVISION, sha=SHA, why=Finding.of(Untestable.NO_BOOT))
SPENT = Finding.of(Costs.WORK, builds=12.4, boots=30)
LOOK = {"boots": 10, "p": 0.0123, "asked": 0.0035}
BUDGET = Finding.of(Endings.SEARCH_BUDGET, spent=SPENT)
STRETCH = Finding.of(Endings.STRETCH, older=SHA, newer="abcdef" * 7, share=0.25, low=0.2, high=0.31)
NONE = Finding.of(Endings.NO_CHANGE, probability=0.9512, boots=30)
CULPRIT = Finding.of(Endings.CULPRIT, sha=SHA, probability=0.97, boots=30)
RATIO = Finding.of(Told.RATIO, ratio=2.0)
PAIR = {"base": 6, "new": 6, "why": RATIO}
SPREAD = Finding.of(Told.SHIFT, difference=540.0, unit="us")
OTHER_BUILDS = PAIR | {"new": 5, "spread": SPREAD}

WORDS = [
    (Untestable.NO_BUILD, {}, "does not build"),
    (Untestable.INVALID, {"runs": 4}, "had 4 invalid boots in a row"),
    (Untestable.SKIPPED, {}, "is skipped by the command"),
    (Untestable.HUNG, {}, "hangs in the suites"),
    (Untestable.NO_BOOT, {}, "does not boot"),
    (Untestable.REVISION, REVISION.data, "0123456789ab does not boot"),
    (Costs.WORK, SPENT.data, "12 builds, 30 boots"),
    (Endings.NOT_OVER, {}, "the search is not over"),
    (Endings.EQUAL, {}, "the good and the bad end are the same kernel, bit for bit"),
    (Endings.OLDER_UNTESTABLE, REVISION.data, "the good end 0123456789ab does not boot"),
    (Endings.NEWER_UNTESTABLE, REVISION.data, "the bad end 0123456789ab does not boot"),
    (
        Endings.MEASUREMENT,
        {"why": REVISION},
        "0123456789ab does not boot: the measurement itself does not work",
    ),
    (
        Endings.ALIKE,
        LOOK,
        ("10 + 10 boots of the ends do not differ enough (p = 0.012, at most 0.0035 is asked)"),
    ),
    (
        Endings.MAY_DIFFER,
        LOOK,
        (
            "10 + 10 boots of the ends may differ (p = 0.012, at most 0.0035 is asked); a larger "
            "--max-boots (max_boots of a site) would probably tell"
        ),
    ),
    (Endings.STILL, {"boots": 10}, "10 + 10 boots of the ends all gave the same figure"),
    (Endings.SWAPPED, {}, "the bad end is better than the good end; are the ends swapped?"),
    (
        Endings.CALIBRATION_BUDGET,
        {"spent": SPENT},
        "the budget ended during the calibration: 12 builds, 30 boots",
    ),
    (
        Endings.ALIKE_BUDGET,
        LOOK | {"spent": SPENT},
        (
            "10 + 10 boots of the ends look alike (p = 0.012, at most 0.0035 is asked), and the "
            "budget ended during the calibration: 12 builds, 30 boots"
        ),
    ),
    (
        Endings.SEARCH_BUDGET,
        BUDGET.data,
        "the budget ended during the search: 12 builds, 30 boots",
    ),
    (
        Endings.NOT_BUILT,
        {"why": BUDGET, "sha": SHA},
        "the budget ended during the search: 12 builds, 30 boots; 0123456789ab was not built",
    ),
    (
        Endings.NO_LAYOUT,
        {"why": BUDGET, "sha": SHA},
        (
            "the budget ended during the search: 12 builds, 30 boots;"
            " 0123456789ab was not seen in another layout"
        ),
    ),
    (
        Endings.CONTRADICTION,
        {},
        "no single commit is consistent with the revisions whose kernels are equal",
    ),
    (
        Endings.NO_CHANGE,
        NONE.data,
        "there is no regression, with probability 0.951, after 30 boots",
    ),
    (
        Endings.LITTLE,
        {"probability": 0.9621, "none": 0.8404, "share": 0.5, "boots": 30},
        (
            "there is no regression, or one of less than 50% of what the ends differ in, with"
            " probability 0.962 (0.840 that there is none), after 30 boots"
        ),
    ),
    (
        Endings.BUILDS_DIFFER,
        {"why": NONE},
        (
            "there is no regression, with probability 0.951, after 30 boots: revisions differ"
            " as much as the ends do, whatever their code"
        ),
    ),
    (
        Endings.TWO_CULPRITS,
        {"probability": 0.98, "sha": SHA},
        ("there are two culprits, with probability 0.980: 0123456789ab lies between good and bad"),
    ),
    (
        Endings.GRADUAL,
        {"probability": 0.98, "boots": 30, "kernels": 7, "stretches": (STRETCH, STRETCH)},
        (
            "the regression came in many small steps, with probability 0.980, after 30 boots:"
            " 7 revisions lie between the ends, and no one commit makes it; of the change between"
            " the ends, 0123456789ab..abcdefabcdef has 25% (20% to 31%);"
            " 0123456789ab..abcdefabcdef has 25% (20% to 31%)"
        ),
    ),
    (Endings.STRETCH, STRETCH.data, "0123456789ab..abcdefabcdef has 25% (20% to 31%)"),
    (Endings.INSEPARABLE, {}, "no test that is possible tells the remaining candidates apart"),
    (
        Endings.CULPRIT,
        CULPRIT.data,
        "the culprit is 0123456789ab, with probability 0.970, after 30 boots",
    ),
    (
        Endings.MERGE,
        {"why": CULPRIT, "parents": 2},
        (
            "the culprit is 0123456789ab, with probability 0.970, after 30 boots; it is a merge, "
            "and none of its 2 parents is bad"
        ),
    ),
    (
        Endings.LIKELY_CULPRIT,
        CULPRIT.data | {"none": 0.0123},
        (
            "the culprit is 0123456789ab, with probability 0.970, or there is no regression, with"
            " 0.012, after 30 boots; the proof has to make sure"
        ),
    ),
    (
        Endings.CULPRIT_SET,
        {"commits": 2, "probability": 0.97, "untestable": (REVISION,)},
        (
            "the culprit is one of 2 commits, with probability 0.970; which one cannot be told, "
            "as 0123456789ab does not boot"
        ),
    ),
    (
        Endings.ORPHAN,
        {"sha": SHA, "probability": 0.97},
        (
            "the culprit is 0123456789ab, with probability 0.970, and has no parent to compare it"
            " with"
        ),
    ),
    (Checks.PARENT, {"parent": "0123456789ab"}, "culprit against its parent 0123456789ab"),
    (Checks.NAMED, {"check": CheckName.REVERT}, "revert on the bad end"),
    (Checks.OPEN, {}, "more boots are due"),
    (Checks.NO_LAYOUT, {"sha": SHA}, "0123456789ab does not build or run with another layout"),
    (
        Checks.BUILDS,
        OTHER_BUILDS,
        (
            "6 + 5 builds that the search had not measured; between the sides: ratio 2.00; between"
            " builds of the same side: 540 us (standard deviation)"
        ),
    ),
    (
        Checks.SURELY_LESS,
        {"effect": PAIR["why"]},
        "ratio 2.00, surely less than half of the change between the ends",
    ),
    (
        Checks.TOO_FEW_BUILDS,
        {},
        (
            "there are too few other builds of both sides to say how far builds of the same side"
            " differ"
        ),
    ),
    (Checks.NO_REVERT, {}, "the revert does not apply to the bad end"),
    (
        Checks.REVERT_IS_PARENT,
        {"parent": SHA},
        f"the bad end without this commit is its parent {SHA:.12}, which is compared already",
    ),
    (Checks.COMPARED, PAIR, "6 + 6 boots, ratio 2.00"),
    (
        Checks.EXPLAINS,
        PAIR | {"share": 0.954},
        "6 + 6 boots, ratio 2.00; that is 95% of the change between the ends",
    ),
    (
        Checks.EXPLAINS_PART,
        PAIR | {"share": 0.4},
        (
            "6 + 6 boots, ratio 2.00; that is 40% of the change between the ends, so there may be"
            " a second culprit"
        ),
    ),
    (
        Checks.TAKES_BACK,
        PAIR | {"share": 1.02},
        ("6 + 6 boots, ratio 2.00; the revert takes back all of the change between the ends"),
    ),
    (
        Checks.LUCK,
        {"effect": RATIO},
        "ratio 2.00; as few boots of the two ends would often differ as little",
    ),
    (
        Checks.NOT_RULED_OUT,
        {"effect": RATIO},
        "ratio 2.00; so few boots do not rule out the smallest effect that counts",
    ),
]


@pytest.mark.parametrize(("kind", "data", "sentence"), WORDS)
def test_each_kind_has_its_sentence(kind, data, sentence):
    assert str(speak(Finding.of(kind, **data))) == sentence


def test_no_kind_is_without_words():
    assert {kind for kind, _, _ in WORDS} == set(SENTENCES)
    assert set(SENTENCES) == {*Untestable, *Costs, *Endings, *Checks}


def test_no_commit_explains_more_than_all_of_a_change():
    told = str(speak(Finding.of(Checks.EXPLAINS, **PAIR, share=2.03)))
    assert told.endswith("; that is all of the change between the ends")


def test_of_many_untestable_commits_three_are_named():
    untestable = (REVISION,) * 5
    found = Finding.of(Endings.CULPRIT_SET, commits=9, probability=1.0, untestable=untestable)
    named = ", ".join(["0123456789ab does not boot"] * 3)
    assert str(speak(found)) == (
        "the culprit is one of 9 commits, with probability >0.999; which one cannot be told, as"
        f" {named} and 2 more"
    )


def test_runs_of_a_command_are_told_without_builds():
    voice = voice_of(Sought.REPAIR, Measured.COMMAND)
    assert str(speak(BUDGET, voice)) == "the budget ended during the search: 30 runs"
    building = replace(voice, builds=True)
    told = "the budget ended during the search: 12 revisions built, 30 runs"
    assert str(speak(BUDGET, building)) == told
    assert (
        str(speak(Finding.of(Endings.EQUAL), voice))
        == "the broken and the fixed end have the same files"
    )


def test_where_nothing_is_built_a_proof_compares_other_revisions():
    voice = voice_of(measured=Measured.COMMAND)
    assert str(speak(Finding.of(Checks.NAMED, check=CheckName.BUILDS), voice)) == (
        "other revisions with the culprit and without it"
    )
    assert str(speak(Finding.of(Checks.BUILDS, **OTHER_BUILDS), voice)) == (
        "6 + 5 revisions that the search had not measured; between the sides: ratio 2.00; between"
        " revisions of the same side: 540 us (standard deviation)"
    )
    assert "builds" not in str(speak(Finding.of(Checks.TOO_FEW_BUILDS), voice))
    assert "builds" in str(speak(Finding.of(Checks.TOO_FEW_BUILDS), replace(voice, builds=True)))
    why = Finding.of(Shown.WHY, purpose=BootPurpose.BUILDS)
    begun = Finding.of(Work.BOOTING, number=9, revision=SHA, purpose=BootPurpose.BUILDS)
    assert str(speak(why, voice)) == "proof: other revisions with the commit and without it"
    assert str(speak(begun, voice)) == f"run 9, proof, other revision, {SHA:.12}"
    assert str(speak(begun)) == f"boot 9, proof, other build, {SHA:.12}"
