# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign whose boots, devices or tools are not what it began with."""

from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest

from helpers.campaigns import boots, scaled, sha, with_kernel, world
from helpers.findings import first
from rtbisect.campaign.fingerprint import SetupChangedError, keep_setup
from rtbisect.errors import ConfigError, InfrastructureError, InternalError
from rtbisect.lab.fake import FakeLab
from rtbisect.model.campaign import Outcome
from rtbisect.model.kinds.pipeline import Ends
from rtbisect.model.lab import RunStatus
from rtbisect.pipeline import bisect
from rtbisect.pipeline.boot_queue import BootRequest
from rtbisect.pipeline.steps import Steps


@pytest.mark.parametrize("first", ["as: 1", ""])
def test_an_upgrade_of_tools_stops_a_campaign(tmp_path, first):
    """Nobody knows the tools of builds that an older version recorded: they count as the same."""
    here = world(tmp_path, 5)
    whole = here.builder.build
    asked = []

    def build(source, request, note):
        asked.append(request)
        now = "as: 2" if len(asked) > 2 else first
        return replace(whole(source, request, note), tools=now)

    here.builder = SimpleNamespace(**dict.fromkeys(("files", "changed", "preflight")), build=build)
    here.builder.files = lambda _build: frozenset()
    here.builder.changed = lambda _parent, _culprit: None
    if first:
        with pytest.raises(ConfigError, match="as: 2"):
            bisect.bisect(*here.open())
        assert len(asked) == 3
    else:
        result, _report = bisect.bisect(*here.open())
        assert result.culprit == sha(5)


def test_a_boot_recorded_for_another_revision_stops_the_resume(tmp_path):
    here = world(tmp_path, 4)
    setup, ports = here.open()
    steps = Steps(setup=setup, ports=ports)
    steps.boot(BootRequest(sha=sha(0), purpose="base"))
    setup, ports = here.open()
    with pytest.raises(InternalError, match="recorded for"):
        Steps(setup=setup, ports=ports).boot(BootRequest(sha=sha(8), purpose="tip"))


def test_two_devices_share_a_campaign(tmp_path):
    """Boots run beside each other; a campaign that paused goes on with what it had begun."""
    here = world(tmp_path, 5)
    fault = InfrastructureError("no power", "see to it", retryable=False)
    here.lab = FakeLab(boots(5), {sha(5): [RunStatus.COMPLETE, fault]}, devices=2)
    with pytest.raises(InfrastructureError):
        bisect.bisect(*here.open())
    begun = len(here.lab.requests)
    # The number of devices is that of the begin: the order of the boots rests on it.
    here.lab.devices = 1
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    names = [request.run_id for request in here.lab.requests]
    # One boot was taken up again, none was made twice.
    assert sorted(set(names), key=lambda name: int(name.rpartition("-r")[2])) == [
        f"{here.campaign}-r{number}" for number in range(1, len(set(names)) + 1)
    ]
    assert len(names) - len(set(names)) in (1, 2)
    assert begun < len(names)
    steps = here.open()[1].journal.summary()
    assert steps.boots == len(set(names))


def test_hosts_are_no_part_of_what_kernels_differ_in(tmp_path):
    """One of two hosts tells three times as much of each kernel; boots land where the lab likes."""

    def place(request):
        return ("rt01", "rt02")[Random(request.run_id).random() < 0.3]

    def draw(request, random):
        more = 3.0 if place(request) == "rt02" else 1.0
        found = scaled(plain(request, random), ("res_per_s", "pf-on"), more)
        return scaled(found, ("res_per_iwi", "pf-on"), more)

    plain = boots(5)
    here = world(tmp_path, 5)
    here.lab = FakeLab(draw, place=place)
    result, _report = bisect.bisect(*here.open())
    assert (result.outcome, result.culprit) == (Outcome.CULPRIT, sha(5))
    facts, story = here.mailer.drafts[0]
    one, two = facts.hosts
    assert (one.name, two.name) == ("rt01", "rt02")
    assert one.boots + two.boots == len(here.lab.requests)
    assert 2.5 < two.adds / one.adds < 3.5
    # Within hosts six boots a side cannot say what they say on one host.
    looks = [told.data for told in story if told.kind == Ends.LOOK]
    assert looks == [{"boots": 8, "level": "regressed"}]


def test_another_setup_does_not_go_on_with_a_campaign(tmp_path):
    here = world(tmp_path, 4)
    setup, ports = here.open()
    keep_setup(setup, ports.journal)
    keep_setup(setup, here.open()[1].journal)
    with pytest.raises(SetupChangedError, match="changed since"):
        keep_setup(with_kernel(setup, ports, rcu_calls=101)[0], here.open()[1].journal)


def test_a_lab_that_never_measures_ends_inconclusive_with_the_reason(tmp_path):
    here = world(tmp_path, 4, script={"*": [RunStatus.INVALID] * 99})
    result, _report = bisect.bisect(*here.open())
    assert result.outcome is Outcome.INCONCLUSIVE
    assert first(result.reasons, Ends.NO_EVIDENCE) is not None


def test_a_lab_fault_pauses_the_campaign_and_resume_goes_on(tmp_path):
    here = world(tmp_path, 4)
    broken = FakeLab(boots(4), {sha(8): [RunStatus.COMPLETE] * 3 + [InfrastructureError("bmc")]})
    here.lab = broken
    with pytest.raises(InfrastructureError):
        bisect.bisect(*here.open())
    before = len(broken.requests)
    result, _report = bisect.bisect(*here.open())
    assert result.culprit == sha(4)
    assert broken.requests[before].run_id == broken.requests[before - 1].run_id
