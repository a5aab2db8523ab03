# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report was written from, as a file beside it, so that it can be written again."""

from __future__ import annotations

from pathlib import Path

from rtbisect.errors import ConfigError
from rtbisect.model.report import ReportInput
from rtbisect.store import codec

INPUT = "input.json"


def input_json(report: ReportInput) -> str:
    """Everything, the commit graph too, in ASCII."""
    return codec.to_json(ReportInput, report) + "\n"


def read_input(folder: Path) -> ReportInput:
    """The input of the report in `folder`; ConfigError when there is none that can be read."""
    place = folder / INPUT
    try:
        return codec.from_json(ReportInput, place.read_bytes())
    except OSError as error:
        problem = f"{place}: {error.strerror}"
        raise ConfigError(problem, "the campaign has to be made again by this version") from error
    except ValueError as error:
        raise ConfigError(
            f"{place} cannot be read", "it was changed, or made by another version of rtbisect"
        ) from error
