# SPDX-License-Identifier: GPL-2.0-or-later
"""What all tiers share: a skipped test fails a run that is to show that everything works."""

import pytest

SKIPPED = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser):
    parser.addoption("--no-skips", action="store_true", help="fail when a test is skipped")


def pytest_configure(config):
    config.stash[SKIPPED] = {}
    if config.getoption("--no-skips"):
        config.pluginmanager.register(_NoSkips(config), "no-skips")


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
