# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a campaign that writes no mail: bisect.log, campaign.log, result.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.model.command import NO_KERNEL
from rtbisect.model.report import Report, ReportState
from rtbisect.report.campaign_log import story as log_of_story
from rtbisect.report.draft import bisect_log_of, folder_of, keep, result_json
from rtbisect.report.posterior import bars

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.model.report import ReportInput

#: Readers of result.json know these keys.
NO_HOST = {name: NO_KERNEL[name] for name in ("device", "profile")}


class LogKeeper:
    """Implements ports.Mailer for `rtbisect run`: nothing to send, the answer in files."""

    def __init__(self, out_dir: Path) -> None:
        self.out_dir = out_dir

    def draft(self, report: ReportInput, story: str) -> Report:
        """Keep the logs; `path` of the report is that of bisect.log."""
        folder = folder_of(self.out_dir, report.campaign)
        log = bisect_log_of(report)
        question = f"Which of {len(report.graph)} commits of {report.repo} changed the figure?"
        campaign_log = log_of_story(story.splitlines(), report.result, report.summary, question)
        if report.result.candidates:
            drawn = bars(report.result.candidates, report.graph)
            campaign_log += "\n".join(["", "Posterior over commits", "", *drawn]) + "\n"
        keep(folder / "campaign.log", campaign_log)
        keep(folder / "result.json", result_json(report, **NO_HOST))
        keep(folder / "bisect.log", log)
        path = str(folder / "bisect.log")
        return Report(
            campaign=report.campaign,
            state=ReportState.DRAFT,
            message_id=report.message_id,
            eml="",
            path=path,
            bisect_log=log,
            story=campaign_log,
        )
