# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign of any command: it goes on where programs left it that took a command for a kernel."""

import gzip
import json
from types import SimpleNamespace

import pytest

from helpers.campaigns import ROOT, Quiet
from rtbisect.campaign import assemble
from rtbisect.campaign.fingerprint import (
    Fingerprint,
    MachineFingerprint,
    machine_parts,
    new_fingerprint,
    setup_parts,
)
from rtbisect.model.campaign import FIRST_RULES, CampaignRequest, Limits
from rtbisect.model.command import CommandRequest
from rtbisect.store import codec

BUNDLE = ROOT / "tests/data/bundles/format-1-run"
#: Key of its step, kind, and what it is made of today.
FINGERPRINTS = [("setup", Fingerprint, setup_parts), ("machine", MachineFingerprint, machine_parts)]


def setup_of(tmp_path, request):
    journal = SimpleNamespace(campaign="run-1")
    return assemble.assemble(tmp_path, None, request, journal, screen=Quiet())[0]


@pytest.mark.parametrize(("key", "kind", "parts"), FINGERPRINTS)
def test_a_fingerprint_of_a_command_says_what_it_has_always_said(tmp_path, key, kind, parts):
    manifest = json.loads((BUNDLE / "manifest.json").read_text())
    request = codec.from_plain(CampaignRequest, manifest["request"])
    steps = map(
        json.loads, gzip.decompress((BUNDLE / "journal.jsonl.gz").read_bytes()).splitlines()
    )
    (kept,) = (codec.from_json(kind, step["value"]) for step in steps if step["key"] == key)
    now = parts(setup_of(tmp_path, request))
    assert kept.fits(now)
    found = new_fingerprint(kind, now)
    assert found.version == kept.version
    document = json.loads(found.document)
    # Campaigns that have these not are judged by the rules of before.
    if key == "setup":
        document["limits"] = {
            name: limit for name, limit in document["limits"].items() if name not in FIRST_RULES
        }
    assert document == json.loads(kept.document)


@pytest.mark.parametrize(
    ("key", "sha256"),
    [
        ("setup", "75b4ada20772da1fa34c94ee2748cc5c2c429481f14d6cdc0940ead053406e6d"),
        ("machine", "6de4ceda2aba5c8c513092c0b6765b590ef955a69e33d30fbfbe4173aa2e2bf6"),
    ],
)
def test_a_command_of_the_first_schema_goes_on(tmp_path, key, sha256):
    asked = CommandRequest(argv=("./x",), metric="p99")
    request = CampaignRequest(
        kind="run",
        site="",
        tree="/r",
        older="a",
        newer="b",
        suite="command",
        metric="p99",
        seed=3,
        extra=asked.extra(),
        repo="/r",
    )
    parts = {key: parts for key, _, parts in FINGERPRINTS}[key](setup_of(tmp_path, request))
    kind = {key: kind for key, kind, _ in FINGERPRINTS}[key]
    assert kind(sha256=sha256).fits(parts)
    other = parts | {"limits": Limits(), "rcu_calls": 1}
    assert not kind(sha256=sha256).fits(other)
