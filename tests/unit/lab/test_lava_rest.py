# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of a LAVA server that are none, and tokens that it does not take."""

import pytest

from helpers.lava_rest_server import PAGE, TOKEN
from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.lab.lava.rest import GoneError
from rtbisect.model.lab import RunStatus

BAD_ANSWERS = [
    PAGE,
    b"",
    b"null",
    b"[]",
    b'{"detail": "a proxy"}',
    b'{"id": true}',
    b'{"id": 7}',
    b'{"id": 1e999}',
    b'{"id": ' + b"9" * 5000 + b"}",
    b"[" * 100_000,
    b"\xff\xfe\x00",
    (302, PAGE),
    (403, PAGE),
    (404, PAGE),
    (418, PAGE),
    (520, PAGE),
    (599, b"{}"),
]


@pytest.mark.parametrize("bad", BAD_ANSWERS, ids=range(len(BAD_ANSWERS)))
@pytest.mark.parametrize("asked", ["jobs/100/", "jobs/", "jobs/100/logs/"])
def test_one_bad_answer_does_not_orphan_a_job(bench, bad, asked):
    bench.server.logs = [bench.good]
    bench.server.looks = 2
    # A job without a log has an empty one.
    bad = bad or PAGE if asked.endswith("logs/") else bad
    bench.server.script = [(f"GET {asked}", bad)]
    assert bench.run(outage_s=60.0).complete
    assert len(bench.server.submitted()) == 1
    assert bench.server.cancelled == []


def test_an_outage_is_waited_out(bench):
    bench.server.logs = [bench.good]
    bench.server.script = [("GET jobs/100/", how) for how in (502, 503, "drop", 500)]
    assert bench.run(outage_s=60.0).status is RunStatus.COMPLETE
    assert sum("trying again" in line for line in bench.told) == 1


def test_pauses_grow_with_an_outage_and_begin_anew_with_the_next_one(bench):
    rest = bench.rest(outage_s=3600.0)
    for tries, pauses in ((7, [1, 2, 5, 10, 30, 30, 30]), (2, [1, 2])):
        bench.server.script = [("GET system/version/", 503)] * tries
        bench.paused.clear()
        assert rest.version()
        assert bench.paused == pauses


def test_an_outage_that_lasts_is_told(bench):
    bench.server.script = [("GET jobs/100/", 502)] * 99
    with pytest.raises(InfrastructureError, match="answers 502, for 0 s now") as caught:
        bench.run()
    assert not caught.value.retryable


def test_a_revoked_token_is_a_matter_of_configuration(bench):
    bench.token.write_text("00000000")
    with pytest.raises(ConfigError, match=r"does not take the token \(401\)"):
        bench.run()


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [("", 0o600, "holds no token"), ("a b", 0o600, "no token"), (TOKEN, 0o644, "by others")],
)
def test_a_token_file_is_looked_at(bench, text, mode, said):
    bench.token.write_text(text)
    bench.token.chmod(mode)
    with pytest.raises(ConfigError, match=said):
        bench.rest()
    bench.token.unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        bench.rest()


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"id": "x"}', b"[" * 100_000, b"\xff\xfe"])
def test_nonsense_is_no_answer_of_lava(bench, body):
    bench.server.script = [("GET jobs/", body)]
    with pytest.raises(InfrastructureError, match=r"LAVA|no id|no JSON"):
        bench.rest().job(1)
    bench.server.script = [("GET devices/", body)]
    with pytest.raises(InfrastructureError):
        bench.rest().devices("x")


def test_a_job_that_is_gone_is_told(bench):
    with pytest.raises(GoneError, match="has no jobs/7"):
        bench.rest().job(7)
    assert bench.rest().log(7) == b""


def test_what_the_server_calls_invalid_is_ours_to_correct(bench):
    bench.lab().preflight(bench.request())
    with pytest.raises(ConfigError, match="no job_name"):
        bench.rest().validate("a: b\n")
    bench.server.script = [("POST jobs/", 400)]
    with pytest.raises(ConfigError, match="refuses the job: as told"):
        bench.rest().submit("a: b\n")
