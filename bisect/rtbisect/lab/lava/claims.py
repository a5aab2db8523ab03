# SPDX-License-Identifier: GPL-2.0-or-later
"""What has to be true of a lab behind a LAVA server before a campaign can use it, claim by claim; a
user's plain token is enough to ask.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import requests

from rtbisect.errors import RtbisectError
from rtbisect.lab.lava import fair_use
from rtbisect.model.ports import NoNote
from rtbisect.process import http_body
from rtbisect.process.command import printable
from rtbisect.words.numbers import further
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rtbisect.lab.lava.remote import LavaServerLab
    from rtbisect.lab.lava.rest import LavaRest
    from rtbisect.model.lab import RunRequest

#: Types of devices that are named.
_MOST_TYPES = 30

#: Seconds to fetch a small file from ourselves.
_FETCH_S = 10.0


@dataclass(frozen=True, slots=True)
class LabClaim:
    """One thing that has to be true of a lab."""

    #: What is claimed, in a word or two, as "device type".
    name: str
    #: None for one that was not asked, or that decides nothing.
    holds: bool | None
    #: What was found, printable.
    said: str


def claims(lab: LavaServerLab, request: RunRequest, *, boot: bool) -> Iterator[LabClaim]:
    """All claims in their order. `request` is a boot as a campaign would ask for one; with `boot`
    its kernel is booted as a smoke test, else a file stands in for it and is only validated.
    """
    kind = request.device_type.name
    yield _claim("server", lambda: f"LAVA {lab.rest.version()}")
    yield _claim("token", lambda: _user(lab.rest))
    yield _claim("device type", lambda: _type(lab, kind))
    yield _claim("devices", lambda: _devices(lab, kind))
    yield _claim("artefacts", lambda: _served(lab))
    yield _claim("job", lambda: _validated(lab, request))
    if boot:
        yield _claim("boot", lambda: _booted(lab, request))
    else:
        yield LabClaim("boot", None, "no kernel was given")


def first_claims(rest: LavaRest) -> Iterator[LabClaim]:
    """What a server tells a user who has no site file yet."""
    yield _claim("server", lambda: f"LAVA {rest.version()}")
    yield _claim("token", lambda: _user(rest))
    yield _claim("device types", lambda: _usable(rest))
    reason = "whether this user may submit to a type, the site file and `--kernel` tell"
    yield LabClaim("job", None, reason)


class _Fails(Exception):  # noqa: N818  (the answer to a question)
    """A claim does not hold, for this reason."""


def _claim(name: str, ask: Callable[[], str]) -> LabClaim:
    try:
        return LabClaim(name, holds=True, said=printable(ask()))
    except (_Fails, RtbisectError) as error:
        return LabClaim(name, holds=False, said=printable(str(error)))


def _user(rest: LavaRest) -> str:
    user = rest.whoami()
    if not user:
        raise _Fails("the server takes us for nobody: a token is needed to submit jobs")
    return f"user {user}"


def _type(lab: LavaServerLab, kind: str) -> str:
    types = lab.rest.device_types()
    if kind not in types:
        raise _Fails(f"{kind} is none of those that this user sees: {', '.join(types) or 'none'}")
    return f"{kind}, one of {len(types)}"


def _usable(rest: LavaRest) -> str:
    """Types with devices that take jobs; asked for at once, a lab may have hundreds."""
    free: Counter[str] = Counter()
    for device in rest.devices():
        free[device.device_type] += not device.why_not
    usable = [f"{kind} ({number})" for kind, number in sorted(free.items()) if number]
    if not usable:
        raise _Fails(f"no device of any of {len(rest.device_types())} types takes jobs")
    more = further(len(usable) - _MOST_TYPES)
    return f"devices that take jobs: {', '.join(usable[:_MOST_TYPES])} {more}".rstrip()


def _devices(lab: LavaServerLab, kind: str) -> str:
    devices = lab.rest.devices(kind)
    if reason := fair_use.hopeless(kind, devices):
        raise _Fails(str(speak(reason)))
    usable = [device for device in devices if not device.why_not]
    waiting = len(lab.rest.queue(kind))
    return f"{len(usable)} of {len(devices)} take jobs; {waiting} jobs wait"


def _served(lab: LavaServerLab) -> str:
    """Whether our own URL gives out what it should, as seen from here."""
    data = b"fetched to see whether artefacts can be\n"
    offered = lab.desk.offer(lab.artefacts.put_bytes(data), "probe")
    try:
        body = http_body.WholeBody(len(data))
        status = http_body.ask(http_body.session(), "GET", offered.url, body, deadline_s=_FETCH_S)
    except http_body.TooLargeError as error:
        raise _Fails(f"{offered.url} gives something else") from error
    except requests.RequestException as error:
        raise _Fails(f"{offered.url} cannot be fetched ({type(error).__name__})") from error
    if status != 200 or hashlib.sha256(body.data()).hexdigest() != offered.sha256:
        raise _Fails(f"{offered.url} gives something else ({status})")
    return f"{lab.desk.settings.url} serves them, as seen from here"


def _validated(lab: LavaServerLab, request: RunRequest) -> str:
    lab.preflight(request)
    return "the server calls it valid"


def _booted(lab: LavaServerLab, request: RunRequest) -> str:
    run = lab.run(replace(request, run_id="smoke"), NoNote())
    if not run.complete:
        why = speak(run.reason) if run.reason else ""
        raise _Fails(f"{run.status.value}: {why} (log: artefact {run.log[:12]})")
    return f"on {run.device} in {run.seconds:.0f} s"
