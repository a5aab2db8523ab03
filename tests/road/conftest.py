# SPDX-License-Identifier: GPL-2.0-or-later
"""A real kernel, built cold, and a real lab. Needs what `make setup` installs, and root."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.windows import select
from rtbisect.campaign.assemble import MACHINE_LOCK
from rtbisect.campaign.plan import build_pattern
from rtbisect.config.paths import data, state_dir
from rtbisect.config.site_file import load_site
from rtbisect.kernel.kbuild import KernelBuilder
from rtbisect.kernel.settings import BuildSettings
from rtbisect.lab.lava.local import LavaRunLab, LavaRunSettings
from rtbisect.lab.profile import host_profile
from rtbisect.model.campaign import Cause
from rtbisect.model.lab import RunRequest
from rtbisect.store.artefacts import ArtefactStore
from rtbisect.trees.git import GitTree, GitTreeSettings
from rtbisect_labkit.demo.cases import DemoCase, site_text
from rtbisect_labkit.demo.history import make_history
from rtbisect_labkit.demo.plan import plan
from rtbisect_labkit.demo.repo import make_repo

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path("/usr/src/linux-source-6.12.tar.xz")
SEED = 20260
COMMITS = 8


@pytest.fixture(scope="session")
def prepared():
    """The state directory that `make setup` filled; the road needs root and LAVA in it."""
    state = state_dir()
    missing = [p for p in (state / "lava/root/usr/bin/lava-run", SOURCE) if not p.exists()]
    assert not missing, f"run `make setup`: {missing[0]} is not there"
    assert os.geteuid() == 0, "the road is tested as root"
    return state


@pytest.fixture(scope="session")
def road(prepared, tmp_path_factory):
    """A state directory of its own: nothing built, nothing cached. It borrows LAVA and the
    demo's repository, which a demo on this machine would share too."""
    state = tmp_path_factory.mktemp("road", numbered=False)
    # The build drops root: every folder above must let it through.
    for folder in (state, *state.parents[:2]):
        folder.chmod(folder.stat().st_mode | 0o111)
    (state / "lava").symlink_to(prepared / "lava")
    yield state
    shutil.rmtree(state / "build", ignore_errors=True)
    shutil.rmtree(state / "trees", ignore_errors=True)


@pytest.fixture(scope="session")
def history(prepared, road):
    """(repository, refs, truth file): eight commits, one of which slows grace periods."""
    repo = prepared / "demo/linux.git"
    repo.parent.mkdir(parents=True, exist_ok=True)
    make_repo(repo, SOURCE, print)
    truth = road / "truth.json"
    return repo, make_history(repo, plan(SEED, COMMITS, "rcu-latency"), truth), truth


@pytest.fixture(scope="session")
def site(road, history):
    """The demo's site with the rcu suite alone: short boots."""
    text = (ROOT / "bisect/rtbisect_labkit/demo/site.yaml").read_text()
    place = road / "site.yaml"
    place.write_text(
        site_text(text, str(history[0]), DemoCase(plants="", cause=Cause.NONE, suites=("rcu",)))
    )
    return place


@pytest.fixture(scope="session")
def device(site):
    loaded = load_site(site)
    return loaded.job(loaded.target("demo")).device


@pytest.fixture(scope="session")
def built(road, history, site, device):
    """What builds a revision of the history."""
    loaded = load_site(site)
    target = loaded.target("demo")
    tree = GitTree(
        GitTreeSettings(
            name="demo-tree",
            repo=history[0],
            worktree=road / "trees/demo-tree",
            lock=road / "trees/lock",
        )
    )
    pattern = build_pattern(loaded, target, ("ipi", "osnoise", "rcu"))
    builder = KernelBuilder(
        BuildSettings(
            root=road / "build", machine_lock=MACHINE_LOCK, boot_line=host_profile(device).boot_line
        ),
        ArtefactStore(road / "artefacts"),
    )

    def make(revision):
        with tree.held(revision) as source:
            request = replace(pattern, revision=revision)
            build = builder.build(source, request, lambda _note: None)
        assert build.ok, build.first_error
        return build

    return make


@pytest.fixture(scope="session")
def kernel(built, history):
    """The good end, built from nothing."""
    return built(history[1].good)


@pytest.fixture(scope="session")
def newer(kernel, built, history):
    """The bad end, built after the good one."""
    found = built(history[1].bad)
    assert found.build_id != kernel.build_id
    return found


@pytest.fixture
def lab(road):
    """A lab with the machine's own LAVA; `with_timeouts` makes an impatient one."""

    def make(**settings):
        values = {"lava_jobs": data("lava-jobs")} | settings
        return LavaRunLab(
            LavaRunSettings(
                lava_root=road / "lava", work_dir=road / "lab", machine_lock=MACHINE_LOCK, **values
            ),
            ArtefactStore(road / "artefacts"),
        )

    return make


@pytest.fixture
def request_of(kernel, device):
    """A run request for the kernel, with some windows."""

    def make(run_id, *names, **changes):
        values = {
            "run_id": run_id,
            "revision": kernel.revision,
            "kernel": kernel.kernel,
            "modules": kernel.modules,
            "build_id": kernel.build_id,
            "device_type": device,
            "profile": host_profile(device),
            "windows": select(names),
            "window_ms": 2000,
            "suite_params": (("rcu_calls", 100),),
        } | changes
        return RunRequest(**values)

    return make
