# SPDX-License-Identifier: GPL-2.0-or-later
"""How sure a person is of a change: asked on the command line, kept, and asked for again."""

from dataclasses import replace

import click
import pytest
from click.testing import CliRunner

from rtbisect.cli import bisect
from rtbisect.cli.options import sure_option
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import CampaignKind, CampaignRequest, MetricKey
from rtbisect.model.command import CommandRequest, Extra, command_line

RES = MetricKey("ipi", "res_per_s", "pf-on")
COMMAND = CommandRequest(argv=("make", "bench")).extra()


@click.command()
@sure_option
def ask(sure):
    click.echo(repr(sure))


@pytest.mark.parametrize(
    ("words", "said"), [([], "None"), (["--sure", "0.9"], "0.9"), (["--sure", "0.05"], "0.05")]
)
def test_a_person_may_say_how_sure_the_change_is(words, said):
    assert CliRunner().invoke(ask, words).output.strip() == said


@pytest.mark.parametrize("sure", ["0", "1", "0.995", "-0.5", "90", "nan", "inf"])
def test_what_leaves_no_question_is_refused_in_one_line(sure):
    error = CliRunner().invoke(ask, ["--sure", sure]).exception
    assert isinstance(error, ConfigError)
    assert f"--sure {float(sure):g}" in error.message
    assert "0.05 to 0.99" in (error.hint or "")


@pytest.mark.parametrize("kind", [CampaignKind.BISECT, CampaignKind.RUN])
def test_it_is_kept_and_asked_for_again(kind):
    others = COMMAND if kind is CampaignKind.RUN else ()
    request = CampaignRequest(
        kind=kind, site="/etc/rt/site.yaml", tree="t", older="a" * 40, newer="b" * 40,
        extra=Extra(sure=0.9, others=others).pairs,
    )  # fmt: skip
    assert Extra.of(request).sure == 0.9
    assert "--sure 0.9" in command_line(request, RES)
    unsaid = replace(request, extra=others)
    assert "--sure" not in command_line(unsaid, RES)


@pytest.mark.parametrize("command", [bisect.bisect, bisect.run])
def test_both_searches_ask(command):
    assert any("--sure" in option.opts for option in command.params)
