# SPDX-License-Identifier: GPL-2.0-or-later
import dataclasses
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from helpers.lab_logs import DEVICE, request
from helpers.windows import select
from rtbisect.config.schema import LabAccess, PlanParams
from rtbisect.errors import ConfigError, InternalError
from rtbisect.lab import initramfs
from rtbisect.lab.job_definition import (
    PREFLIGHT_CASES,
    PROMPT,
    Job,
    Resource,
    Timeouts,
    expected_cases,
    render_device,
    render_job,
    timeouts_of,
)
from rtbisect.lab.profile import host_profile
from rtbisect.lab.windows import WINDOWS
from rtbisect.suites import reach

ROOT = Path(__file__).parents[3]
LAVA_JOBS = ROOT / "lava-jobs"
GOLDEN = ROOT / "tests/golden/jobs"

#: A server that boots over the network.
METAL = dataclasses.replace(DEVICE, name="smt-server", emulated=False, boot="ipxe", boot_s=600)

#: An order that a campaign may draw.
DRAWN = tuple(
    window
    for name in ("rcu-off", "rcu-on", "clock-on", "pf-off", "osnoise-off", "pf-on")
    for window in select([name])
)

#: As much of LAVA's qemu.jinja2 as our dictionary touches.
QEMU = """\
command: qemu-system-{{ arch }}
options:
{% if not no_kvm %}
- -enable-kvm
{% endif %}
- -net nic,macaddr={{ mac_addr }} -net {{ netdevice }}
- -m {{ memory }}
{% if extra_options %}
extra: {{ extra_options }}
{% endif %}
"""


def job(asked=None, *, modules=True):
    url = "https://artefacts.example.org/{}"
    asked = asked or request(DRAWN)
    return Job(
        request=asked,
        key="0011223344556677",
        kernel=Resource(url.format("kernel"), "a" * 64),
        ramdisk=Resource(url.format("ramdisk.cpio.gz"), "c" * 64),
        modules=Resource(url.format("modules.tar.gz"), "b" * 64) if modules else None,
        timeouts=timeouts_of(asked),
    )


def calls(number):
    return (("rcu_calls", number),)


def profile(**changes):
    asked = request()
    return dataclasses.replace(asked, profile=dataclasses.replace(asked.profile, **changes))


GOLDENS = {
    "all-windows.yaml": job(),
    "rcu-only.yaml": job(request(select(["rcu-off"]), window_ms=1000, suite_params=calls(20))),
    "no-modules.yaml": job(request(select(["osnoise-off"])), modules=False),
    "ipxe.yaml": dataclasses.replace(
        job(request(select(["osnoise-off"]), device_type=METAL)),
        priority="low",
        callback="http://build.example.org:8790/ended/0011223344556677",
        tags=("rt01",),
        visibility="personal",
    ),
}


@pytest.mark.parametrize(
    ("visibility", "said"),
    [
        ("public", "public"),
        ("personal", "personal"),
        (("rt", "a: b"), {"group": ["rt", "a: b"]}),
    ],
)
def test_a_job_says_who_reads_it(visibility, said):
    text = render_job(LAVA_JOBS, dataclasses.replace(job(), visibility=visibility))
    assert yaml.safe_load(text)["visibility"] == said


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "personal"),
        ({"here": True}, "public"),
        ({"here": True, "visibility": "personal"}, "personal"),
        ({"visibility": "public"}, "public"),
        ({"visibility": ["rt"]}, ("rt",)),
    ],
)
def test_jobs_in_the_lab_of_somebody_else_are_ours_alone_to_read(told, said):
    access = LabAccess.model_validate({"serve": {"url": "http://build.example.org"}, **told})
    assert access.seen_by == said


@pytest.mark.parametrize("told", ["private", [], ["a\nb"], {"group": ["rt"]}])
def test_a_visibility_that_lava_does_not_know_is_refused(told):
    with pytest.raises(ValidationError):
        LabAccess.model_validate({"serve": {"url": "http://build.example.org"}, "visibility": told})


def against_golden(name, text):
    path = GOLDEN / name
    if os.environ.get("RTBISECT_UPDATE_GOLDEN"):
        path.write_text(text)
    assert path.read_text() == text, "run with RTBISECT_UPDATE_GOLDEN=1 to accept the change"


@pytest.mark.parametrize("name", GOLDENS)
def test_jobs_are_as_they_were(name):
    text = render_job(LAVA_JOBS, GOLDENS[name])
    against_golden(name, text)
    assert yaml.safe_load(text)["actions"][1]["boot"]["prompts"] == ["rt-lab:# "]


def test_the_device_is_as_it_was(tmp_path):
    (tmp_path / "qemu.jinja2").write_text(QEMU)
    against_golden("device-qemu-smt.yaml", render_device(LAVA_JOBS, tmp_path, DEVICE))


def test_the_device_type_decides_about_cpus_and_memory(tmp_path):
    (tmp_path / "qemu.jinja2").write_text(QEMU)
    big = dataclasses.replace(DEVICE, sockets=2, cores=3, threads=1, memory_mib=4096)
    device = yaml.safe_load(render_device(LAVA_JOBS, tmp_path, big))
    assert "-smp 6,sockets=2,cores=3,threads=1" in device["extra"]
    assert "-m 4096" in device["options"]
    model = dataclasses.replace(DEVICE, cpu_model="Skylake-Client,-rtm")
    assert "-cpu Skylake-Client,-rtm" in render_device(LAVA_JOBS, tmp_path, model)


def test_kvm_is_tried_before_emulation(tmp_path):
    (tmp_path / "qemu.jinja2").write_text(QEMU)
    device = yaml.safe_load(render_device(LAVA_JOBS, tmp_path, DEVICE))
    assert device["extra"][0] == "-accel kvm -accel tcg,thread=multi"
    only = yaml.safe_load(render_device(LAVA_JOBS, tmp_path, DEVICE, ("tcg,thread=multi",)))
    assert only["extra"][0] == "-accel tcg,thread=multi"
    assert "-enable-kvm" not in device["options"]


def test_the_guest_reaches_no_network_and_qemu_runs_in_a_sandbox(tmp_path):
    (tmp_path / "qemu.jinja2").write_text(QEMU)
    device = yaml.safe_load(render_device(LAVA_JOBS, tmp_path, DEVICE))
    assert [o for o in device["options"] if "-net user" in o] == [
        "-net nic,macaddr=52:54:00:12:34:01 -net user,restrict=on"
    ]
    assert (
        "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
        in device["extra"]
    )


def test_templates_of_a_newer_lava_have_their_filter(tmp_path):
    newer = QEMU + "interface: {{ arch | qemu_guest_fs_interface(guestfs_interface) }}\n"
    (tmp_path / "qemu.jinja2").write_text(newer)
    assert yaml.safe_load(render_device(LAVA_JOBS, tmp_path, DEVICE))["interface"] == "ide"


def test_a_device_that_cannot_be_rendered_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"qemu\.jinja2"):
        render_device(LAVA_JOBS, tmp_path, DEVICE)
    with pytest.raises(ConfigError, match="no CPU model"):
        render_device(LAVA_JOBS, tmp_path, dataclasses.replace(DEVICE, cpu_model="x; rm -rf /"))


@pytest.mark.parametrize(
    "revision",
    ['": {evil: yes} #', "a\nb: c", "{{ 7 * 7 }}", "'; reboot; '", "\\", "%s &x *y !!python/x"],
)
def test_hostile_revisions_stay_text(revision):
    loaded = yaml.safe_load(render_job(LAVA_JOBS, job(request(revision=revision))))
    assert loaded["metadata"]["revision"] == revision.replace("\n", "?")
    assert set(loaded) == set(yaml.safe_load(render_job(LAVA_JOBS, job())))


@pytest.mark.parametrize(
    "line", ['quiet" -hda /etc/shadow "', "a {kernel}", "a\\b", "$(reboot)", "a\nb", "é", ""]
)
def test_hostile_boot_lines_are_refused(line):
    with pytest.raises(ConfigError, match="boot line"):
        render_job(LAVA_JOBS, job(profile(boot_line=line)))


@pytest.mark.parametrize("cpus", ["2-7; reboot", "", "2-", "$x"])
def test_hostile_cpu_lists_are_refused(cpus):
    with pytest.raises(ConfigError, match="CPU list"):
        render_job(LAVA_JOBS, job(profile(isolated=cpus)))


def test_windows_that_cannot_be_run_are_refused():
    twice = request((WINDOWS[0], WINDOWS[0]))
    strange = request((dataclasses.replace(WINDOWS[0], name="a b"),))
    for asked in (twice, strange, request(())):
        with pytest.raises(ConfigError, match="cannot be run"):
            render_job(LAVA_JOBS, job(asked))


def step_of(asked):
    """The one command of a job."""
    test = yaml.safe_load(render_job(LAVA_JOBS, job(asked)))["actions"][2]["test"]
    (step,) = test["definitions"][0]["repository"]["run"]["steps"]
    return step


def test_the_script_is_called_as_it_wants_to_be():
    words = shlex.split(step_of(request(DRAWN)))
    assert words[0].startswith("/opt/rtbisect/suites/")
    asked = request(
        DRAWN, profile=host_profile(DEVICE, "as-is+fifo:1+nosmt"), probes=("f",), realtime=False
    )
    known = re.findall(r"(--[a-z-]+)\)", (LAVA_JOBS / "suites/run-windows.sh").read_text())
    assert sorted(shlex.split(step_of(asked))[1::2]) == sorted(known)
    assert set(words[1::2]) < set(known)
    assert words[words.index("--order") + 1].split() == [w.name for w in DRAWN]


@pytest.mark.parametrize("ended", [False, True])
def test_the_prompt_is_the_one_that_init_sets(tmp_path, ended):
    """Behind the mark of a guest that nobody needs any more it comes after its end."""
    init = (LAVA_JOBS / "initramfs/init").read_text()
    (line,) = (each for each in init.splitlines() if each.startswith("export PS1="))
    mark = tmp_path / "ended"
    if ended:
        mark.touch()
    assert "/tmp/rtbisect-ended" in (LAVA_JOBS / "suites/run-windows.sh").read_text()
    # What is asked here must never end the machine of the test.
    line = line.replace("/tmp/rtbisect-ended", str(mark)).replace("reboot -f", "echo ends")
    assert "reboot" not in line
    shell = ["/bin/busybox", "sh", "-c", f"{line}; exec /bin/busybox sh -i"]
    done = subprocess.run(shell, input="", capture_output=True, text=True, check=False)
    said = done.stdout.rpartition("commands.")[2].strip("\n")
    assert said == ("ends" if ended else "") + PROMPT


def test_a_boot_has_the_cases_of_the_preflight_and_of_its_windows():
    assert expected_cases(request())[len(PREFLIGHT_CASES) :] == tuple(w.name for w in WINDOWS)


def test_the_job_outlasts_its_parts():
    timeouts = Timeouts(deploy_s=10, boot_s=20, test_s=30)
    assert timeouts.job_s > 60
    loaded = yaml.safe_load(render_job(LAVA_JOBS, dataclasses.replace(job(), timeouts=timeouts)))
    assert loaded["timeouts"]["job"]["seconds"] == timeouts.job_s
    assert loaded["actions"][2]["test"]["timeout"] == {"seconds": 30}


@pytest.mark.parametrize(
    ("names", "changes", "test_s"),
    [
        ([w.name for w in WINDOWS], {}, 120),
        (["osnoise-off"], {"window_ms": 200}, 120),
        (["osnoise-off"], {"window_ms": 3_600_000}, 7200),
        (["osnoise-off", "pf-on"], {"window_ms": 60_001}, 241),
        (["rcu-off"], {"suite_params": calls(4096)}, 2048),
        (["rcu-off", "rcu-on"], {"suite_params": calls(4096), "window_ms": 3_600_000}, 4096),
        (["osnoise-off"], {"suite_params": calls(4096)}, 120),
        (["rtla-off"], {"window_ms": 60_000}, 360),
    ],
)
def test_a_test_may_take_as_long_as_it_was_asked_to(names, changes, test_s):
    timeouts = timeouts_of(request(select(names), **changes))
    assert timeouts.test_s == test_s
    assert timeouts.job_s == test_s + 180
    assert timeouts.connection_s == timeouts.action_s == test_s


@pytest.mark.parametrize("window_ms", [1000, 20_000, 60_000, 3_600_000])
def test_both_runs_of_rtla_end_before_the_job(window_ms):
    """They have a limit of their own, because LAVA's is taken for a kernel that hangs."""
    suites = LAVA_JOBS / "suites"
    steps = [
        initramfs.device_values(),
        f". {suites}/lib.sh; . {suites}/osnoise/osnoise.sh; . {suites}/rtla/rtla.sh",
        "timeout() { echo $3; }",
        f"WINDOW_MS={window_ms} HOUSEKEEPING_CPU=0 WATCH=2; rtla_osnoise top",
    ]
    argv = ["/bin/busybox", "ash", "-c", "\n".join(steps)]
    limit_s = int(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)
    asked = request(select(["rtla-off"]), window_ms=window_ms)
    assert window_ms / 1000 < limit_s
    assert 2 * limit_s < timeouts_of(asked).test_s


@pytest.mark.parametrize(("name", "more_s"), [("rtla-off", 360), ("rcu-off", 2048)])
def test_a_window_that_counts_functions_may_take_as_long_as_its_twin(name, more_s):
    (window,) = select([name])
    asked = request((window, reach.twin(window)), window_ms=60_000, suite_params=calls(4096))
    assert timeouts_of(asked).test_s == 2 * more_s


def test_the_rcu_module_makes_as_many_calls_as_a_site_may_ask_for():
    source = (LAVA_JOBS / "suites/rcu/rtbisect_rcu.c").read_text()
    most = int(re.search(r"#define MAX_CALLS\s+([0-9]+)", source)[1])
    schema = PlanParams.model_json_schema()["properties"]["rcu_calls"]
    assert schema["maximum"] <= most
    assert source.count(str(most)) == 1, "the number is written twice and may come to differ"


def test_a_profile_and_probes_are_options_of_the_device():
    own = {"--rt", "--isolates", "--smt", "--fifo", "--probes"}
    assert not own & set(step_of(request()).split())
    profile = host_profile(DEVICE, "as-is+fifo:1+nosmt")
    asked = request(profile=profile, probes=("ep_insert", "a.isra.0"), realtime=False)
    said = "--rt no --isolates no --smt 0 --fifo 1 --probes 'ep_insert a.isra.0'"
    assert step_of(asked).endswith(said)
    skipped = {"preflight-isolated", "preflight-nohz-full", "preflight-rcu-nocbs"}
    assert skipped & set(expected_cases(request())) == skipped
    assert not skipped & set(expected_cases(asked))


@pytest.mark.parametrize("name", ["f; reboot", "", "1f", "f g"])
def test_what_is_no_name_of_a_function_is_never_sent(name):
    with pytest.raises(InternalError, match="no C function has"):
        step_of(request(probes=(name,)))
