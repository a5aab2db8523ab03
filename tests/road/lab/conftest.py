# SPDX-License-Identifier: GPL-2.0-or-later
"""A real LAVA server, and virtual hosts with BMCs (`ipmi_sim`) that it boots over the network;
needs what `make setup-lab` installs, and root. What faults cost is told in a table at the end.
"""

import contextlib
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rtbisect.campaign import labs
from rtbisect.config.paths import data
from rtbisect.config.site_file import load_site
from rtbisect.errors import RtbisectError
from rtbisect.lab import inventory as known_hosts
from rtbisect.lab.lava.artefacts_http import Desk, DeskSettings
from rtbisect.lab.lava.base import Patience
from rtbisect.lab.lava.remote import LavaServerLab, LavaServerSettings
from rtbisect.lab.lava.rest import LavaRest, RestSettings
from rtbisect.store.artefacts import ArtefactStore
from rtbisect_labkit import labs as own_labs
from rtbisect_labkit.virtual_hosts import HostSpec

ROOT = Path(__file__).resolve().parents[3]

#: Two guests of the demo's device type, and a host, as devices of the server.
GUESTS = ("test-guest-1", "test-guest-2")
HOST = "test-host"

#: What LAVA serves, on whatever machine.
TFTP = "/srv/tftp"

FAULTS = []


def pytest_terminal_summary(terminalreporter):
    if FAULTS:
        rows = [("fault", "what we say", "seconds"), *FAULTS]
        wide = [max(len(row[each]) for row in rows) for each in range(2)]
        terminalreporter.section("faults")
        for fault, said, took in rows:
            terminalreporter.line(f"{fault:<{wide[0]}}  {said:<{wide[1]}}  {took:>7}")


@pytest.fixture
def fault():
    """Context in which a fault is met; its time and the answer, an error or a run's reason, go into
    the table.
    """

    @contextlib.contextmanager
    def met(what):
        begin, told = time.monotonic(), []
        try:
            yield told.append
        except RtbisectError as error:
            told.append(f"{type(error).__name__}: {error.message}")
            raise
        finally:
            FAULTS.append((what, " ".join(told) or "-", f"{time.monotonic() - begin:.0f}"))

    return met


@pytest.fixture(scope="session")
def server(prepared):
    """A LAVA server on this machine with two guests; it is left as it was found."""
    made = own_labs.private_server()
    had = made.state()
    made.up()
    # Jobs would land on them, and tell of their faults.
    there = LavaRest(RestSettings(url=made.url, token=made.token)).devices()
    others = [each.name for each in there if not each.why_not and each.name not in (*GUESTS, HOST)]
    if others:
        pytest.fail(f"put {', '.join(others)} into maintenance on the LAVA server first")
    for name in GUESTS:
        own_labs.add_guest(name)
    yield made
    for name in GUESTS:
        made.health(name, "RETIRED")
    if not had.running:
        made.down()


@pytest.fixture
def guests(server):
    """The guests of that server."""
    return GUESTS


@pytest.fixture(scope="session")
def served(road, server):
    """A lab behind that server, as its plain user."""
    artefacts = ArtefactStore(road / "artefacts")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    desk = Desk(DeskSettings(f"http://127.0.0.1:{port}", ("127.0.0.1", port)), artefacts)

    def bmc_fault(device):
        made = own_labs.virtual_hosts(road)
        return known_hosts.bmc_fault(made.get(device).bmc) if device in made.names() else None

    settings = LavaServerSettings(
        lab="ours",
        work_dir=road / "lab",
        lava_jobs=data("lava-jobs"),
        machine_lock=labs.MACHINE_LOCK,
        examine=bmc_fault,
    )
    yield LavaServerLab(
        settings, LavaRest(RestSettings(url=server.url, token=server.token)), desk, artefacts
    )
    desk.close()


@pytest.fixture
def once(served):
    """That lab, when a fault is not met by another try; `changes` are of its settings."""

    def make(**changes):
        settings = replace(served.settings, patience=Patience(retries=0), **changes)
        return LavaServerLab(settings, served.rest, served.desk, served.artefacts)

    return make


@pytest.fixture(scope="session")
def hosts(road, server):
    """The virtual hosts of the test."""
    made = own_labs.virtual_hosts(road)
    made.up(HostSpec(name=HOST, tftp=TFTP))
    own_labs.add_host(road, HOST)
    yield made
    server.health(HOST, "RETIRED")
    for name in made.names():
        made.remove(name)


@pytest.fixture
def host(hosts):
    """A host that is off and well."""
    found = hosts.up(HostSpec(name=HOST, tftp=TFTP)) if not hosts.get(HOST).up else hosts.get(HOST)
    if found.bmc.power():
        found.bmc.switch("off")
    return found


@pytest.fixture(scope="session")
def metal(prepared):
    """The device type of hosts behind a BMC."""
    site = load_site(ROOT / "docs/examples/virtual-lab.yaml")
    return site.job(site.kernelci.targets()[0]).device
