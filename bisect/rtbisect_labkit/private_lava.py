# SPDX-License-Identifier: GPL-2.0-or-later
"""A LAVA server of our own on this machine, for tests and small labs: PostgreSQL, web server,
scheduler, publisher and one worker, without an init system and on loopback alone.

LAVA's packages have fixed places for settings and devices (/etc/lava-server) and for logs of jobs
(/var/lib/lava-server); everything else lies in one folder.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import requests

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.process import command, locks
from rtbisect_labkit import daemons

#: Where PostgreSQL's and LAVA's users can reach it, too.
FOLDER = Path("/var/lib/rtbisect/lava-server")

WORKER = "lab1"

ETC = Path("/etc/lava-server")
SETTINGS = ETC / "settings.d/90-rtbisect-private.yaml"
DEVICES = ETC / "dispatcher-config/devices"
TYPES = ETC / "dispatcher-config/device-types"
OUTPUT = Path("/var/lib/lava-server/default/media/job-output")

#: What LAVA is told of the worker. Guests of QEMU's own network reach it, and its TFTP, there.
DISPATCHER = ETC / f"dispatcher.d/{WORKER}/dispatcher.yaml"
GUESTS_REACH = "10.0.2.2"

#: Packages that have to be installed, keyed by a file of each.
PACKAGES = {
    "/usr/bin/lava-server": "lava-server",
    "/usr/bin/lava-worker": "lava-dispatcher",
    "/usr/lib/postgresql": "postgresql",
}

#: Users: the database's, the one that administers the server, and the one whose jobs are ours.
POSTGRES, LAVA, ADMIN, BOT = "postgres", "lavaserver", "admin", "rtbisect"

#: Ports on 127.0.0.1; events are the publisher's.
WEB, EVENTS, DATABASE = 8099, 8098, 55432

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,80}")

#: Seconds for the server to answer, and for a step of its set-up.
_ANSWERS_S = 60.0
_STEP_S = 300.0
#: The publisher takes its time to end.
_GRACE_S = 15.0

#: Daemons, in the order of their start.
_DAEMONS = ("web", "publisher", "scheduler", "worker")


@dataclass(frozen=True, slots=True)
class ServerState:
    """The parts of the server that run."""

    url: str
    #: "database" and names of daemons.
    running: tuple[str, ...]
    #: The file with the token of our user.
    token: Path

    @property
    def up(self) -> bool:
        return set(self.running) >= {"database", *_DAEMONS}


class PrivateServer:
    """The server of this machine; there is one, because LAVA's places are fixed."""

    def __init__(self, templates: Path, folder: Path = FOLDER) -> None:
        """`templates` is the folder of our own device types."""
        self.templates = templates
        self.folder = folder
        #: Where it answers, and the file with the token of the user whose jobs are ours.
        self.url = f"http://127.0.0.1:{WEB}"
        self.token = folder / f"{BOT}.token"

    def state(self) -> ServerState:
        running = [name for name in _DAEMONS if daemons.pid_of(self.folder, name)]
        database = ["database"] if self._database_runs() else []
        return ServerState(self.url, (*database, *running), self.token)

    def up(self) -> ServerState:
        """Set the server up where it is not, and start what does not run."""
        _check()
        with self._alone():
            for name in ("", "run", "worker", "lava"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
                (self.folder / name).chmod(0o755)
            # Logs of LAVA's user, and the socket of its events.
            shutil.chown(self.folder / "lava", LAVA, LAVA)
            self._database()
            self._configure()
            self._types()
            if not (self.folder / "made").exists():
                self._make()
            self._start()
            self._wait_for_answer()
        return self.state()

    def down(self) -> None:
        """Stop everything, the database last; its data stay."""
        with self._alone():
            for name in reversed(_DAEMONS):
                daemons.end(self.folder, name, grace_s=_GRACE_S)
            if self._database_runs():
                self._run_as(POSTGRES, [*self._pg_ctl(), "-m", "fast", "stop"])

    def forget(self) -> None:
        """Stop the server and remove its data, its settings, and the logs of its jobs, whose
        numbers begin anew.
        """
        _only_ours()
        self.down()
        SETTINGS.unlink(missing_ok=True)
        for job in OUTPUT.glob("*") if OUTPUT.is_dir() else ():
            shutil.rmtree(job, ignore_errors=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def add_device(self, name: str, device_type: str, dictionary: str) -> None:
        """Make a device of the worker, or give it another dictionary (Jinja2 text)."""
        if bad := [x for x in (name, device_type) if not _NAME.fullmatch(x)]:
            raise ConfigError(f"{bad[0]!r} is no name of a device", "see docs/operations.md")
        place = DEVICES / f"{name}.jinja2"
        place.write_text(dictionary, "utf-8")
        shutil.chown(place, LAVA, LAVA)
        self._manage("device-types", "add", device_type, known=True)
        words = ["--device-type", device_type, "--worker", WORKER, name]
        self._manage("devices", "add", *words, known=True)
        self.health(name, "GOOD")

    def health(self, name: str, health: str) -> None:
        """Say how a device is, in LAVA's words: GOOD, MAINTENANCE, RETIRED."""
        self._manage("devices", "update", "--health", health, name)

    def _alone(self) -> AbstractContextManager[int]:
        """One command at a time sets up, starts or stops."""
        return locks.hold(self.folder.parent / "lava-server.lock", what="the LAVA server")

    def _database(self) -> None:
        data = self.folder / "database"
        if not (data / "PG_VERSION").exists():
            shutil.rmtree(data, ignore_errors=True)
            data.mkdir(mode=0o700)
            shutil.chown(data, POSTGRES, POSTGRES)
            words = [str(_postgresql() / "initdb"), "-D", str(data), "-E", "UTF8"]
            words += ["--locale=C.UTF-8", "-A", "peer", "--auth-host", "scram-sha-256"]
            self._run_as(POSTGRES, words)
        if not self._database_runs():
            options = f"-p {DATABASE} -k {data} -c listen_addresses=127.0.0.1"
            words = ["-w", "-l", str(data / "server.log"), "-o", options, "start"]
            self._run_as(POSTGRES, [*self._pg_ctl(), *words])

    def _pg_ctl(self) -> list[str]:
        return [str(_postgresql() / "pg_ctl"), "-D", str(self.folder / "database")]

    def _database_runs(self) -> bool:
        try:
            first = (self.folder / "database/postmaster.pid").read_text("ascii").split("\n")[0]
            return Path(f"/proc/{int(first)}").exists()
        except (OSError, ValueError):
            return False

    def _configure(self) -> None:
        """LAVA's settings (lava_server/settings/prod.py); everything listens on loopback."""
        settings = {
            "DATABASES": {
                "default": {
                    "ENGINE": "django.db.backends.postgresql",
                    "NAME": LAVA,
                    "USER": LAVA,
                    "PASSWORD": self._password(),
                    "HOST": "127.0.0.1",
                    "PORT": DATABASE,
                }
            },
            # The worker and the scheduler hear of jobs at once.
            "EVENT_NOTIFICATION": True,
            "EVENT_SOCKET": "tcp://127.0.0.1:5500",
            "INTERNAL_EVENT_SOCKET": f"ipc://{self.folder}/lava/events",
            "SESSION_COOKIE_SECURE": False,
            "CSRF_COOKIE_SECURE": False,
            "ALLOWED_HOSTS": ["127.0.0.1", "localhost"],
        }
        SETTINGS.unlink(missing_ok=True)
        daemons.secret(SETTINGS, json.dumps(settings, indent=1) + "\n")
        shutil.chown(SETTINGS, LAVA, LAVA)

    def _types(self) -> None:
        """Our device types, as this version has them, and how guests reach the worker."""
        for template in self.templates.glob("*.jinja2"):
            place = TYPES / template.name
            shutil.copyfile(template, place)
            shutil.chown(place, LAVA, LAVA)
        DISPATCHER.parent.mkdir(parents=True, exist_ok=True)
        DISPATCHER.write_text(f"dispatcher_ip: {GUESTS_REACH}\n", "ascii")
        shutil.chown(DISPATCHER.parent, LAVA, LAVA)

    def _make(self) -> None:
        """Tables, users, tokens, worker."""
        self._sql(f"CREATE ROLE {LAVA} LOGIN PASSWORD '{self._password()}'")
        self._sql(f"CREATE DATABASE {LAVA} OWNER {LAVA} TEMPLATE template0 ENCODING 'UTF8'")
        self._manage("migrate", "--noinput")
        self._manage("drop_materialized_views")
        self._manage("refresh_queries", "--all")
        for user, rights in ((ADMIN, ("--superuser", "--staff")), (BOT, ())):
            # LAVA makes both secrets up and prints them: so they are on no command line.
            self._keep(f"{user}.password", self._manage("users", "add", user, *rights))
            self._keep(f"{user}.token", self._manage("tokens", "add", "--user", user))
        self._manage("workers", "add", WORKER, known=True)
        self._keep(f"{WORKER}.token", _token(self._manage("workers", "details", WORKER)))
        (self.folder / "made").touch()

    def _start(self) -> None:
        """Start the daemons that do not run."""
        gunicorn = shutil.which("gunicorn3") or shutil.which("gunicorn") or "gunicorn3"
        # Who publishes events and who sends them is one user: the socket is both's. gthread is the
        # class of workers that needs nothing which a version of LAVA may lack.
        manage = ["setpriv", f"--reuid={LAVA}", f"--regid={LAVA}", "--init-groups", "--"]
        manage += ["lava-server", "manage"]
        words: Mapping[str, Sequence[str]] = {
            "web": [
                gunicorn, "lava_server.wsgi", "-u", LAVA, "-g", LAVA, "--worker-class", "gthread",
                "--workers", "2", "--threads", "4", "--bind", f"127.0.0.1:{WEB}",
            ],
            "publisher": [*manage, "lava-publisher", "--host", "127.0.0.1", "--port", str(EVENTS)],
            "scheduler": [*manage, "lava-scheduler"],
            "worker": [
                "lava-worker", "--name", WORKER, "--url", f"{self.url}/",
                "--ws-url", f"http://127.0.0.1:{EVENTS}/ws/",
                "--worker-dir", str(self.folder / "worker"),
                "--token-file", str(self.folder / f"{WORKER}.token"),
                "--ping-interval", "5", "--job-log-interval", "1",
            ],
        }  # fmt: skip
        for name in _DAEMONS:
            if not daemons.pid_of(self.folder, name):
                log = ["--log-file", str(self.folder / f"lava/{name}.log")]
                daemons.start([*words[name], *log], self.folder, name)

    def _wait_for_answer(self) -> None:
        deadline = time.monotonic() + _ANSWERS_S
        while True:
            try:
                answer = requests.get(f"{self.url}/api/v0.2/system/version/", timeout=5)
                if answer.status_code == 200:
                    return
                answered = str(answer.status_code)
            except requests.RequestException as error:
                answered = type(error).__name__
            if time.monotonic() > deadline:
                raise InfrastructureError(
                    f"{self.url} does not answer ({answered})",
                    f"see web.log in {self.folder}/run and lava",
                )
            time.sleep(0.2)

    def _password(self) -> str:
        """The password of the database, made once."""
        path = self.folder / "database.password"
        if not path.exists():
            self._keep(path.name, secrets.token_hex(24))
        return path.read_text("ascii")

    def _keep(self, name: str, secret: str) -> None:
        daemons.secret(self.folder / name, secret.strip())

    def _sql(self, statement: str) -> None:
        """A statement, on stdin: it may have a password in it."""
        words = ["psql", "-h", str(self.folder / "database"), "-p", str(DATABASE)]
        words += ["-v", "ON_ERROR_STOP=1", "-q"]
        self._run_as(POSTGRES, words, stdin=statement.encode())

    def _manage(self, *words: str, known: bool = False) -> str:
        """What a command of LAVA's prints; with `known` there may be such a thing already."""
        try:
            return self._run_as(LAVA, ["lava-server", "manage", *words])
        except InfrastructureError as error:
            if not known or "already" not in error.message.lower():
                raise
            return ""

    def _run_as(self, user: str, words: Sequence[str], stdin: bytes | None = None) -> str:
        done = command.run(
            ["runuser", "-u", user, "--", *words],
            cwd=Path("/"),
            timeout_s=_STEP_S,
            stdin=stdin,
            check=True,
        )
        return done.stdout


def _token(details: str) -> str:
    """The token of a worker that is known already, as LAVA tells its details."""
    match = re.search(r"^token\s*: (\S+)", details, re.MULTILINE)
    if match is None:
        raise InfrastructureError("LAVA tells no token of its worker", "see docs/operations.md")
    return match[1]


def _postgresql() -> Path:
    """The newest installed one."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda at: int(at.parent.name))
    if not versions:
        raise ConfigError("PostgreSQL is not there", "install the package postgresql")
    return versions[-1]


def _check() -> None:
    if os.geteuid() != 0:
        raise ConfigError("a LAVA server needs root", "call it as root")
    for place, package in PACKAGES.items():
        if not Path(place).exists():
            raise ConfigError(f"{place} is not there", f"install the package {package}")
    _only_ours()


def _only_ours() -> None:
    """ConfigError where a LAVA server was set up that is none of ours: LAVA's places are fixed."""
    for file in sorted(SETTINGS.parent.glob("*.yaml")):
        if file != SETTINGS and "DATABASES" in file.read_text("utf-8", "replace"):
            raise ConfigError(
                f"this machine has another LAVA server already, by {file}",
                "use that one as a lab of the site file (docs/operations.md); nothing was done",
            )
