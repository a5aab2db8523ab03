# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report was written from, as a file beside it, so that it can be written again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from rtbisect.errors import ConfigError
from rtbisect.model.report import ReportInput

if TYPE_CHECKING:
    from pathlib import Path

INPUT = "input.json"


def input_json(report: ReportInput) -> str:
    """Everything, the commit graph too, in ASCII."""
    found = TypeAdapter(ReportInput).dump_python(report, mode="json")
    return json.dumps(found, ensure_ascii=True, separators=(",", ":")) + "\n"


def read_input(folder: Path) -> ReportInput:
    """The input of the report in `folder`; ConfigError when there is none that can be read."""
    place = folder / INPUT
    try:
        return TypeAdapter(ReportInput).validate_json(place.read_bytes())
    except OSError as error:
        said = f"{place}: {error.strerror}"
        raise ConfigError(said, "the campaign has to be made again by this version") from error
    except ValidationError as error:
        raise ConfigError(
            f"{place} cannot be read", "it was changed, or made by another version of rtbisect"
        ) from error
