# SPDX-License-Identifier: GPL-2.0-or-later
"""What a LAVA server costs beside lava-run, how busy two devices are, and how fast a BMC answers.

    make bench-lab                     after `make setup-lab` and a demo, whose kernel is booted
    make bench-lab ARGS="--boots 5"

The server of this machine is brought up first and is left as it was found. Ratios and shares are
gates, seconds are goals: a busy host changes the latter. Figures of boots that overlap are never
evidence; here they are not looked at.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign import labs
from rtbisect.config.paths import data, state_dir
from rtbisect.config.site_file import load_site
from rtbisect.lab.lava.artefacts_http import Desk, DeskSettings
from rtbisect.lab.lava.remote import LavaServerLab, LavaServerSettings
from rtbisect.lab.lava.rest import LavaRest, RestSettings
from rtbisect.lab.profile import host_profile
from rtbisect.lab.windows import of_suites
from rtbisect.model.code import Build
from rtbisect.model.lab import Run, RunRequest
from rtbisect.model.ports import KeptNote
from rtbisect.pipeline.boot_queue import BootQueue, BootRequest
from rtbisect.search.spec import BootPurpose
from rtbisect.store.artefacts import ArtefactStore
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import recorded
from rtbisect_labkit import labs as own_labs
from rtbisect_labkit.virtual_hosts import HostSpec

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]

#: Goals: seconds that a job takes longer through a server, beside LAVA's own tick (its scheduler
#: looks every 20 s for devices that got free); share of the time that each of two devices is busy;
#: seconds of a call of ipmitool; seconds until an installed server is up.
SERVER_S = 5.0
BUSY = 0.85
CALL_S = 0.2
UP_S = 45.0

DEVICES = ("qemu-smt-1", "qemu-smt-2")
PORT = 8791


def newest_build(state: Path) -> Build:
    """A kernel of the last campaign that built one."""
    store = CampaignStore(state)
    for name in reversed(store.names()):
        for build in recorded(store.database, name, Build):
            if build.ok and build.kernel:
                return build
    raise SystemExit("bench_lab: no kernel in the store; run a demo first")


def request_of(build: Build, window_ms: int) -> RunRequest:
    site = load_site(ROOT / "site.example.yaml")
    device = site.job(site.kernelci.targets()[0]).device
    return RunRequest(
        run_id="bench", revision=build.revision, kernel=build.kernel, modules=build.modules,
        device_type=device, profile=host_profile(device), windows=of_suites(("osnoise",))[:1],
        window_ms=window_ms, suite_params=(("rcu_calls", 100),),
    )  # fmt: skip


def stamp(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def both_roads(state: Path, served: LavaServerLab, request: RunRequest, boots: int) -> None:
    """The same boot by lava-run and by the server, in turn."""
    plain = labs.embedded(state, ArtefactStore(state / "artefacts"), None)
    took: dict[str, list[float]] = {"lava-run": [], "server": []}
    queued = []
    for _ in range(boots):
        for name, lab in (("lava-run", plain), ("server", served)):
            note, begin = KeptNote(), time.monotonic()
            run = lab.run(request, note)
            took[name].append(time.monotonic() - begin)
            assert run.log, run.reason
            if name == "server":
                job = served.rest.job(int(note.kept[-1].rpartition(":")[2]))
                queued.append(took[name][-1] - (stamp(job.end_time) - stamp(job.start_time)))
    middle = {name: statistics.median(each) for name, each in took.items()}
    for name, each in took.items():
        print(f"  {name:<9} {middle[name]:.1f} s [{min(each):.1f}..{max(each):.1f}]")
    print(f"  beside the job itself the server takes {statistics.median(queued):.1f} s")
    more = middle["server"] - middle["lava-run"]
    print(f"  server - lava-run {more:+.1f} s, ratio {middle['server'] / middle['lava-run']:.2f}"
          f" (goal {SERVER_S:.0f} s beyond LAVA's tick)")  # fmt: skip


def two_devices(served: LavaServerLab, request: RunRequest, boots: int) -> None:
    """Boots that mostly wait, on both devices at once; busy is from start to end of the jobs."""
    jobs: list[int] = []

    def prepare(_number: int, _ask: BootRequest) -> Callable[[], Run]:
        def run() -> Run:
            note = KeptNote()
            found = served.run(request, note)
            jobs.append(int(note.kept[-1].rpartition(":")[2]))
            return found

        return run

    together = BootQueue(served.width(request.device_type), prepare)
    asks = [BootRequest(sha="bench", purpose=BootPurpose.SEARCH)] * boots
    for number, ask in enumerate(asks):
        together.take(ask, asks[number + 1 :])
    rows = [served.rest.job(job) for job in jobs]
    begin = min(stamp(row.start_time) for row in rows)
    wall = max(stamp(row.end_time) for row in rows) - begin
    for device in sorted({row.device for row in rows}):
        mine = [row for row in rows if row.device == device]
        busy = sum(stamp(row.end_time) - stamp(row.start_time) for row in mine) / wall
        print(f"  {device}: {len(mine)} jobs, busy {busy:.0%} of {wall:.0f} s (goal {BUSY:.0%})")


def calls(state: Path) -> None:
    """Calls of ipmitool to a virtual host."""
    hosts = own_labs.virtual_hosts(state)
    host = hosts.up(HostSpec(name="bench", cores=2, memory_mib=256))
    try:
        for name, call in (("power", host.bmc.power), ("sensors", host.bmc.sensors)):
            took = []
            for _ in range(10):
                begin = time.monotonic()
                call()
                took.append(time.monotonic() - begin)
            print(f"  {name:<8} {statistics.median(took):.3f} s, at most {max(took):.3f} s"
                  f" (goal {CALL_S} s)")  # fmt: skip
    finally:
        hosts.remove("bench")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--state", type=Path)
    parser.add_argument("--boots", type=int, default=4)
    asked = parser.parse_args()
    state = state_dir(asked.state)
    build = newest_build(state)
    server = own_labs.private_server()
    had, begin = server.state(), time.monotonic()
    server.up()
    print(f"server up after {time.monotonic() - begin:.1f} s (goal {UP_S:.0f} s)")
    artefacts = ArtefactStore(state / "artefacts")
    desk = Desk(DeskSettings(f"http://127.0.0.1:{PORT}", ("127.0.0.1", PORT)), artefacts)
    settings = LavaServerSettings(lab="ours", work_dir=state / "lab", lava_jobs=data("lava-jobs"))
    served = LavaServerLab(
        settings, LavaRest(RestSettings(url=server.url, token=server.token)), desk, artefacts
    )
    try:
        for name in DEVICES:
            own_labs.add_guest(name)
        print("one boot by both roads")
        both_roads(state, served, request_of(build, 2500), asked.boots)
        print("two devices, boots that wait")
        waits = request_of(build, 30_000)
        two_devices(served, replace(waits, run_id="wait"), 2 * asked.boots)
    finally:
        desk.close()
        if not had.running:
            server.down()
    print("ipmitool")
    calls(state)
    return 0


if __name__ == "__main__":
    sys.exit(main())
