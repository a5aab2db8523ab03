# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo on the lab of another site."""

from pathlib import Path

from rtbisect.config.site_file import load_site
from rtbisect_labkit.commands.demo import SITE
from rtbisect_labkit.demo.cases import CASES, on_lab, site_text

EXAMPLE = Path(__file__).parents[3] / "docs/examples/virtual-lab.yaml"


def test_the_demo_takes_lab_and_device_of_another_site_and_nothing_else(tmp_path):
    theirs = tmp_path / "theirs.yaml"
    text = EXAMPLE.read_text(encoding="utf-8")
    token = "/var/lib/rtbisect/lava-server/rtbisect.token"
    assert token in text
    theirs.write_text(text.replace(token, "lab.token"), encoding="utf-8")
    other = load_site(theirs)
    demo = site_text(
        SITE.read_text(encoding="utf-8"), str(tmp_path / "linux.git"), CASES["stall-fix"]
    )
    place = tmp_path / "elsewhere/site.yaml"
    place.parent.mkdir()
    place.write_text(on_lab(demo, other), encoding="utf-8")
    made = load_site(place)
    planned = made.job(made.target("demo"))
    assert (made.lab.name, made.lab.url) == ("virtual", other.lab.url)
    assert planned.device == other.job(other.target("stable-rt")).device
    assert planned.params.suites == ["stall"]
    assert made.ours.campaign.max_boots == 400
    # What is relative to the other site stays where it is.
    assert made.access is not None
    assert made.beside(made.access.token) == tmp_path / "lab.token"
