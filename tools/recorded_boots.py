# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of campaigns, as tables of them ask for them on their command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.config.paths import state_dir
from rtbisect.model.lab import Run
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import recorded

if TYPE_CHECKING:
    import argparse


def asked_for(parser: argparse.ArgumentParser) -> tuple[argparse.Namespace, list[Run]]:
    """The words of the command line, campaigns among them, and all boots of these campaigns."""
    parser.add_argument("campaign", nargs="+")
    parser.add_argument("--state", type=Path)
    asked = parser.parse_args()
    database = CampaignStore(state_dir(asked.state)).database
    return asked, [run for each in asked.campaign for run in recorded(database, each, Run)]
