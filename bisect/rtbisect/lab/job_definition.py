# SPDX-License-Identifier: GPL-2.0-or-later
"""Job and device texts for LAVA, from the templates in `lava-jobs/`.

Revisions and boot lines are foreign text. Everything that enters a template is written
as a quoted YAML scalar, and what ends up in a command line is checked first.
"""

from __future__ import annotations

import json
import math
import re
import secrets
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jinja2
import yaml

from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.lab import QEMU
from rtbisect.process.command import printable
from rtbisect.suites.base import counts_functions, find

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.model.lab import DeviceType, RunRequest, Window

#: Prompt that init sets (lava-jobs/initramfs/init).
PROMPT = "rt-lab:# "

SCRIPT = "/opt/rtbisect/suites/run-windows.sh"

#: Cases that the device reports before the windows, in this order, with the fact that explains a
#: failure ("": none does). It has a function of the name of each (lava-jobs/suites/preflight.sh).
PREFLIGHT_CASES = {
    "preflight-rt": "uname_v",
    "preflight-smt": "smt_active",
    "preflight-isolated": "isolated",
    "preflight-nohz-full": "nohz_full",
    "preflight-rcu-nocbs": "",
    "preflight-irq-affinity": "",
    "preflight-housekeeping": "",
    "preflight-watch": "",
    "preflight-whole-cores": "",
    "preflight-untainted": "tainted",
    "preflight-parameters": "unknown_parameters",
}

#: Cases that do not apply to a machine that isolates no CPUs.
ISOLATION_CASES = (
    "preflight-isolated",
    "preflight-nohz-full",
    "preflight-rcu-nocbs",
    "preflight-irq-affinity",
)

#: A window that lasted so many times longer than asked was stopped by the host.
LONGEST_WINDOW = 2.0

#: Characters of a boot line that neither a shell, nor LAVA, nor QEMU takes as its own.
_BOOT_LINE = re.compile(r"[A-Za-z0-9=,.:_/+ -]{1,2000}")
_CPUS = re.compile(r"[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*")
_WINDOW = re.compile(r"[a-z][a-z0-9-]{0,39}")
#: Functions of a foreign kernel, by the names that its build gave them.
_FUNCTION = re.compile(r"[A-Za-z_][A-Za-z0-9_.:]{0,160}")


@dataclass(frozen=True, slots=True)
class Resource:
    """A file that LAVA fetches; it refuses one with another sha256."""

    url: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The job's own is their sum and a minute for LAVA itself."""

    #: Seconds for the files, from power-on to the prompt, and for all windows.
    deploy_s: int = 60
    boot_s: int = 60
    test_s: int = 120

    @property
    def action_s(self) -> int:
        return max(self.deploy_s, self.boot_s, self.test_s)

    @property
    def connection_s(self) -> int:
        return max(self.boot_s, self.test_s)

    @property
    def job_s(self) -> int:
        return self.deploy_s + self.boot_s + self.test_s + 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The values that the text of a job is made from."""

    request: RunRequest
    #: Part of the name of the job, by which it is found again on a server.
    key: str
    kernel: Resource
    ramdisk: Resource
    #: Archive of the modules; None for a kernel without our modules.
    modules: Resource | None
    timeouts: Timeouts
    #: "low", "medium", "high" or a number.
    priority: str = "medium"
    #: URL that a server calls when the job ends; "" for none.
    callback: str = ""
    #: Only devices that have all of them run it.
    tags: tuple[str, ...] = ()
    #: Who reads it on a server: everybody ("public"), who submitted it ("personal"), or groups of
    #: users by their names.
    visibility: str | tuple[str, ...] = "public"


def new_key() -> str:
    """A random key that no other job of any campaign has in its name."""
    return secrets.token_hex(8)


def timeouts_of(request: RunRequest) -> Timeouts:
    """Timeouts that let a boot measure all that it is asked to, and never below the default."""
    needed_s = sum(_longest_s(request, window) for window in request.windows)
    test_s = max(Timeouts().test_s, math.ceil(needed_s))
    return Timeouts(boot_s=request.device_type.boot_s, test_s=test_s)


def _longest_s(request: RunRequest, window: Window) -> float:
    """Seconds that a window may take. One that counts functions runs what its twin measures."""
    twins = (other for other in request.windows if other.name == window.explains)
    runs = next(twins, window) if counts_functions(window) else window
    suites = [find(suite) for suite in runs.suites]
    if calls := next((suite.calls for suite in suites if suite.calls), None):
        return calls.longest_s * dict(request.suite_params)[calls.parameter]
    asked_s = request.window_ms / 1000 * max(suite.lengths for suite in suites)
    return LONGEST_WINDOW * max(asked_s, runs.least_s)


def expected_cases(request: RunRequest) -> tuple[str, ...]:
    """Cases that a complete boot reports, each with the result "pass". A window that only explains
    may fail: that is no reason to throw figures away.
    """
    windows = (window.name for window in request.windows if not window.explains)
    skipped = () if request.profile.isolates else ISOLATION_CASES
    return (*(case for case in PREFLIGHT_CASES if case not in skipped), *windows)


def has_smt(request: RunRequest) -> bool:
    """Whether two threads of a core are online."""
    return request.device_type.threads > 1 and request.profile.smt


def render_job(lava_jobs: Path, job: Job) -> str:
    """The job as YAML text; ConfigError when a value cannot be put on a command line."""
    request = job.request
    check_request(request)
    text = (
        environment_of(lava_jobs)
        .get_template("skeleton.yaml.j2")
        .render(
            # The key stands first: a server cuts long names.
            job_name=printable(f"rtbisect {job.key} {request.run_id} {request.revision}", 200),
            key=job.key,
            priority=job.priority,
            visibility=job.visibility,
            callback=job.callback,
            device_type=request.device_type.name,
            revision=printable(request.revision, 200),
            order=" ".join(window.name for window in request.windows),
            boot=request.device_type.boot,
            boot_line=request.profile.line_on(request.device_type),
            kernel=job.kernel,
            ramdisk=job.ramdisk,
            modules=job.modules,
            prompt=PROMPT,
            command=command_of(request),
            timeouts=job.timeouts,
            tags=job.tags,
        )
    )
    return text.rstrip("\n") + "\n"


def render_device(
    lava_jobs: Path,
    templates: Path,
    device: DeviceType,
    accelerators: tuple[str, ...] = ("kvm", "tcg,thread=multi"),
) -> str:
    """The device as YAML text, as a LAVA server would render its dictionary.

    `templates` is LAVA's folder of device types; QEMU takes the first of `accelerators`
    that it can start. ConfigError when a template is missing.
    """
    loaders = [jinja2.FileSystemLoader(lava_jobs / "devices"), jinja2.FileSystemLoader(templates)]
    # LAVA's templates rest on undefined names being false, so no StrictUndefined here.
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        trim_blocks=True,
        autoescape=False,  # noqa: S701  (YAML, not HTML)
    )
    # A filter of newer versions of LAVA (lava_common/jinja.py of 2026.10), for x86.
    environment.filters["qemu_guest_fs_interface"] = lambda _arch, interface: interface or "ide"
    context: dict[str, Any] = {
        "arch": "x86_64",
        "sockets": device.sockets,
        "cores": device.cores,
        "threads": device.threads,
        "memory": device.memory_mib,
        "accelerators": list(accelerators),
    }
    if device.cpu_model:
        if not re.fullmatch(r"[A-Za-z0-9_.,=+-]{1,200}", device.cpu_model):
            raise ConfigError(
                f"device type {device.name}: {device.cpu_model!r} is no CPU model",
                "see `qemu-system-x86_64 -cpu help`",
            )
        context["cpu"] = device.cpu_model
    try:
        text = environment.get_template(device.template).render(**context)
    except jinja2.TemplateNotFound as error:
        raise ConfigError(
            f"device template {error} is in neither {lava_jobs / 'devices'} nor {templates}",
            "run `make setup`, or correct the device type in the site file",
        ) from error
    return yaml.safe_dump(yaml.safe_load(text), sort_keys=True, width=1000)


def check_request(request: RunRequest) -> None:
    profile = request.profile
    if not _BOOT_LINE.fullmatch(profile.boot_line):
        raise ConfigError(
            f"profile {profile.name}: the boot line has characters that LAVA cannot pass on",
            "use letters, digits, spaces and = , . : _ / + -",
        )
    for field in ("housekeeping", "isolated", "watch"):
        if not _CPUS.fullmatch(getattr(profile, field)):
            raise ConfigError(
                f"profile {profile.name}: {field} is no CPU list", 'write it as "2-7"'
            )
    names = [window.name for window in request.windows]
    if not names or len(set(names)) < len(names) or not all(map(_WINDOW.fullmatch, names)):
        raise ConfigError(f"run {request.run_id}: windows {names} cannot be run", "see windows.py")
    if not all(map(_FUNCTION.fullmatch, request.probes)):
        raise InternalError(f"run {request.run_id}: a function has a name that no C function has")


def command_of(request: RunRequest) -> str:
    """The one command line that a boot runs on the device."""
    profile = request.profile
    words = [
        SCRIPT,
        "--housekeeping",
        profile.housekeeping,
        "--isolated",
        profile.isolated,
        "--watch",
        profile.watch,
        "--window-ms",
        str(request.window_ms),
        *(
            word
            for name, value in request.suite_params
            for word in (f"--{name.replace('_', '-')}", str(value))
        ),
        "--order",
        " ".join(window.name for window in request.windows),
    ]
    if request.device_type.boot == QEMU:
        # A machine of a lab has its power switched off instead.
        words += ["--ends", "yes"]
    if not request.realtime:
        words += ["--rt", "no"]
    if not profile.isolates:
        words += ["--isolates", "no"]
    if not has_smt(request):
        words += ["--smt", "0"]
    if profile.fifo:
        words += ["--fifo", str(profile.fifo)]
    if request.probes:
        words += ["--probes", " ".join(request.probes)]
    return shlex.join(words)


def environment_of(folder: Path) -> jinja2.Environment:
    """What renders templates of a folder of `lava-jobs`."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  (no HTML; every value goes through `q` or `sh`)
        keep_trailing_newline=True,
    )
    environment.filters["q"] = _quoted
    environment.filters["sh"] = shlex.quote
    return environment


def _quoted(value: object) -> str:
    """A YAML double-quoted scalar on one line; JSON strings are such scalars."""
    text = str(value)
    if not text.isprintable():
        raise ConfigError(
            f"{printable(text, 80)!r} has control characters and cannot go into a job",
            "correct it in the request",
        )
    return json.dumps(text, ensure_ascii=False)
