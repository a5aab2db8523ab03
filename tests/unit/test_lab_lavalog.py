# SPDX-License-Identifier: GPL-2.0-or-later
import pytest
from lab_logs import event, failed_job, good_job, job, result

from rtbisect.lab import lavalog

REAL = (
    '{"dt": "2026-01-02T03:04:05.678901", "lvl": "results", "msg": {"case": "max-single-us", '
    '"definition": "0_rtbisect", "endtc": !!int "7", "measurement": ! "3.2", "result": "pass", '
    '"set": "noise", "starttc": !!int "7", "units": "us"}}'
)


def test_a_result_with_tagged_numbers_is_read():
    (found,) = lavalog.parse(REAL).results
    assert (found.suite, found.case, found.result) == ("0_rtbisect", "max-single-us", "pass")
    assert (found.measurement, found.units) == ("3.2", "us")


def test_the_last_word_is_not_a_case():
    log = lavalog.parse(failed_job(["login-action"], "Job", "timed out", ["text"]))
    assert log.job.error_type == "Job"
    assert [r.case for r in log.failing] == ["login-action"]
    assert log.console == ("text",)


def test_a_device_cannot_speak_for_lava():
    log = lavalog.parse("\n".join([result("job", "pass", "0_rtbisect"), result("validate")]))
    assert log.job is None
    assert log.of_device() == {"job": "pass"}


def test_a_case_that_failed_once_has_failed():
    lines = [result("a", r, "0_rtbisect") for r in ("pass", "fail", "pass")]
    assert lavalog.parse("\n".join(lines)).of_device() == {"a": "fail"}


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
    log = lavalog.parse(event("target", text))
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
    log = lavalog.parse(f"{event('target', 'one')}\n{line}\n{event('target', 'two')}\n")
    assert log.console == ("one", "two")
    assert log.stray == (line,)


def test_a_list_of_a_server_reads_like_the_lines_of_lava_run():
    text = good_job({"a": "pass"}, ["x"])
    as_list = "".join(f"- {line}\n" for line in text.splitlines())
    assert lavalog.parse(as_list) == lavalog.parse(text)


def test_errors_and_exceptions_are_kept():
    text = "\n".join([event("error", "Invalid measurement"), event("exception", "Trace"), job()])
    assert lavalog.parse(text).errors == ("Invalid measurement", "Trace")


def test_an_empty_log_is_an_empty_log():
    log = lavalog.parse("")
    assert (log.results, log.console, log.job) == ((), (), None)
