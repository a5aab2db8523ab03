# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen of a campaign on a terminal: redrawn in place, what is said stands above it."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, Literal

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from rtbisect.cli.output import PlainProgress, on_terminal, takes_blocks
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.report.campaign_screen import CampaignScreen, Tone
from rtbisect.words.speak import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rtbisect.model.campaign import CampaignRequest
    from rtbisect.model.finding import Finding
    from rtbisect.model.ports import Left, Screen
    from rtbisect.report.campaign_screen import Row

#: Columns of the labels, and of a picture at most.
LABEL, _PICTURE = 13, 130
#: A second is what a person sees of a time.
_REFRESH_PER_S = 2
_STYLES = {
    Tone.PLAIN: "", Tone.SOFT: "dim", Tone.STRONG: "bold", Tone.OLDER: "green", Tone.NEWER: "red",
}  # fmt: skip


@contextmanager
def screen() -> Iterator[Screen]:
    """Where a campaign is seen while it runs: in place on a terminal that can, else by lines."""
    if sys.stderr is None:
        yield PlainProgress()
        return
    console = console_on(sys.stderr)
    if not console.is_terminal or console.is_dumb_terminal:
        yield PlainProgress()
        return
    live = LiveScreen(console, ascii_only=not takes_blocks(sys.stderr))
    try:
        yield live
    finally:
        live.close()


def console_on(stream: IO[str]) -> Console:
    """A console whose faults stop no campaign. It heeds NO_COLOR and COLUMNS."""
    forgiving: Any = _Forgiving(stream)
    return Console(file=forgiving, highlight=False, markup=False, emoji=False)


class LiveScreen:
    """ports.Screen on a terminal."""

    def __init__(self, console: Console, *, ascii_only: bool) -> None:
        self._console = console
        self._ascii_only = ascii_only
        self._campaign: CampaignScreen | None = None
        #: Another thread draws while facts come in.
        self._lock = threading.Lock()
        self._live = Live(
            console=console,
            get_renderable=self._drawn,
            refresh_per_second=_REFRESH_PER_S,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def begin(self, request: CampaignRequest) -> None:
        self._campaign = CampaignScreen(request=request)
        self._live.start()

    def shows(self, finding: Finding) -> bool:
        with self._lock:
            shown = self._campaign is not None and self._campaign.hear(finding)
        # An answer that goes elsewhere does not stand below the picture.
        return shown and (finding.kind != Searches.OUTCOME or on_terminal(sys.stdout))

    def say(self, line: str) -> None:
        self._console.print(Text(harmless(line)))

    def step(self, what: str, done: int, total: int, left: Left | None) -> None:  # noqa: ARG002
        with self._lock:
            if self._campaign is not None:
                self._campaign.step(total, left)

    def close(self) -> None:
        """Leave the last picture, and give the cursor back."""
        with self._lock:
            if self._campaign is not None:
                self._campaign.end()
        self._live.stop()

    def _drawn(self) -> Group:
        if self._campaign is None:
            return Group()
        width = max(8, min(_PICTURE, self._console.width - LABEL - 1))
        with self._lock:
            rows = list(self._campaign.rows(width, ascii_only=self._ascii_only))
        return drawn(rows, ascii_only=self._ascii_only)


def drawn(rows: Iterable[Row], *, ascii_only: bool = False) -> Group:
    """The lines with their labels, in colour; what does not fit is cut off. On a terminal without
    UTF-8 a character that it cannot show would be escaped, and make a line wider than it is.
    """
    lines = []
    overflow: Literal["crop", "ellipsis"] = "crop" if ascii_only else "ellipsis"
    for row in rows:
        line = Text(no_wrap=True, overflow=overflow)
        line.append(f"{row.label:<{LABEL}}", style="dim")
        for text, tone in row.parts:
            shown = harmless(text)
            if ascii_only:
                shown = shown.encode("ascii", "replace").decode("ascii")
            line.append(shown, style=_STYLES[tone])
        lines.append(line)
    return Group(*lines)


class _Forgiving:
    """A stream whose faults nobody sees: a terminal that is gone stops no campaign."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
