# SPDX-License-Identifier: GPL-2.0-or-later
"""A LAVA server by its REST API v0.2 (lava_rest_app/v02): what is asked, and what may come back.

Everything that a server says is foreign: bodies have a limit, values have types. Reading is tried
again until the server has been out of reach for `outage_s`; submitting is not, because nobody
knows whether a request without an answer arrived. Who submits looks for the job first.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import requests

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab import job_log
from rtbisect.lab.lava import rest_types
from rtbisect.lab.lava.rest_types import (
    NOT_LAVA,
    DeviceState,
    JobState,
    NoAnswerError,
    StrangeError,
    json_object,
)
from rtbisect.process import http_body
from rtbisect.process.command import printable
from rtbisect.process.secret_file import read_secret

T = TypeVar("T")

#: Bytes of an answer; of a log, begin and end are kept.
LARGEST_ANSWER = 16 * 1024 * 1024

#: A log may take so many times as long as another answer.
_LOG_TAKES = 5

#: Pages of a list that are read.
MOST_PAGES = 50

#: Answers of a server, or of a proxy before it, that come and go.
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504))

#: Answers in which LAVA itself says no, with a JSON object that says why.
_REFUSALS = frozenset((400, 401, 403, 404, 405))

#: The number of a job.
_JOB = re.compile(r"[1-9][0-9]{0,17}")

#: Seconds between tries of a request that a server did not answer; the last one goes on.
_PAUSES_S = (1.0, 2.0, 5.0, 10.0, 30.0)


class GoneError(InfrastructureError):
    """The server answers and does not know what is asked for, or does not show it to this user."""


class MethodError(InfrastructureError):
    """The server has another method for this (405): they differ between versions of LAVA."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestSettings:
    """Where a server is, and whose token is used."""

    url: str
    #: A file with nothing else in it; None asks as nobody.
    token: Path | None = None
    #: A file with the certificates of a lab that signs its own.
    ca: Path | None = None
    #: Seconds that an answer may be silent.
    timeout_s: float = 30.0
    #: Seconds that a whole answer may take; a log may take five times that.
    deadline_s: float = 120.0
    #: How long a server may be out of reach before a question to it is given up.
    outage_s: float = 900.0


class LavaRest:
    """One server; one user, one token."""

    def __init__(
        self,
        settings: RestSettings,
        *,
        tell: Callable[[str], None] = lambda _line: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.settings = settings
        self._tell, self._sleep = tell, sleep
        self._token = _token(settings.token) if settings.token is not None else ""
        self._local = threading.local()
        #: Whether the server has answered as LAVA does.
        self._is_lava = False

    def hasty(self) -> LavaRest:
        """The same server, for who cannot wait: each request is tried once."""
        settings = replace(self.settings, outage_s=0.0)
        return LavaRest(settings, tell=self._tell, sleep=self._sleep)

    @property
    def _session(self) -> requests.Session:
        """A session a thread: several boots may be under way."""
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            # Neither proxies nor a ~/.netrc of the environment: the token goes where we say.
            session = self._local.session = http_body.session()
            if self.settings.ca is not None:
                session.verify = str(self.settings.ca)
            if self._token:
                session.headers["Authorization"] = f"Token {self._token}"
        return session

    def whoami(self) -> str:
        """The user of the token; "" for nobody."""
        return job_log.text(self._object("GET", "system/whoami/"), "user")

    def version(self) -> str:
        """Version of the server."""
        return job_log.text(self._object("GET", "system/version/"), "version")

    def validate(self, definition: str) -> None:
        """ConfigError when the server calls the job invalid: it does so with status 200."""
        answer = self._object("POST", "jobs/validate/", {"definition": definition})
        message = job_log.text(answer, "message")
        if not message.startswith("Job valid"):
            raise ConfigError(
                f"{self.settings.url} refuses the job: {printable(message)}",
                "its version of LAVA may be older than 2023.01",
            )

    def submit(self, definition: str) -> int:
        """The id of the new job; NoAnswerError when it is not known whether there is one."""
        answer = json_object(self._call("POST", "jobs/", body={"definition": definition}))
        ids = answer.get("job_ids")
        if not isinstance(ids, list) or len(ids) != 1 or not _JOB.fullmatch(str(ids[0])):
            raise NoAnswerError(f"{self.settings.url} gave no job id", "see the server's log")
        return int(ids[0])

    def find(self, key: str) -> tuple[JobState, ...]:
        """Jobs with `key` in their name, the oldest first."""
        params = {"description__contains": key, "ordering": "id"}
        return tuple(job for job in self._list("jobs/", params, rest_types.job) if key in job.name)

    def queue(self, device_type: str) -> tuple[JobState, ...]:
        """Jobs that this user sees waiting for a device of a type, the oldest first."""
        params = {"state__in": "Submitted,Scheduling,Scheduled", "ordering": "id"}
        params |= {"requested_device_type": device_type}
        return tuple(self._list("jobs/", params, rest_types.job))

    def job(self, job: int) -> JobState:
        """One job; GoneError when there is none."""
        return self._patiently(lambda: self._job(job))

    def _job(self, job: int) -> JobState:
        state = rest_types.job(json_object(self._call("GET", f"jobs/{job}/")))
        if state.job != job:
            raise StrangeError(f"asked for job {job}, the server gave another one", NOT_LAVA)
        return state

    def log(self, job: int) -> bytes:
        """The log of a job as the server keeps it; b"" while there is none."""
        try:
            return self._patiently(lambda: self._log(job))
        except GoneError:
            return b""

    def _log(self, job: int) -> bytes:
        data = self._call("GET", f"jobs/{job}/logs/", log=True)
        # LAVA's is a list of maps, a line each.
        first = data.lstrip().partition(b"\n")[0]
        if first and not (first.startswith((b"{", b"- {")) and b"lvl" in first):
            raise StrangeError(f"what should be the log of job {job} is none", NOT_LAVA)
        return data

    def cases(self, job: int) -> tuple[Mapping[str, Any], ...]:
        """Test cases of a job as the server keeps them."""
        return tuple(self._list(f"jobs/{job}/tests/", {}, dict))

    def cancel(self, job: int) -> None:
        """Ask for the end of a job; the server does so later."""
        path = f"jobs/{job}/cancel/"
        try:
            self._patiently(lambda: self._call("POST", path))
        except MethodError:  # LAVA 2023.01
            self._object("GET", path)

    def devices(self, device_type: str = "") -> tuple[DeviceState, ...]:
        """Devices of a type, or of all types that this user sees, that are not retired."""
        kind = {"device_type": device_type} if device_type else {}
        rows = self._list("devices/", {**kind, "ordering": "hostname"}, dict)
        offline = self._offline()
        return tuple(rest_types.device(row, offline) for row in rows)

    def device(self, name: str) -> DeviceState:
        """One device; GoneError when the server shows none of this name."""
        row = self._object("GET", f"devices/{quote(name, safe='')}/")
        return rest_types.device(row, self._offline())

    def device_types(self) -> tuple[str, ...]:
        """Names of the types that this user sees."""
        return tuple(
            sorted(job_log.text(row, "name") for row in self._list("devicetypes/", {}, dict))
        )

    def _offline(self) -> set[str]:
        """Workers that are out of reach."""
        return {
            job_log.text(row, "hostname")
            for row in self._list("workers/", {}, dict)
            if job_log.text(row, "state") == "Offline"
        }

    # --- one request, and a patient one ---

    def _object(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        return self._patiently(lambda: json_object(self._call(method, path, body=body)))

    def _list(
        self, path: str, params: Mapping[str, str], make: Callable[[dict[str, Any]], T]
    ) -> list[T]:
        """All pages of a list (LAVA counts by limit and offset), each row made into a value."""
        values: list[T] = []
        for _page in range(MOST_PAGES):
            page_params = {**params, "limit": "100", "offset": str(len(values))}
            rows, more = self._patiently(partial(self._page, path, page_params, make))
            values += rows
            if not rows or not more:
                return values
        return values

    def _page(
        self, path: str, params: Mapping[str, str], make: Callable[[dict[str, Any]], T]
    ) -> tuple[list[T], bool]:
        """Rows of a page, and whether there are more behind it."""
        page = json_object(self._call("GET", path, params=params))
        rows = page.get("results")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise StrangeError(f"{self.settings.url}: {path} is no list of LAVA's", NOT_LAVA)
        return [make(row) for row in rows], page.get("next") is not None

    def _patiently(self, call: Callable[[], T]) -> T:
        """The answer of a request that changes nothing, as soon as there is one. Who has never
        answered as LAVA does is not waited for: the address may be wrong.
        """
        begin, tries = time.monotonic(), 0
        while True:
            try:
                answer = call()
            except NoAnswerError as error:
                if isinstance(error, StrangeError) and not self._is_lava:
                    raise
                gone_s = time.monotonic() - begin
                if gone_s >= self.settings.outage_s:
                    raise InfrastructureError(
                        f"{error.message}, for {gone_s:.0f} s now",
                        "see to the server, then run `rtbisect resume`",
                        retryable=False,
                    ) from error
                if tries == 0:
                    self._tell(f"{error.message}; trying again")
                self._sleep(_PAUSES_S[min(tries, len(_PAUSES_S) - 1)])
                tries += 1
            else:
                self._is_lava = True
                return answer

    def _call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        log: bool = False,
    ) -> bytes:
        """The body of one answer; NoAnswerError, GoneError, ConfigError else."""
        url = f"{self.settings.url.rstrip('/')}/api/v0.2/{path}"
        sink = job_log.Clip() if log else http_body.WholeBody(LARGEST_ANSWER)
        within_s = self.settings.deadline_s * (_LOG_TAKES if log else 1)
        try:
            status = http_body.ask(
                self._session,
                method,
                url,
                sink,
                deadline_s=within_s,
                silence_s=self.settings.timeout_s,
                params=params,
                body=body,
            )
        except requests.RequestException as error:
            raise NoAnswerError(
                f"{self.settings.url} does not answer ({type(error).__name__})", "see to the server"
            ) from error
        except http_body.TooLargeError as error:
            raise InfrastructureError(
                f"{printable(url)} has more than {LARGEST_ANSWER} bytes",
                "see the job there",
                retryable=False,
            ) from error
        data = sink.data()
        if status in (200, 201, 202, 204):
            return data
        if self._is_lava and not rest_types.is_object(data) and status not in _PASSING:
            raise StrangeError(f"{self.settings.url} answers {status} with a page", NOT_LAVA)
        raise self._refusal(status, method, path, data)

    def _refusal(self, status: int, method: str, path: str, data: bytes) -> Exception:
        where, reason = self.settings.url, printable(rest_types.refusal_text(data), 200)
        if status in _PASSING:
            return NoAnswerError(f"{where} answers {status}", "see to the server")
        if status in (401, 403):
            return ConfigError(
                f"{where} does not take the token ({status}): {reason}",
                "make a new one there and put it into the token file, then run `rtbisect resume`",
            )
        if status == 404 and method == "GET":
            return GoneError(f"{where} has no {path.rstrip('/')}", "it may have been cleaned up")
        if status == 400 and method == "POST":
            if "evices unavailable" in reason:
                return InfrastructureError(f"{where}: {reason}", "see the devices on its pages")
            return ConfigError(f"{where} refuses the job: {reason}", "try `rtbisect config check`")
        odd = StrangeError if status not in _REFUSALS else InfrastructureError
        kind = MethodError if status == 405 else odd
        return kind(f"{where} answers {status} to {method} {path}: {reason}", NOT_LAVA)


def _token(path: Path) -> str:
    token = read_secret(path, "token of the LAVA server").strip()
    if not token.isalnum() or len(token) > 256:
        raise ConfigError(f"{path} holds no token", "it has letters and digits on one line")
    return token
