# SPDX-License-Identifier: GPL-2.0-or-later
"""What a site that asks for a code layout of each boot's own gets."""

from pathlib import Path

import pytest

from rtbisect.campaign import assemble, plan
from rtbisect.config.site_file import load_site
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import CampaignRequest
from rtbisect.model.code import RELINKED

EXAMPLE = (Path(__file__).resolve().parents[3] / "site.example.yaml").read_text()


def site_with(tmp_path, layout):
    assert EXAMPLE.count("layout: fixed\n") == 1
    path = tmp_path / "site.yaml"
    path.write_text(EXAMPLE.replace("layout: fixed\n", f"layout: {layout}\n"))
    return load_site(path)


def setup_with(tmp_path, layout):
    site = site_with(tmp_path, layout)
    request = CampaignRequest(kind="check", site=str(site.path), tree="", older="", newer="")
    return plan.setup_of(site, site.target("stable-rt"), request)


def test_no_other_builds_are_asked_where_each_boot_has_its_own_layout(tmp_path):
    setup = setup_with(tmp_path, "relink")
    traits = assemble.traits_of(setup)
    assert setup.kernel.build.variant == RELINKED
    assert setup.limits.layout_below == 0.0
    assert (traits.relaid, traits.layouts) == (True, False)


def test_without_it_all_is_as_before(tmp_path):
    setup = setup_with(tmp_path, "fixed")
    traits = assemble.traits_of(setup)
    assert setup.kernel.build.variant == ""
    assert setup.limits.layout_below == 0.2
    assert (traits.relaid, traits.layouts) == (False, True)


def test_another_word_is_refused_with_its_place(tmp_path):
    with pytest.raises(ConfigError, match=r"site\.yaml:.*layout"):
        site_with(tmp_path, "shuffled")


def test_a_machine_without_the_linker_is_told_before_anything_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr(assemble, "BIN", tmp_path)
    monkeypatch.setattr(assemble.KernelBuilder, "preflight", lambda _self: None)
    monkeypatch.setattr(assemble.labs, "check_embedded", lambda _state: None)
    assemble.preflight(tmp_path / "state", site_with(tmp_path, "fixed"))
    with pytest.raises(ConfigError, match="apt-get install lld"):
        assemble.preflight(tmp_path / "state", site_with(tmp_path, "relink"))
