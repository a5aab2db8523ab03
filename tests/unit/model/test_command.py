# SPDX-License-Identifier: GPL-2.0-or-later
"""What a request keeps for its command alone is written as it has always been."""

from dataclasses import replace

import pytest

from rtbisect.errors import ConfigError
from rtbisect.model.campaign import CampaignKind, CampaignRequest, Sought
from rtbisect.model.command import CommandRequest, Extra, command_line

REQUEST = CampaignRequest(kind=CampaignKind.TRY, site="", tree="rt", older="a", newer="b")
COMMAND = CommandRequest(argv=("make", "test")).extra()


@pytest.mark.parametrize(
    ("extra", "pairs"),
    [
        (Extra(), ()),
        (Extra(boots=3), (("boots", "3"),)),
        (Extra(boots=3, limit=0.0), (("boots", "3"), ("limit", "0.0"))),
        (Extra(boots=12, limit=1e-07), (("boots", "12"), ("limit", "1e-07"))),
        (Extra(given="f" * 40), (("given", "f" * 40),)),
        (Extra(goods=("d" * 40, "c" * 40)), (("goods", f"{'d' * 40} {'c' * 40}"),)),
        (Extra(foreign="e" * 40), (("foreign", "e" * 40),)),
        (Extra(others=COMMAND, given="f" * 40), (*COMMAND, ("given", "f" * 40))),
        (Extra(others=(("truth", "/t.json"),)), (("truth", "/t.json"),)),
    ],
)
def test_what_a_command_asks_is_kept_by_name(extra, pairs):
    assert extra.pairs == pairs
    kind = CampaignKind.TRY if extra.boots else CampaignKind.BISECT
    assert Extra.of(replace(REQUEST, kind=kind, extra=pairs)) == extra


def test_the_figure_of_a_report_is_asked_of_a_check_alone():
    pairs = Extra(foreign="e" * 40, asked="rcu.p50_us@rcu-off").pairs
    assert pairs == (("foreign", "e" * 40), ("asked", "rcu.p50_us@rcu-off"))
    request = replace(REQUEST, kind=CampaignKind.CHECK, extra=pairs)
    assert Extra.of(request) == Extra(foreign="e" * 40, asked="rcu.p50_us@rcu-off")
    soak = Extra.of(replace(request, kind="soak"))
    assert (soak.asked, soak.others) == ("", pairs[1:])


def test_what_a_plug_in_keeps_is_left_as_it_is():
    pairs = (("boots", "many"), ("limit", "80%"))
    assert Extra.of(replace(REQUEST, kind="soak", extra=pairs)).pairs == pairs


@pytest.mark.parametrize("pairs", [(), (("boots", "x"),), (("boots", "3"), ("limit", ""))])
def test_a_damaged_request_is_one_line(pairs):
    with pytest.raises(ConfigError, match="cannot be read"):
        Extra.of(replace(REQUEST, extra=pairs))


def test_another_end_takes_the_place_of_the_one_that_was_given():
    asked = replace(
        REQUEST, kind=CampaignKind.BISECT, extra=(("given", "a" * 40), ("truth", "/t.json"))
    )
    assert replace(Extra.of(asked), given="").pairs == (("truth", "/t.json"),)
    later = (("truth", "/t.json"), ("given", "b" * 40))
    assert replace(Extra.of(asked), given="b" * 40).pairs == later


@pytest.mark.parametrize(
    ("sought", "ends"),
    [
        (Sought.REGRESSION, "--good a --bad b --good c --good d"),
        (Sought.REPAIR, "--good b --bad a --bad c --bad d --find-fix"),
    ],
)
def test_further_older_ends_have_the_option_of_the_older_end(sought, ends):
    extra = Extra(goods=("c", "d"), others=COMMAND).pairs
    asked = replace(REQUEST, kind=CampaignKind.RUN, sought=sought, extra=extra)
    assert command_line(asked, None) == f"rtbisect run {ends} -- make test"


def test_the_same_question_has_the_times_after_which_nothing_is_evidence():
    asked = CommandRequest(
        argv=("make", "test"), timeout_s=90.0, build=("make",), build_timeout_s=7.5, keep_builds=3
    )
    words = asked.words(Sought.REGRESSION)
    assert words[words.index("--timeout") + 1] == "90"
    assert words[words.index("--build-timeout") + 1] == "7.5"
    # What is built again measures the same.
    assert "--keep-builds" not in words
