# SPDX-License-Identifier: GPL-2.0-or-later
import itertools
import json

import pytest

from helpers.lab_logs import STARTED, event, failed_job, good_job, job, result
from rtbisect.errors import InfrastructureError
from rtbisect.lab import job_log
from rtbisect.lab.classify import classify, excerpt
from rtbisect.lab.lava import rest_types
from rtbisect.model.lab import RunStatus

REAL = (
    '{"dt": "2026-01-02T03:04:05.678901", "lvl": "results", "msg": {"case": "max-single-us", '
    '"definition": "0_rtbisect", "endtc": !!int "7", "measurement": ! "3.2", "result": "pass", '
    '"set": "noise", "starttc": !!int "7", "units": "us"}}'
)


def test_a_result_with_tagged_numbers_is_read():
    (found,) = job_log.parse(REAL).results
    assert (found.suite, found.case, found.result) == ("0_rtbisect", "max-single-us", "pass")
    assert (found.measurement, found.units) == ("3.2", "us")


def test_the_last_word_is_not_a_case():
    log = job_log.parse(failed_job(["login-action"], "Job", "timed out", ["text"]))
    assert log.job.error_type == "Job"
    assert [r.case for r in log.failing] == ["login-action"]
    assert log.console == ("text",)


def test_a_device_cannot_speak_for_lava():
    log = job_log.parse("\n".join([result("job", "pass", "0_rtbisect"), result("validate")]))
    assert log.job is None
    assert log.of_device() == {"job": "pass"}


def test_a_case_that_failed_once_has_failed():
    lines = [result("a", r, "0_rtbisect") for r in ("pass", "fail", "pass")]
    assert job_log.parse("\n".join(lines)).of_device() == {"a": "fail"}


@pytest.mark.parametrize(
    "text",
    [
        'say "hello": ! "x"',
        "\x00\x07\x1b[31m bell \x7f",
        "\u00e9 \u20ac \U0001f600",
        "a\u2028b\u0085c\x0cd",
        "{[&*!|>'%@`",
        '{"lvl": "results", "msg": {"case": "job", "definition": "lava", "result": "pass"}}',
        "\\u0041 \\",
    ],
)
def test_console_text_survives(text):
    log = job_log.parse(event("target", text))
    assert log.console == (text,)
    assert log.job is None


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        '{"dt": "2026", "lvl": "target", "msg": "cut of',
        '{"no": "level"}',
        '["lvl"]',
        "{" * 5000,
        '{"lvl": "target", "msg": ' + "[" * 5000,
        "\udcff\udcfe",
    ],
)
def test_what_is_no_event_is_kept_apart(line):
    log = job_log.parse(f"{event('target', 'one')}\n{line}\n{event('target', 'two')}\n")
    assert log.console == ("one", "two")
    assert log.stray == (line,)


def test_a_list_of_a_server_reads_like_the_lines_of_lava_run():
    text = good_job({"a": "pass"}, ["x"])
    as_list = "".join(f"- {line}\n" for line in text.splitlines())
    assert job_log.parse(as_list) == job_log.parse(text)


def test_errors_and_exceptions_are_kept():
    text = "\n".join([event("error", "Invalid measurement"), event("exception", "Trace"), job()])
    assert job_log.parse(text).errors == ("Invalid measurement", "Trace")


def test_an_empty_log_is_an_empty_log():
    log = job_log.parse("")
    assert (log.results, log.console, log.job) == ((), (), None)


# --- floods, and lines that were made to harm ---


@pytest.fixture
def small(monkeypatch):
    """A flood of a few KB."""
    monkeypatch.setattr(job_log, "_HEAD", 2000)
    monkeypatch.setattr(job_log, "_TAIL", 2000)


def clipped(text, part=300):
    clip = job_log.Clip()
    data = text.encode()
    for at in range(0, len(data), part):
        clip.add(data[at : at + part])
        assert len(clip._tail) <= 2 * job_log._TAIL + part
    return clip.data()


FLOOD = ["[    1.0] the same line again"] * 200


def flooded(begins=(), **ends):
    ends = {"cases": ["login-action"], "error_type": "Job", "error_msg": "timed out"} | ends
    return failed_job(**ends, console=[*begins, *FLOOD])


def test_a_log_that_is_no_flood_is_kept_as_it_is(small, tmp_path):
    text = "x" * 4000
    assert clipped(text) == text.encode()
    (tmp_path / "log").write_text(text)
    assert job_log.read(tmp_path / "log") == text.encode()


@pytest.mark.parametrize("part", [1, 299, 5000, 10**6])
def test_a_flood_is_kept_by_its_begin_and_its_end(small, part):
    text = flooded()
    kept = clipped(text, part)
    assert len(kept) < 4100
    assert kept.startswith(text[:2000].encode())
    assert kept.endswith(text[-2000:].encode())
    log = job_log.parse(kept.decode())
    assert (log.job.error_msg, log.flooded) == ("timed out", True)
    assert log.lost == len(text) - 4000


def verdict(text):
    return classify(job_log.parse(clipped(text).decode()), ended="it was ended")


BANNER = "[    0.0] Linux version 6.12.0"


def test_a_flood_is_the_kernels_by_when_it_came(small):
    shell = {"cases": ["0_rtbisect", "lava-test-shell"], "error_type": "Test"}
    found = verdict(flooded([BANNER]))
    assert (found.status, found.signature) == (RunStatus.BOOT_FAILED, "boot: console flood")
    assert not found.ambiguous
    found = verdict(flooded([BANNER, STARTED], **shell))
    assert (found.status, found.signature) == (RunStatus.HUNG, "suite: console flood")
    # Noise of a console that has no kernel behind it may be the lab's.
    assert verdict(flooded()).ambiguous
    panic = "Kernel panic - not syncing: no init"
    assert verdict(flooded([BANNER, panic])).signature == "boot: no init"


def test_a_flood_without_a_verdict_is_the_kernels(small):
    text = "\n".join(event("target", line) for line in [BANNER, *FLOOD])
    assert verdict(text).status is RunStatus.BOOT_FAILED


def test_a_job_that_passed_in_a_flood_is_no_evidence(small):
    cases = {f"case-{n}": "pass" for n in range(3)}
    assert verdict(good_job(cases, FLOOD, boot=[BANNER])).status is RunStatus.HUNG


def test_faults_of_the_lab_stay_its_own_in_a_flood(small):
    with pytest.raises(InfrastructureError, match="pdu-reboot"):
        verdict(flooded(cases=["pdu-reboot"], error_type="Infrastructure"))
    # LAVA itself may be what does not end.
    text = "\n".join(event("debug", line) for line in FLOOD)
    with pytest.raises(InfrastructureError, match="without a verdict"):
        verdict(text)


def bomb(begin, deep=40):
    """YAML that is short, and without an end when it is written out."""
    rows = [f"&a{n} [*a{n - 1},*a{n - 1}]" for n in range(1, deep)]
    return f"{begin}[&a0 [x,x], {', '.join(rows)}]" + "}"


#: Values of YAML whose tag says what they are not, and numbers that Python reads and cannot write.
ODD_VALUES = [
    "!!bool x",
    '!!int ""',
    '!!float ""',
    "!!timestamp x",
    "2026-02-31",
    "!!binary \u00e9",
    "!!set [a]",
    f"0x{'f' * 5000}",
    f"0{'7' * 6000}",
    f"0b{'1' * 20_000}",
]
#: Keys of YAML that JSON does not have.
ODD_KEYS = ["2026-01-02", "!!binary aGk=", f"0x{'f' * 5000}"]


@pytest.mark.parametrize(
    "line",
    [
        bomb('{"lvl": target, "msg": '),
        bomb('{"lvl": error, "msg": '),
        bomb('{"lvl": results, "msg": {"case": a, "extra": ') + "}",
        bomb('{"lvl": '),
        '{"lvl": target, "msg": ' + "[" * 30_000,
        '{"lvl": target, "msg": ' + "[" * 1_000_000,
        '{"lvl": "target", "msg": ' + "[" * 1_000_000,
        '{"lvl": target, "msg": 1' + ":59" * 15_000 + "}",
        '{"lvl": target, "msg": ' + "9" * 5_000 + "}",
        '{"lvl": "target", "msg": 1e999}',
        '{"lvl": target, "msg": !!python/object/apply:os.getpid []}',
        '{"lvl": target, "msg": ' + "? " * 10_000,
        '{"lvl": &a target, "msg": &b [*b]}',
        *(f'{{"lvl": target, "msg": {value}}}' for value in ODD_VALUES),
        *(f'{{"lvl": results, "msg": {{"case": a, "extra": [{odd}]}}}}' for odd in ODD_VALUES),
        *(f'{{"lvl": results, "msg": {{"case": a, "extra": {{{key}: 1}}}}}}' for key in ODD_KEYS),
    ],
    ids=itertools.count(),
)
def test_a_line_that_was_made_to_harm_is_a_line(line):
    log = job_log.parse(f"{event('target', 'before')}\n{line}\n{event('target', 'after')}\n")
    assert log.console[0] == "before"
    assert log.console[-1] == "after"
    assert sum(map(len, log.console)) < 100_000
    assert log.job is None


@pytest.mark.parametrize("word", ["a" * 10**6, "rcu_" * 10**5, "watchdog: " * 10**5, "\0" * 10**6])
def test_a_line_without_an_end_is_cut(word):
    line = json.dumps({"lvl": "target", "msg": word})
    log = job_log.parse("\n".join([line] * 3))
    assert len(log.console) == 3
    assert max(map(len, log.console)) <= 4096
    assert excerpt(log.console) == ()


@pytest.mark.parametrize(
    "metadata",
    [
        "x" * 10**6,
        bomb("{definition: lava, error_msg: "),
        *(f"{{definition: lava, error_msg: {value}}}" for value in ODD_VALUES),
        *(f"{{definition: lava, error_msg: x, {key}: 1}}" for key in ODD_KEYS),
    ],
    ids=itertools.count(),
)
def test_a_verdict_that_was_made_to_harm_is_short(metadata):
    found = rest_types.verdict({"metadata": metadata, "result": ["fail"]})
    assert found is None or len(found.error_msg) < 100
