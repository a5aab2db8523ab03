# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign on one page of HTML, its pictures beside it: no script, nothing from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.report.bisect_log import bisect_log_of
from rtbisect.report.draft import Templates
from rtbisect.report.pictures import draw_page
from rtbisect.report.reproduce import Published, in_data, lines_of, recipe
from rtbisect.report.template_values import Bot, Detail, context
from rtbisect.store.artefacts import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rtbisect.model.lab import Run
    from rtbisect.model.report import ReportInput

PAGE = "index.html"

#: Pictures in their order, and what they show.
PICTURES = {
    "posterior.png": "Which commit: posterior probability",
    "boots.png": "Each boot of both sides",
    "trend.png": "Boots in the order of the campaign",
    "cpus.png": "By revision and CPU: median over boots",
}

#: Of the draft, as far as they are there.
DRAFT = "report.eml"
_FILES = (DRAFT, "campaign.log", "bisect.log", "result.json")


def write_page(
    report: ReportInput, runs: Sequence[Run], folder: Path, templates: Path, bot: Bot
) -> Path:
    """Draw the pictures and write the page into `folder`, where the draft lies; gives its path."""
    draw_page(report, runs, folder)
    mail_values = context(report, bot, bisect_log_of(report), Detail())
    parts = (
        ("Console of a boot that stands still", mail_values["console"]),
        ("Measured (over boots of each kernel)", mail_values["factors"]),
        ("Checks on fresh boots", mail_values["checks"]),
        ("Judged metrics of the two ends", mail_values["ends"]),
        ("What the change is made of", mail_values["origins"]),
        ("Machine and kernel", mail_values["machine"]),
        ("Reproduce", lines_of((*recipe(report, Published()), *in_data(report)))),
    )
    values = mail_values | {
        "campaign": report.campaign,
        "pictures": [
            {"file": name, "title": title}
            for name, title in PICTURES.items()
            if (folder / name).is_file()
        ],
        "parts": parts,
        "files": [name for name in _FILES if (folder / name).is_file()],
    }
    # Subjects and names are foreign: they are text, not markup.
    text = Templates(templates, markup=True).rendered("page.html.j2", values)
    write_whole(folder / PAGE, text.encode("utf-8"), mode=0o600)
    return folder / PAGE
