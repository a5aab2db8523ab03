# SPDX-License-Identifier: GPL-2.0-or-later
"""Output: one JSON object or readable text on stdout, everything else on stderr."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from rtbisect.cli.options import site_path
from rtbisect.cli.streams import drop_stdout, json_line, keep_traceback, write
from rtbisect.config.site_file import Site, SiteFiles
from rtbisect.errors import InfrastructureError, InternalError, RtbisectError
from rtbisect.model.kinds.pipeline import Searches
from rtbisect.process.command import one_line
from rtbisect.report.campaign_screen import left_of
from rtbisect.report.text import wrap
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.outbox import Outbox
from rtbisect.words.speak import harmless, speak
from rtbisect.words.strip import BLOCKS

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.model.campaign import CampaignRequest
    from rtbisect.model.finding import Finding
    from rtbisect.model.ports import Left, Screen


#: On something that is not a terminal, progress of the same work is told this often.
PLAIN_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Output:
    """What every command works with (click's object): its state, and how it answers."""

    #: The state directory.
    state: Path
    #: Site files, each read once a command.
    sites: SiteFiles = field(default_factory=SiteFiles)
    #: Answers are one JSON object; else lines for a person.
    as_json: bool = False

    def site(self, option: Path | None) -> Site:
        """The site file that a command works with."""
        return self.sites.at(site_path(option))

    def tell_fault(self, progress: Screen, what: str, error: RtbisectError) -> None:
        """Tell an error that does not stop the rest of a command."""
        if isinstance(error, InternalError):
            keep_traceback(error, self.state)
        progress.say(f"rtbisect: {what}: {one_line(str(error))}")

    @property
    def store(self) -> CampaignStore:
        """The campaigns, opened anew."""
        return CampaignStore(self.state)

    @property
    def outbox(self) -> Outbox:
        """The mails that were approved, opened anew."""
        return Outbox(self.state)

    def answer(self, data: Mapping[str, Any], text: str) -> None:
        """The answer of a command. BrokenPipeError when nobody reads it any more."""
        try:
            lines = "\n".join(harmless(line) for line in text.rstrip("\n").split("\n"))
            write(sys.stdout, json_line(data) if self.as_json else lines + "\n")
        except BrokenPipeError:
            raise
        except KeyboardInterrupt:
            # What is still buffered would wait for its reader when Python ends.
            drop_stdout()
            raise
        except OSError as error:
            drop_stdout()
            raise InfrastructureError(
                f"standard output: {error.strerror}",
                "the answer is kept where there is a campaign: see `rtbisect status`",
            ) from error


def on_terminal(stream: TextIO | None) -> bool:
    """Whether a person sees the stream; one that the caller closed is None."""
    return stream is not None and stream.isatty()


def takes_blocks(stream: TextIO | None) -> bool:
    """Whether to draw with block characters: what is piped, or no UTF-8, gets digits."""
    if stream is None or not on_terminal(stream):
        return False
    try:
        BLOCKS.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def fitted(line: str, first: str = "  ") -> str:
    """A line of an answer behind `first`: on a terminal broken between words, else as it is."""
    if not on_terminal(sys.stdout):
        return f"{first}{line}"
    return wrap(line, max(20, shutil.get_terminal_size().columns), first=first, rest="    ")


class PlainProgress:
    """ports.Screen on stderr: plain lines, and on a terminal one line that is rewritten."""

    def __init__(self) -> None:
        self._terminal = on_terminal(sys.stderr)
        self._last = ("", 0.0)
        self._open = False

    def begin(self, request: CampaignRequest) -> None:
        """Lines are the same whatever was asked."""

    def shows(self, finding: Finding) -> bool:
        """A picture only where the sentence beside it was told."""
        return finding.kind == Searches.SPREAD and not finding.data["moved"]

    def say(self, line: str) -> None:
        self._close()
        _tell(harmless(line) + "\n")

    def step(self, what: str, done: int, total: int, left: Left | None) -> None:
        estimate = f", {speak(left_of(left))}" if left else ""
        line = harmless(f"[{done}/{total}] {what}{estimate}")
        if self._terminal:
            _tell("\r\033[K" + line)
            self._open = True
        elif what != self._last[0] or time.monotonic() - self._last[1] >= PLAIN_EVERY_S:
            _tell(line + "\n")
            self._last = (what, time.monotonic())

    def _close(self) -> None:
        if self._open:
            _tell("\n")
            self._open = False


def _tell(text: str) -> None:
    """Progress that nobody sees is no reason to stop a campaign."""
    with suppress(OSError):
        write(sys.stderr, text)
