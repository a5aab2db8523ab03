# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from helpers.lab_logs import request
from rtbisect.errors import InfrastructureError
from rtbisect.lab.fake import FakeLab
from rtbisect.model.lab import Measurement, RunStatus


def draw(asked, random):
    level = 0.5 if asked.revision == "bad" else 0.05
    return [
        Measurement(
            suite="ipi",
            name="res_per_iwi",
            window="pf-on",
            value=level * random.uniform(0.8, 1.2),
            unit="1",
        )
    ]


def test_numbers_depend_on_revision_run_and_seed_alone():
    asked = [request(run_id=f"r{n}", revision="bad") for n in range(5)]
    forward = {a.run_id: FakeLab(draw).run(a, str).measurements for a in asked}
    lab = FakeLab(draw)
    backward = {a.run_id: lab.run(a, str).measurements for a in reversed(asked)}
    assert forward == backward
    assert len({values[0].value for values in forward.values()}) == 5
    assert FakeLab(draw, seed=1).run(asked[0], str).measurements != forward["r0"]


@pytest.mark.parametrize("status", RunStatus)
def test_every_status_can_be_asked_for(status):
    run = FakeLab(draw, {"*": [status]}).run(request(), str)
    assert run.status is status
    assert bool(run.measurements) == run.complete
    assert bool(run.reason) == (not run.complete)


def test_a_script_is_used_up_and_errors_are_raised():
    lab = FakeLab(draw, {"r": [InfrastructureError("power is off"), RunStatus.HUNG]})
    notes = []
    with pytest.raises(InfrastructureError):
        lab.run(request(revision="r"), notes.append)
    assert lab.run(request(revision="r"), notes.append).status is RunStatus.HUNG
    assert lab.run(request(revision="r"), notes.append).complete
    assert lab.run(request(revision="other"), notes.append).complete
    assert notes == lab.notes == ["fake:1", "fake:2", "fake:3", "fake:4"]
