# SPDX-License-Identifier: GPL-2.0-or-later
"""What the operator hears of campaigns and of the lab."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from helpers.campaigns import Quiet
from helpers.mail_world import WHO, needs_tools
from helpers.report_cases import rcu
from rtbisect.campaign import labs, session
from rtbisect.errors import ConfigError, InfrastructureError, Interrupted
from rtbisect.model.campaign import CampaignRequest
from rtbisect.pipeline.further import FurtherBudgets
from rtbisect.report.lint.rules import lint
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore

pytestmark = needs_tools


def test_the_operator_hears_what_waits(world):
    name = world.campaign(rcu())
    store = CampaignStore(world.state)
    stopped = store.create("bisect", "{}", "2026-01-01T00:00:00+00:00")
    store.note(stopped, "lab ours: no device fits\n#regzbot fix: x")
    labs.quarantine(world.state).put("vm1", "BMC does not answer", datetime.now(UTC))
    site = ("--site", str(world.site))
    code, told = world("report", "digest", *site)
    assert (code, told["queued"]) == (3, False)
    assert any(name in line for line in told["drafts"])
    assert any(stopped in line for line in told["paused"])
    assert lint(told["eml"].encode()) == ()
    assert "\n#regzbot" not in told["eml"]
    code, told = world("report", "digest", "--lab", "--by", WHO, "--send", *site)
    assert (code, told["queued"]) == (3, True)
    assert "BMC does not answer" in told["eml"]
    assert lint(told["eml"].encode()) == ()
    assert world("mail", "send", *site)[1]["mails"][0]["recipients"] == ["operator@lab.example.org"]


def test_a_lab_that_is_well_is_no_mail(world):
    world.campaign(rcu())
    site = ("--site", str(world.site))
    code, told = world("report", "digest", "--lab", "--by", WHO, "--send", *site)
    assert (code, told["queued"]) == (0, False)
    assert world("report", "digest", "--by", "Somebody", "--send", *site)[0] == 2
    assert world("mail", "list")[1]["mails"] == []


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (InfrastructureError("the BMC does not answer"), True),
        # A bug may hide a fault of the lab.
        (ZeroDivisionError(), True),
        (KeyboardInterrupt(), False),
        (Interrupted("stopped by `rtbisect stop`"), False),
        (ConfigError("no such profile"), False),
    ],
)
def test_what_a_person_has_stopped_or_has_to_correct_is_no_fault_of_the_lab(
    world, monkeypatch, error, fault
):
    def fails(*_):
        raise error

    monkeypatch.setattr(session.assemble, "assemble", fails)
    store = CampaignStore(world.state)
    with_lab = CampaignRequest(kind="bisect", site="s", tree="stable-rt", older="a", newer="b")
    names = []
    for request in (with_lab, replace(with_lab, kind="run", site="")):
        text = codec.to_json(CampaignRequest, request)
        names.append(store.create(request.kind, text, "2026-01-01T00:00:00+00:00"))
        with pytest.raises(type(error)):
            session._run(store, names[-1], None, Quiet(), FurtherBudgets())
    digest = ("report", "digest", "--by", WHO, "--send", "--site", str(world.site))
    code, told = world(*digest, "--lab")
    assert (code, told["queued"], told["counts"]["faults"]) == (3 * fault, fault, fault)
    assert [names[0] in line for line in told["faults"]] == [True] * fault
    code, told = world(*digest)
    assert (code, told["queued"], told["counts"]["paused"]) == (3 * fault, True, 2)
