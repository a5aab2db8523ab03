# SPDX-License-Identifier: GPL-2.0-or-later
"""A stand-in for the REST side of a LAVA server, over real HTTP: keeps jobs, and fails as told.

What it answers has the shape of lava_rest_app/v02 of LAVA 2023.01.
"""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import yaml

TOKEN = "0123456789abcdef"

#: What a proxy may say in the place of a server.
PAGE = b"<html><body>Please wait</body></html>"


class LavaServer:
    """`script` has what happens to the next requests whose "METHOD path" begins so: a status, a
    body, a status with its body, "drop" (nothing is done, no answer), or "lost" (done, no answer),
    or "garbled" (done, a page instead of the answer). `logs` are the logs of jobs in their order,
    `ends` their health. `looks` is how often a job is looked at before it has finished.
    """

    def __init__(self):
        self.jobs = {}
        self.script = []
        self.logs = []
        self.ends = []
        self.looks = 1
        self.hidden = 0
        self.cancelled = []
        #: GET in LAVA 2023.01, POST in 2026.10.
        self.cancels_by = "GET"
        self.seen = []
        self.devices = [self.device("host-1")]
        self.workers = [{"hostname": "lab1", "state": "Online"}]
        self.others = []
        self.user = "bot"
        self.types = ["qemu-smt"]
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    @staticmethod
    def device(name, health="Good", state="Idle"):
        return {
            "hostname": name,
            "device_type": "qemu-smt",
            "health": health,
            "state": state,
            "worker_host": "lab1",
        }

    def submitted(self):
        return [job for job in self.jobs.values() if job["submitter"] == "bot"]

    def told(self, begin):
        """What is to happen to this request, once."""
        for place, (what, how) in enumerate(self.script):
            if begin.startswith(what):
                del self.script[place]
                return how
        return None

    def answer(self, method, path, asked, body):  # noqa: PLR0911
        with self._lock:
            if (method, path) == ("POST", "jobs/"):
                return 201, {"message": "submitted", "job_ids": [self._submit(body)]}
            if (method, path) == ("POST", "jobs/validate/"):
                good = "job_name" in yaml.safe_load(body["definition"])
                return 200, {"message": "Job valid." if good else "Job invalid: no job_name"}
            if path == "jobs/":
                return 200, self._page(self._found(asked))
            if path in ("devices/", "workers/"):
                return 200, self._page(getattr(self, path[:-1]))
            if path == "system/whoami/":
                return 200, {"user": self.user}
            if path == "system/version/":
                return 200, {"version": "2023.01"}
            if path == "devicetypes/":
                return 200, self._page([{"name": name} for name in self.types])
            found = re.fullmatch(r"jobs/(\d+)/(logs/|cancel/|tests/)?", path)
            if found is None or int(found[1]) not in self.jobs:
                return 404, {"detail": "Not found."}
            return self._of_job(method, self.jobs[int(found[1])], found[2])

    def _of_job(self, method, job, what):
        if what == "logs/":
            return 200, job["log"]
        if what == "cancel/" and method != self.cancels_by:
            return 405, {"detail": f'Method "{method}" not allowed.'}
        if what == "cancel/":
            self.cancelled.append(job["id"])
            job.update(state="Finished", health="Canceled")
            return 200, {"message": "Job cancel signal sent."}
        if what == "tests/":
            return 200, self._page(job["tests"])
        job["looks"] -= 1
        if job["looks"] < 0 and job["state"] in ("Running", "Scheduled"):
            job.update(state="Finished")
        elif job["looks"] < 0 and job["actual_device"]:
            job.update(state="Running")
        return 200, {key: value for key, value in job.items() if key not in ("log", "looks")}

    def _submit(self, body):
        number = 100 + len(self.jobs)
        free = [d["hostname"] for d in self.devices if d["health"] == "Good"]
        self.jobs[number] = {
            "id": number,
            "description": yaml.safe_load(body["definition"])["job_name"],
            "definition": body["definition"],
            "state": "Running" if free else "Submitted",
            "health": self.ends.pop(0) if self.ends else "Complete",
            "requested_device_type": "qemu-smt",
            "actual_device": free[0] if free else None,
            "submitter": "bot",
            "start_time": "2026-01-31T10:00:00.500000Z",
            "end_time": "2026-01-31T10:00:42.750000Z",
            "looks": self.looks,
            "log": self.logs.pop(0) if self.logs else "",
            "tests": [],
        }
        return number

    def _found(self, asked):
        rows = list(self.jobs.values()) + self.others
        if "description__contains" in asked:
            if self.hidden:
                self.hidden -= 1
                return []
            return [row for row in rows if asked["description__contains"] in row["description"]]
        states = asked["state__in"].split(",")
        return [row for row in rows if row["state"] in states]

    @staticmethod
    def _page(rows):
        return {"count": len(rows), "next": None, "previous": None, "results": rows}


def _handler(lava):
    class Handler(_Handler):
        server_of = lava

    return Handler


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self._do("GET")

    def do_POST(self):
        self._do("POST")

    def _do(self, method):
        lava = self.server_of
        url = urlsplit(self.path)
        path = url.path.removeprefix("/api/v0.2/")
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        lava.seen.append(f"{method} {path}")
        how = lava.told(f"{method} {path}")
        if self.headers.get("Authorization") != f"Token {TOKEN}":
            self._say(401, {"detail": "Invalid token."})
        elif isinstance(how, int):
            self._say(how, {"detail": "as told"})
        elif isinstance(how, bytes):
            self._say(200, how)
        elif isinstance(how, tuple):
            self._say(*how)
        elif how == "drop":
            self.close_connection = True
        else:
            answer = lava.answer(method, path, asked, body)
            if how is None:
                self._say(*answer)
            elif how == "garbled":
                self._say(200, PAGE)

    def _say(self, status, answer):
        data = answer if isinstance(answer, (bytes, str)) else json.dumps(answer)
        data = data if isinstance(data, bytes) else data.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_words):
        pass
