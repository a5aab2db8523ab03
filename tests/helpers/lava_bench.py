# SPDX-License-Identifier: GPL-2.0-or-later
"""A lab behind a LAVA server, with a server that does what a test says."""

from helpers.lab_logs import block, failed_job, files, good_job, request, small_lava_jobs
from helpers.lava_rest_server import TOKEN, LavaServer
from rtbisect.lab.job_definition import expected_cases
from rtbisect.lab.lava.artefacts_http import Desk, DeskSettings
from rtbisect.lab.lava.base import Patience
from rtbisect.lab.lava.remote import LavaServerLab, LavaServerSettings, PollIntervals
from rtbisect.lab.lava.rest import LavaRest, RestSettings
from rtbisect.model.ports import KeptNote
from rtbisect.store.artefacts import ArtefactStore

KEY = "fedcba9876543210"
POWER = failed_job(["pdu-reboot", "reset-device"], "Infrastructure", "'power' failed")


class Bench:
    def __init__(self, root):
        self.root = root
        self.server = LavaServer()
        self.artefacts = ArtefactStore(root / "artefacts")
        self.token = root / "token"
        self.token.write_text(f"{TOKEN}\n")
        self.token.chmod(0o600)
        self.settings = LavaServerSettings(
            lab="ours",
            work_dir=root / "work",
            **small_lava_jobs(root),
            patience=Patience(retries=1, pause_s=0.0),
            pace=PollIntervals(look_s=0.0, called_s=0.0, settle_s=0.0, hopeless_s=-1.0),
        )
        self.desk = Desk(DeskSettings("http://127.0.0.1:1"), self.artefacts)
        self.told = []
        self.paused = []
        self.good = good()

    def rest(self, **changes):
        settings = {"url": self.server.url, "token": self.token, "outage_s": 0.0} | changes
        return LavaRest(RestSettings(**settings), tell=self.told.append, sleep=self.paused.append)

    def lab(self, **rest):
        return LavaServerLab(
            self.settings, self.rest(**rest), self.desk, self.artefacts, self.told.append
        )

    def request(self):
        return request(kernel=self.artefacts.put_bytes(b"kernel"), modules="")

    def run(self, note=None, **rest):
        return self.lab(**rest).run(self.request(), note or KeptNote())


def good():
    asked = request()
    cases = dict.fromkeys(expected_cases(asked), "pass")
    return good_job(cases, [*block(files(asked)), "RTBISECT-DONE"])
