# SPDX-License-Identifier: GPL-2.0-or-later
"""A picture as a file of docs/, which names its licence and the tool that draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.config.paths import data
from rtbisect.report.run_plot import svg_of

if TYPE_CHECKING:
    from rtbisect.report.page_pictures import Picture


def licensed_svg(picture: Picture, title: str, tool: str) -> str:
    """`tool`: its path from the top of the repository."""
    head, _, rest = svg_of(picture, data("reports"), title).partition("\n")
    return f"{head}\n<!-- SPDX-License-Identifier: GPL-2.0-or-later; by {tool} -->\n{rest}"
