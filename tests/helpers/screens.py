# SPDX-License-Identifier: GPL-2.0-or-later
"""Screens of recorded campaigns: as text, and as pictures of a terminal."""

import re
from html import escape

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

from rtbisect.cli.live import LABEL, drawn

COLUMNS = 80
#: A terminal without fonts from elsewhere, as rich fills it in.
_PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {terminal_width} {terminal_height}" role="img"
 xml:space="preserve">
<!-- SPDX-License-Identifier: GPL-2.0-or-later; by tests/helpers/screens.py -->
<title>TITLE</title>
<desc>DESCRIPTION</desc>
<style>
text {{ font: {char_height}px "DejaVu Sans Mono", monospace; white-space: pre; }}
{styles}
</style>
<rect width="{terminal_width}" height="{terminal_height}" fill="#fff"/>
{matrix}
</svg>
"""


def lines_of(rows):
    """What is on a terminal of so many columns without colour."""
    for row in rows:
        line = f"{row.label:<{LABEL}}" + "".join(text for text, _ in row.parts)
        yield (line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…").rstrip()


def text_of(seen):
    """Several looks at it, one below the other."""
    return "\n".join("".join(f"{line}\n" for line in lines_of(rows)) for rows in seen)


def picture_of(rows, title):
    """The same in colour, as a file of its own."""
    console = Console(
        record=True, width=COLUMNS, file=_Nowhere(), force_terminal=True, color_system="truecolor",
        legacy_windows=False, _environ={},
    )  # fmt: skip
    console.print(drawn(rows))
    text = console.export_svg(
        title="", theme=DEFAULT_TERMINAL_THEME, code_format=_PICTURE, unique_id="screen"
    )
    text = re.sub(r' clip-path="[^"]*"', "", text)
    described = escape(" | ".join(lines_of(rows)), quote=False)
    return text.replace("TITLE", escape(title)).replace("DESCRIPTION", described)


class _Nowhere:
    def write(self, text):
        pass

    def flush(self):
        pass
