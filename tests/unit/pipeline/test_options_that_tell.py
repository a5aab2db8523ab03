# SPDX-License-Identifier: GPL-2.0-or-later
"""Which options of `run` an answer names that does not tell code and layout apart."""

import pytest

from rtbisect.model.command import CommandRequest
from rtbisect.pipeline.difference import COUNT, RELAYOUT, options_that_tell


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, (COUNT,)),
        ({"count": "instructions"}, ()),
        ({"build": ("make",)}, (COUNT, RELAYOUT)),
        ({"build": ("make",), "relayout": True}, (COUNT,)),
        ({"build": ("make",), "count": "instructions"}, (RELAYOUT,)),
    ],
)
def test_no_option_is_named_that_this_search_would_refuse(given, named):
    assert options_that_tell(CommandRequest(argv=("./bench",), metric="us", **given)) == named
