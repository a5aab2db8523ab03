# SPDX-License-Identifier: GPL-2.0-or-later
"""A mailer whose drafts lie in a folder of the test."""

import pytest

from helpers.report_parts import settings
from rtbisect.report.draft import DraftMailer


@pytest.fixture
def mailer(tmp_path):
    return DraftMailer(settings(tmp_path))
