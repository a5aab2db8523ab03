# SPDX-License-Identifier: GPL-2.0-or-later
from dataclasses import replace

import pytest

from helpers.findings import Like, innermost
from helpers.lab_logs import (
    DEVICE,
    block,
    dose,
    files,
    good_job,
    interrupts,
    osnoise_txt,
    request,
    sample,
    trace,
    window_txt,
)
from helpers.windows import select
from rtbisect.judge.gates.machine_health import health_fault
from rtbisect.lab import job_log
from rtbisect.lab.job_definition import expected_cases
from rtbisect.lab.measurements import InvalidBoot, evidence
from rtbisect.lab.profile import host_profile
from rtbisect.lab.windows import WINDOWS
from rtbisect.model.facts import Facts
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Boots, Raw
from rtbisect.store import codec
from rtbisect.suites import rcutorture, senders, siteload

ASKED = request()


def log_of(content, cases=None, asked=ASKED):
    results = dict.fromkeys(expected_cases(asked), "pass") | (cases or {})
    results = {case: outcome for case, outcome in results.items() if outcome}
    return job_log.parse(good_job(results, ["x", *block(content), "RTBISECT-DONE"]))


def reason(content, cases=None):
    with pytest.raises(InvalidBoot) as caught:
        evidence(ASKED, log_of(content, cases))
    return caught.value.found


def changed(name, data):
    return files(ASKED) | {name: data}


def test_a_good_boot_is_evidence():
    found = evidence(ASKED, log_of(files(ASKED)))
    names = {(m.suite, m.name, m.window) for m in found.measurements if m.cpu is None}
    assert ("ipi", "res_per_iwi", "pf-on") in names
    assert ("ipi", "res_per_s", "osnoise-off") in names
    assert ("osnoise", "irq_per_sample", "clock-on") in names
    assert ("rcu", "p50_us", "rcu-on") in names
    assert dict(found.facts)["clocksource"] == "tsc"
    assert {m.cpu for m in found.measurements} == {None, 2, 3, 4}


def test_a_window_that_explains_tells_sources_and_is_never_a_reason_to_refuse():
    told = senders.SUITE.windows[0]
    asked = request([*WINDOWS, told])
    stack = "6 cpu 2 0x0 wakeup_preempt try_to_wake_up;rt_mutex_slowunlock irq_work/3\n"
    mine = {
        "senders-off/senders.txt": stack.encode(),
        "senders-off/tracing.txt": b"overrun 0\n",
        "senders-off/window.txt": window_txt(),
    }
    found = evidence(asked, log_of(files(asked) | mine, asked=asked))
    (source,) = [s for s in found.sources if s.window == told.name]
    assert (source.kind, source.name) == ("reschedule", "irq_work/N: rt_mutex_slowunlock")
    assert "timer:236" in {s.name for s in found.sources if s.window == "osnoise-off"}
    mine["senders-off/tracing.txt"] = b"overrun 7\n"
    content = files(asked) | mine
    log = log_of(content, {told.name: "fail"}, asked)
    found = evidence(asked, log)
    lost = Finding.of(Boots.SOURCES, window=told.name, why=Finding.of(Raw.LOST, events="7"))
    assert codec.from_json(Finding, dict(found.facts)["unexplained_senders-off"]) == lost
    assert Facts(dict(found.facts)).unexplained == {told.name}
    assert not [s for s in found.sources if s.window == told.name]


def test_a_window_that_was_not_begun_says_what_another_had_left():
    content = files(ASKED, facts={"left_behind_pf-on": "priority ksoftirqd/0 1 1"})
    found = reason(content, {"pf-on": "fail"})
    assert (found.kind, found.data["value"]) == (Boots.CASE_FAILED, "priority ksoftirqd/0 1 1")


def test_an_empty_fact_gives_way_and_two_that_differ_make_a_boot_invalid():
    name = "preflight/facts.txt"
    facts = files(ASKED)[name]
    found = evidence(ASKED, log_of(changed(name, b"hz=\n" + facts)))
    assert dict(found.facts)["hz"] == "1000"
    found = reason(changed(name, b"hz=250\n" + facts))
    assert found == Like(Boots.FACTS, file=name)
    assert innermost(found) == Finding.of(Raw.BOTH, key="hz", first="250", second="1000")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("as-is", {"isolated": "", "nohz_full": "(null)"}),
        (
            "tuned+nosmt",
            {"online": "0,2,4,6", "isolated": "2,4,6", "nohz_full": "2,4,6", "smt_active": "0"},
        ),
    ],
)
def test_each_profile_has_its_own_machine(name, facts):
    profile = replace(host_profile(DEVICE, name), watch="2-4")
    asked = request(profile=profile)
    content = files(asked, facts)
    found = evidence(asked, log_of(content, asked=asked))
    assert dict(found.facts)["profile"] == name
    with pytest.raises(InvalidBoot):
        evidence(ASKED, log_of(content))


def test_every_expected_case_has_to_be_there_and_to_pass():
    assert reason(files(ASKED), {"pf-on": ""}) == Finding.of(Boots.CASE_MISSING, case="pf-on")
    assert reason(files(ASKED), {"pf-on": "fail"}) == Like(Boots.CASE_FAILED, case="pf-on")


def test_a_failed_preflight_says_what_it_found():
    content = files(ASKED, facts={"unknown_parameters": "kthread_cpus=0-1"})
    found = reason(content, {"preflight-parameters": "fail"})
    told = (found.data["fact"], found.data["value"])
    assert told == ("unknown_parameters", "kthread_cpus=0-1")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("isolated", "2-6"),
        ("isolated", ""),
        ("nohz_full", "(null)"),
        ("smt_active", "0"),
        ("online", "0-3"),
        ("clocksource", "hpet"),
    ],
)
def test_the_machine_has_to_be_the_one_that_was_asked_for(key, value):
    assert reason(files(ASKED, facts={key: value})).data["value"] == value


def test_a_boot_line_that_lost_characters_is_another_machine():
    line = ASKED.profile.boot_line
    word = line.split()[-1]
    for told in (line[: -len(word)], line[:-1], ""):
        found = reason(files(ASKED, facts={"cmdline": told}))
        assert found == Finding.of(Boots.BOOT_LINE, lost=word if told else line[:300])
    # A host has a console of its own.
    host = replace(ASKED, device_type=replace(DEVICE, boot="ipxe"))
    told = line.replace("console=ttyS0,115200", "console=ttyS1,115200n8")
    content = files(host, facts={"cmdline": told})
    assert evidence(host, log_of(content, asked=host)).measurements


def test_the_dose_has_to_be_at_least_half_of_nominal():
    half = changed("clock-on/window.txt", window_txt(dose=dose(1500)))
    assert evidence(ASKED, log_of(half)).measurements
    less = changed("clock-on/window.txt", window_txt(dose=dose(1490)))
    assert reason(less) == Like(Boots.DOSE, window="clock-on", events_per_s=596.0)


def test_a_kernel_that_starves_the_reader_has_had_its_dose():
    """Boot 38 of a demo on the kernel with the spinlock: 415 events of 1610 faults a second."""
    starved = changed("pf-on/window.txt", window_txt(dose=dose(1037, faults=4025)))
    found = evidence(ASKED, log_of(starved))
    assert [m.value for m in found.measurements if (m.name, m.window) == ("events_per_s", "pf-on")]
    busy_host = changed("pf-on/window.txt", window_txt(dose=dose(1037, faults=1037)))
    assert reason(busy_host) == Like(Boots.DOSE, window="pf-on", events_per_s=414.8)


def test_lost_events_make_a_boot_invalid():
    content = changed("pf-on/window.txt", window_txt(dose=dose(5000, lost=1)))
    assert reason(content) == Finding.of(Boots.EVENTS_LOST, window="pf-on", events=1.0)


def test_a_window_that_the_host_stopped_is_invalid():
    content = changed("osnoise-off/window.txt", window_txt(seconds=6))
    assert reason(content) == Like(Boots.LONG_WINDOW, lasted_ms=6000.0)


def test_two_instruments_that_contradict_each_other_make_a_boot_invalid():
    quiet = trace([sample(cpu, irq=0) for cpu in (2, 3, 4)])
    found = reason(changed("clock-on/trace.txt", quiet))
    assert found == Like(Boots.GATE, window="clock-on", gate="G4 instruments")


def test_a_sick_machine_makes_a_boot_invalid():
    facts = {"throttled_before": "0", "throttled_after": "7"}
    assert reason(files(ASKED, facts=facts)) == health_fault(Facts(facts))


def test_boots_are_told_apart_by_their_raw_files_not_by_their_machine():
    def raw(content):
        return dict(evidence(ASKED, log_of(content)).facts)["raw_sha256"]

    usual = raw(files(ASKED))
    assert raw(files(ASKED, facts={"microcode": "0x1"})) == usual
    later = window_txt(dose=dose(3000), start=6_000_000_000)
    assert raw(changed("clock-on/window.txt", later)) != usual


def test_a_suite_that_refuses_names_itself_and_its_window():
    content = changed("osnoise-off/after.txt", interrupts({}, cpus=7))
    found = reason(content)
    assert found == Like(Boots.SUITE, suite="ipi", window="osnoise-off")
    assert innermost(found).kind == Raw.CPUS_CHANGED


def test_windows_have_to_run_in_the_drawn_order():
    found = reason(changed("order.txt", b"pf-on osnoise-off\n"))
    assert found == Like(Boots.WINDOW_ORDER, ran="pf-on osnoise-off")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pf-on pass 3.10 6.25\nrcu-off pass 6.30 9.00\n", (3.15, 2.7)),
        ("pf-on pass 3.10 6.25\n", ()),
        ("rcu-off pass 6.30 9.00\npf-on pass 3.10 6.25\n", ()),
        ("pf-on pass 3.10 6.25\nrcu-off pass now then\n", ()),
    ],
    ids=["both", "one-is-missing", "another-order", "no-numbers"],
)
def test_a_boot_tells_how_long_its_windows_took(text, told):
    asked = request(windows=select(("pf-on", "rcu-off")))
    content = files(asked) | {"windows.txt": text.encode()}
    assert evidence(asked, log_of(content, asked=asked)).window_s == told


def test_facts_have_to_be_there():
    content = files(ASKED)
    del content["preflight/facts.txt"]
    assert reason(content).kind == Boots.NO_FACTS


def test_a_console_without_block_or_end_is_invalid():
    cases = dict.fromkeys(expected_cases(ASKED), "pass")
    for lines in ([], block(files(ASKED)), ["RTBISECT-DONE"]):
        with pytest.raises(InvalidBoot):
            evidence(ASKED, job_log.parse(good_job(cases, lines)))


def test_files_of_one_window_do_not_reach_another():
    content = {k: v for k, v in files(ASKED).items() if k != "pf-on/before.txt"}
    content["xpf-on/before.txt"] = content["pf-off/before.txt"]
    assert innermost(reason(content)) == Finding.of(Raw.MISSING, file="before.txt")


def tortured(end, **facts):
    """A boot with rcutorture behind its window, which ended so."""
    asked = request([*select(["rcu-off"]), *(w for w in rcutorture.SUITE.windows)])
    changes = {
        f"{w.name}/torture.txt": f"seconds 60\nend {end}\n".encode()
        for w in rcutorture.SUITE.windows
    }
    content = files(asked, facts, replace=changes)
    return evidence(asked, log_of(content, asked=asked))


def test_what_rcutorture_finds_it_may_warn_of():
    """Each failure comes with a WARN, which taints the kernel: that boot is the finding."""
    warned = {"tainted_before": "0", "tainted_after": "512"}
    found = tortured("FAILURE", **warned)
    assert [m.value for m in found.measurements if m.name == "failures"] == [1.0, 1.0]
    for end in ("SUCCESS", "RCU_HOTPLUG", "nonsense"):
        with pytest.raises(InvalidBoot) as caught:
            tortured(end, **warned)
        assert caught.value.found == health_fault(Facts(warned))


@pytest.mark.parametrize("changes", [{"runtime_us": 950_000}, {"period_us": 2_000_000}])
def test_a_sample_of_another_length_is_another_figure(changes):
    (name,) = changes
    found = reason(changed("osnoise-off/osnoise.txt", osnoise_txt(**changes)))
    assert innermost(found) == Like(Raw.SETTING, file="osnoise.txt", key=name)


def test_the_sites_own_workload_is_a_fact_of_the_boot():
    off, on = siteload.SUITE.windows
    asked = request([off, replace(on, workload="site:motion-control@0123456789ab")])
    mine = {}
    for window in asked.windows:
        mine |= {
            f"{window.name}/before.txt": interrupts({}),
            f"{window.name}/after.txt": interrupts({"RES": 9, "LOC": 2, "CAL": 1}),
            f"{window.name}/window.txt": window_txt(),
        }
    found = evidence(asked, log_of(files(asked, replace=mine), asked=asked))
    assert dict(found.facts)["site_workload"] == "motion-control@0123456789ab"
    assert {m.suite for m in found.measurements} == {"siteload"}
