# SPDX-License-Identifier: GPL-2.0-or-later
"""Templates of mails and of the page, and what becomes of one that does not work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError

from rtbisect.errors import ConfigError
from rtbisect.report.text import wrap

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Templates:
    """The templates of a folder; with `markup` all that is printed is escaped."""

    def __init__(self, folder: Path, *, markup: bool = False) -> None:
        self._folder = folder
        self._environment = Environment(
            loader=FileSystemLoader(folder),
            undefined=StrictUndefined,
            autoescape=markup,  # noqa: S701  (mails have no markup to escape)
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters["prose"] = wrap
        self._environment.filters["bullet"] = _bullet

    def rendered(self, template: str, values: Mapping[str, Any]) -> str:
        """A template with its values; ConfigError where it is missing, or asks for others."""
        try:
            return self._environment.get_template(template).render(values)
        except TemplateError as error:
            raise ConfigError(
                f"template {template} in {self._folder} does not work: {error}",
                "take the one that comes with rtbisect",
            ) from error


def _bullet(text: str) -> str:
    return wrap(text, first="- ", rest="  ")
