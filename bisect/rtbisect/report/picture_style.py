# SPDX-License-Identifier: GPL-2.0-or-later
"""How a picture looks that stands alone: as in a page, with the light colours of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def picture_style(templates: Path) -> str:
    """The rules of `page.css` on pictures, with its light colours in their place: a picture that is
    shown alone, as an image, gets none from around it.
    """
    text = (templates / "page.css").read_text("utf-8")
    colours = dict(re.findall(r"(--[a-z]+): (#[0-9a-f]+)", text.partition("@media")[0]))
    rules = " ".join(line for line in text.splitlines() if line.startswith("svg "))
    rules = re.sub(r"var\((--[a-z]+)\)", lambda found: colours[found[1]], rules)
    return rules.replace("currentColor", colours["--ink"])
