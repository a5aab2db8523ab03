# SPDX-License-Identifier: GPL-2.0-or-later
"""No line of a mail's template is there for nobody: the goldens reach each."""

import sys
from functools import partial
from pathlib import Path

import pytest

from helpers.report_cases import CASES, STORY
from helpers.report_mails import NOTICES, PUBLIC
from helpers.report_parts import TEMPLATES, settings
from rtbisect.report.draft import DraftMailer

NAMES = [*sorted(place.name for place in TEMPLATES.glob("*.txt.j2")), "macros.j2"]


@pytest.fixture(scope="module")
def reached(tmp_path_factory):
    """By template the lines of its compiled code that ran in any golden."""
    folder = tmp_path_factory.mktemp("drafts")
    mailer = DraftMailer(settings(folder))
    lines = {}

    def trace(frame, event, _argument):
        place = frame.f_code.co_filename
        if not place.endswith(".j2"):
            return None
        if event == "line":
            lines.setdefault(Path(place).name, set()).add(frame.f_lineno)
        return trace

    rendered = [partial(mailer.draft, case(), STORY) for case in CASES.values()]
    rendered += [partial(mailer.public, *public()) for public in PUBLIC.values()]
    rendered += [partial(mailer.notice, *notice()) for notice in NOTICES.values()]
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for render in rendered:
            render()
    finally:
        sys.settrace(before)
    return mailer.pages, lines


@pytest.mark.parametrize("name", NAMES)
def test_goldens_reach_each_line_of_a_template(reached, name):
    pages, lines = reached
    template = pages._environment.get_template(name)
    ran = lines.get(name, ())
    assert [at for at, compiled in template.debug_info if compiled not in ran] == []
