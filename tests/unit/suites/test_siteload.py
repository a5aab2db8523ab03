# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload of the site's own: what the site file has to say, and what the device does with it."""

import re
import subprocess
import time
from pathlib import Path

import pytest

from rtbisect.campaign import plan
from rtbisect.campaign.assemble import _store_workload, traits_of
from rtbisect.config.site_file import load_site
from rtbisect.errors import ConfigError
from rtbisect.model.campaign import CampaignRequest
from rtbisect.store.artefacts import ArtefactStore

ROOT = Path(__file__).resolve().parents[3]
SUITES = ROOT / "lava-jobs/suites"
EXAMPLE = (ROOT / "site.example.yaml").read_text()
OWN = "workload: {path: loads/motion-control, synthetic: false}"
READY = "#!/bin/sh\necho ready\nsleep 60 &\necho $! >$CHILD\nwait\n"


def setup_of(tmp_path, suites, workload=""):
    text, count = re.subn(r"suites: \[.*\]", f"suites: [{suites}]\n      {workload}", EXAMPLE)
    assert count == 1
    path = tmp_path / "site.yaml"
    path.write_text(text)
    site = load_site(path)
    return plan.setup_of(
        site,
        site.target("stable-rt"),
        CampaignRequest(kind="check", site=str(path), tree="", older="", newer=""),
    )


def test_the_level_of_the_workload_is_its_name_and_what_is_in_it(tmp_path):
    program = tmp_path / "loads/motion-control"
    program.parent.mkdir()
    levels = []
    for text in ("echo one", "echo two"):
        program.write_text(text)
        setup = setup_of(tmp_path, "siteload", OWN)
        off, on = setup.kernel.windows
        assert (off.workload, off.synthetic, on.synthetic) == ("none", False, False)
        levels.append(on.workload)
        assert {w.workload for w in traits_of(setup).explaining_of("siteload-on")} == {on.workload}
    assert all(re.fullmatch(r"site:motion-control@[0-9a-f]{12}", level) for level in levels)
    assert len(set(levels)) == 2


def test_a_campaign_keeps_the_program_that_it_began_with(tmp_path):
    program = tmp_path / "load"
    program.write_text("echo one")
    setup = setup_of(tmp_path, "siteload", "workload: {path: load}")
    artefacts = ArtefactStore(tmp_path / "artefacts")
    kept = _store_workload(artefacts, program, setup)
    program.write_text("echo two")
    assert kept.read_text() == "echo one"
    with pytest.raises(ConfigError, match="has changed just now"):
        _store_workload(artefacts, program, setup)
    assert _store_workload(artefacts, None, setup) is None


def test_a_workload_is_synthetic_if_nobody_says_other(tmp_path):
    (tmp_path / "load").write_text("x")
    assert setup_of(tmp_path, "siteload", "workload: {path: load}").kernel.windows[1].synthetic


@pytest.mark.parametrize(
    ("suites", "workload", "message"),
    [
        ("siteload", "", "has the suite siteload and no workload"),
        ("ipi", "workload: {path: load}", "has a workload for no suite"),
        ("siteload", "workload: {path: gone}", "site.yaml:LINE: workload: no file"),
        ("siteload", "workload: {path: ''}", "site.yaml:LINE: .*path"),
        ("siteload", "workload: load", "site.yaml:LINE: .*workload"),
    ],
)
def test_a_suite_and_its_workload_go_together(tmp_path, suites, workload, message):
    (tmp_path / "load").write_text("x")
    with pytest.raises(ConfigError) as caught:
        setup_of(tmp_path, suites, workload)
    text = (tmp_path / "site.yaml").read_text().splitlines()
    line = next((n for n, row in enumerate(text, 1) if "workload:" in row), 0)
    assert re.search(message.replace("LINE", str(line)), str(caught.value)), caught.value


def on_device(tmp_path, program):
    """The window beside `program`; its exit code, and what it left."""
    tools, results = tmp_path / "bin", tmp_path / "siteload-on"
    tools.mkdir()
    results.mkdir()
    (tools / "site-workload").write_text(program)
    (tools / "site-workload").chmod(0o755)
    lines = [
        f". {SUITES}/lib.sh; . {SUITES}/ipi/ipi.sh; . {SUITES}/siteload/siteload.sh",
        f"RESULTS={tmp_path} RTBISECT={tmp_path} WARM_UP_MS=0 WINDOW_MS=1 SITE_TRIES=20",
        "HOUSEKEEPING=0-1 ISOLATED=2-7 WATCH=2,3",
        'ipi_window() { usleep 200000; touch "$RESULTS/$1/counted"; }',
        "ipi_complete() { :; }",
        "window_siteload_on",
    ]
    done = subprocess.run(
        ["/bin/busybox", "ash", "-euc", "\n".join(lines)],
        env={"CHILD": str(tmp_path / "child")},
        timeout=60,
        check=False,
    )
    return done.returncode, sorted(path.name for path in results.iterdir())


def test_the_device_measures_beside_it_and_ends_it_with_its_children(tmp_path):
    assert on_device(tmp_path, READY) == (0, ["counted"])
    child = int((tmp_path / "child").read_text())
    for _try in range(100):
        if not Path(f"/proc/{child}/comm").exists():
            return
        time.sleep(0.02)
    pytest.fail("the child of the workload still lives")


@pytest.mark.parametrize(
    ("program", "counted"),
    [
        ("#!/bin/sh\nexit 0\n", False),
        ("#!/bin/sh\nsleep 60\n", False),
        ("#!/bin/sh\necho ready\n", True),
        ("#!/bin/nothing\n", False),
    ],
)
def test_a_workload_that_does_not_last_fails_the_window(tmp_path, program, counted):
    code, files = on_device(tmp_path, program)
    assert code == 1
    assert "workload.err" in files
    assert ("counted" in files) <= counted


def test_a_workload_that_does_not_listen_is_killed(tmp_path):
    stubborn = "#!/bin/sh\ntrap '' TERM\necho ready\nwhile :; do sleep 1; done\n"
    assert on_device(tmp_path, stubborn) == (0, ["counted"])


def test_it_is_told_the_cpus(tmp_path):
    program = (
        f"#!/bin/sh\necho $HOUSEKEEPING $ISOLATED $WATCH >{tmp_path}/cpus\necho ready\nsleep 9\n"
    )
    assert on_device(tmp_path, program)[0] == 0
    assert (tmp_path / "cpus").read_text() == "0-1 2-7 2,3\n"
