# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds of a lab, claim by claim."""

import pytest

from helpers.lava_bench import POWER
from rtbisect.lab.lava.artefacts_http import Desk, DeskSettings
from rtbisect.lab.lava.claims import LabClaim, claims, first_claims


def claimed(bench, *, boot=False):
    return {claim.name: claim for claim in claims(bench.lab(), bench.request(), boot=boot)}


@pytest.fixture
def open_bench(bench):
    """With somebody who listens, as a lab is asked through."""
    bench.desk = Desk(DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0)), bench.artefacts)
    bench.desk._listen()
    port = bench.desk._server.server_address[1]
    settings = DeskSettings(f"http://127.0.0.1:{port}", ("127.0.0.1", port))
    bench.desk.settings = settings
    return bench


def test_a_usable_lab_is_told_claim_by_claim(open_bench):
    open_bench.server.logs = [open_bench.good]
    found = claimed(open_bench, boot=True)
    assert [(name, claim.holds) for name, claim in found.items()] == [
        ("server", True),
        ("token", True),
        ("device type", True),
        ("devices", True),
        ("artefacts", True),
        ("job", True),
        ("boot", True),
    ]
    assert found["boot"].said == "on host-1 in 42 s"
    assert found["devices"].said == "1 of 1 take jobs; 0 jobs wait"
    assert claimed(open_bench)["boot"].holds is None


@pytest.mark.words
def test_each_claim_fails_with_its_reason(open_bench):
    server = open_bench.server
    server.user = ""
    server.types = ["other"]
    server.devices = [server.device("host-1", "Bad")]
    server.script = [("POST jobs/validate/", 200)]
    server.logs = [POWER] * 2
    server.ends = ["Incomplete"] * 2
    open_bench.desk.settings = DeskSettings("http://127.0.0.1:1", ("127.0.0.1", 0))
    found = {name: (c.holds, c.said) for name, c in claimed(open_bench, boot=True).items()}
    assert found["token"] == (
        False,
        "the server takes us for nobody: a token is needed to submit jobs",
    )
    assert found["device type"] == (
        False,
        "qemu-smt is none of those that this user sees: other",
    )
    assert found["devices"] == (False, "no device fits, because host-1 is in bad")
    assert found["artefacts"][0] is False
    assert "cannot be fetched" in found["artefacts"][1]
    assert found["job"][0] is False
    assert found["boot"][0] is False


def test_a_server_is_asked_before_there_is_a_site_file(bench):
    server = bench.server
    server.devices += [server.device("host-2", "Bad"), server.device("host-3")]
    found = list(first_claims(bench.rest()))
    assert [(claim.name, claim.holds) for claim in found] == [
        ("server", True),
        ("token", True),
        ("device types", True),
        ("job", None),
    ]
    assert found[2].said == "devices that take jobs: qemu-smt (2)"
    server.devices = [server.device("host-2", "Bad")]
    assert list(first_claims(bench.rest()))[2] == LabClaim(
        "device types", holds=False, said="no device of any of 1 types takes jobs"
    )
