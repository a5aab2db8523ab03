# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a campaign, from all that its store knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.campaign.earlier import earlier_figures
from rtbisect.config.paths import data
from rtbisect.model.lab import Run
from rtbisect.report.input_file import read_input
from rtbisect.report.page import write_page
from rtbisect.store.journal import recorded

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.store.campaigns import CampaignRecord, CampaignStore


def page_beside_draft(store: CampaignStore, record: CampaignRecord) -> Path:
    """Write the page of a campaign beside its draft; gives its path. ConfigError where there is no
    draft, or none that can be read.
    """
    folder = record.draft().folder
    runs = recorded(store.database, record.id, Run)
    report = read_input(folder)
    earlier = earlier_figures(store, record.id, report.result.metric)
    return write_page(report, runs, folder, data("reports"), earlier)
