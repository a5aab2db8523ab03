# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of docs/gallery.md: those of pages of recorded campaigns, each as a file of its own.

    PYTHONPATH=tests:bisect .venv/bin/python -m helpers.gallery docs/gallery

A page draws across in percent of its width, and takes its colours from its style. A picture alone
has a width of its own, and the light colours.
"""

import re
import sys
import tempfile
from pathlib import Path

import pytest

from helpers.recorded import recording, rewritten
from helpers.screens import picture_of
from rtbisect.campaign.page import page_beside_draft
from rtbisect.config.paths import data
from rtbisect.report.picture_style import picture_style

#: By its file: the campaign, and the name of the picture in its page.
PICTURES = {
    "boots.svg": ("rcu", "boots"),
    "history.svg": ("rcu", "history"),
    "order.svg": ("rcu", "order"),
}
#: Screens of the first of them, by the look at it.
SCREENS = {"screen-search.svg": 0, "screen-proof.svg": -1}
_WIDTH = 736


def pictures():
    """The text of each picture by its file."""
    drawn = {name: _drawn_of(name) for name, _ in PICTURES.values()}
    _page, seen = drawn["rcu"]
    screens = {file: picture_of(seen[look], "rtbisect demo") for file, look in SCREENS.items()}
    return screens | {
        file: _alone(drawn[campaign][0], picture) for file, (campaign, picture) in PICTURES.items()
    }


def _drawn_of(name):
    """The page that today's program makes of a recorded campaign, and its screens."""
    document, _ = recording(name)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        found = rewritten(document, folder, patch)
        page = page_beside_draft(found.store, found.store.get(found.campaign)).read_text("utf-8")
        return page, found.seen


def _alone(page, picture):
    start = page.index(f'<svg role="img" aria-labelledby="{picture}-title')
    text = page[start : page.index("</svg>", start)]
    height = re.search(r'height="([0-9.]+)"', text)[1]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{height}">\n'
        "<!-- SPDX-License-Identifier: GPL-2.0-or-later; by tests/helpers/gallery.py -->\n"
        f"<style>{picture_style(data('reports'))}</style>\n"
        '<rect width="100%" height="100%" fill="#fff"/>'
    )
    lines = [line for line in text.partition("\n")[2].splitlines() if line.strip()]
    return "\n".join([head, *lines, "</svg>", ""])


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(exist_ok=True)
    for file, drawn in pictures().items():
        (place / file).write_text(drawn, "utf-8")
