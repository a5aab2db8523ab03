# SPDX-License-Identifier: GPL-2.0-or-later
"""What all tiers share: a skipped test fails a run that is to show that everything works, how many
examples hypothesis draws, and the language in which findings are told.
"""

from importlib import import_module

import pytest
from hypothesis import HealthCheck, settings

#: The same few examples at every change, others and many more with `--hypothesis-profile=night`
#: (`make test-night`). Neither has a deadline: a busy machine is slow.
CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", CALM, max_examples=25, derandomize=True)
settings.register_profile("night", CALM, max_examples=400, print_blob=True)
settings.load_profile("quick")

SKIPPED = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser):
    parser.addoption("--no-skips", action="store_true", help="fail when a test is skipped")
    parser.addoption(
        "--nonsense",
        action="store_true",
        help="tell findings in made-up words, without the tests that are about words",
    )


def pytest_configure(config):
    config.stash[SKIPPED] = {}
    if config.getoption("--no-skips"):
        config.pluginmanager.register(_NoSkips(config), "no-skips")
    if config.getoption("--nonsense"):
        # Nothing of the program is imported where it is not asked for.
        sentences = import_module("rtbisect.words.sentences")
        # A mail goes nowhere that an outsider cannot read: the lint would refuse it.
        approved = any("integration" in str(place) for place in config.args)
        mails = (sentences.report, sentences.recipe) if approved else ()
        kept = {kind for room in mails for kind in room.SENTENCES}
        sentences.words_of = import_module("helpers.nonsense").nonsense(sentences.words_of, kept)
        config.option.markexpr = "not words"


class _NoSkips:
    """Keeps what was skipped, and says at the end that the run failed by it."""

    def __init__(self, config):
        self._skipped = config.stash[SKIPPED]

    def _keep(self, report):
        if report.skipped and not hasattr(report, "wasxfail"):
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            self._skipped[report.nodeid] = why

    def pytest_runtest_logreport(self, report):
        self._keep(report)

    def pytest_collectreport(self, report):
        self._keep(report)

    def pytest_sessionfinish(self, session, exitstatus):
        if self._skipped and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for test, why in self._skipped.items():
            terminalreporter.line(f"SKIPPED, which is a failure here: {test}: {why}", red=True)
