# SPDX-License-Identifier: GPL-2.0-or-later
"""How a report on a range with several culprits opens."""

from dataclasses import replace

import pytest

from helpers.findings import Like
from helpers.report_cases import CASES
from rtbisect.model.kinds.report import Changes, Opens
from rtbisect.report.opening import opening


@pytest.mark.parametrize("proved", [1, 2])
def test_the_change_is_that_of_the_commit_that_is_named(proved):
    report = CASES["several"]()
    result = replace(report.result, candidates=report.result.candidates[:proved])
    found = opening(replace(report, result=result))
    assert found == Like(Opens.ONE_OF_SEVERAL, commit=report.culprit.sha, culprits=proved)
    assert found.data["change"].kind == Changes.FIGURE
    assert found.data["change"].data["new"] == pytest.approx(8.016)


def test_where_git_tells_nothing_of_it_no_commit_is_named():
    report = replace(CASES["several"](), culprit=None)
    assert opening(report) == Like(Opens.MULTIPLE, commits=2)
