# SPDX-License-Identifier: GPL-2.0-or-later
"""Options that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect.errors import ConfigError
from rtbisect.model.command import SURE

if TYPE_CHECKING:
    from rtbisect.model.campaign import Sought


class WholeNumber(click.IntRange):
    """A number with bounds, by the name that help and errors call it."""

    name = "whole number"


def _answer_in_json(context: click.Context, _option: click.Parameter, as_json: bool) -> None:
    context.obj = replace(context.obj, as_json=as_json)


def answers(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the `Output` for its answer as the first argument, and the option --json."""
    json_option = click.option(
        "--json", is_flag=True, expose_value=False, callback=_answer_in_json,
        help="Print one JSON object on stdout instead of text.",
    )  # fmt: skip
    return json_option(click.pass_obj(command))


site_option = click.option(
    "--site",
    type=click.Path(path_type=Path),
    help="Site file (default: $RTBISECT_SITE, else ./site.yaml).",
)
suite_option = click.option(
    "--suite", help="Suite to judge, such as ipi; docs/suites/ has a page on each."
)
metric_option = click.option("--metric", help="Metric of the suite (default: its primary one).")
seed_option = click.option(
    "--seed",
    type=WholeNumber(0, 2**63 - 1),
    default=0,
    help="Seed of every random choice (default: 0).",
)
#: Of the commands that a person answers for.
by_option = click.option(
    "--by", required=True, help="Your name or address, as the site file has it."
)
send_option = click.option(
    "--send", "queue", is_flag=True, help="Put the mail into the outbox (default: only show it)."
)
good_option = click.option(
    "--good",
    required=True,
    multiple=True,
    help="Revision without the regression. May be repeated: all bound the range, one is measured.",
)
bad_option = click.option(
    "--bad", required=True, multiple=True, help="Revision with the regression."
)
find_fix_option = click.option(
    "--find-fix",
    is_flag=True,
    help="Find the commit that fixed it: --bad is the older revision, --good the newer one.",
)


def _check_sure(
    _context: click.Context, option: click.Parameter, sure: float | None
) -> float | None:
    least, most = SURE
    # A number that is none is no larger than any other.
    if sure is not None and not least <= sure <= most:
        raise ConfigError(
            f"{option.opts[0]} {sure:g} is out of range", f"give {least:g} to {most:g}"
        )
    return sure


_UNITS_S = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def _seconds(_context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(s|m|min|h|)", text.strip())
    if found is None:
        raise ConfigError(f"{option.opts[0]} {text} is not a time", "write it as 90s, 30m or 2h")
    return float(found[1]) * _UNITS_S[found[2]]


time_option = click.option(
    "--time-budget",
    "time_s",
    callback=_seconds,
    metavar="TIME",
    help="Start no run after this time (90s, 30m, 2h), and answer with what is known.",
)

sure_option = click.option(
    "--sure",
    type=float,
    callback=_check_sure,
    help="Your prior probability that the change is in the range, 0.05 to 0.99 (default: 0.8;"
    " of `bisect` what a check of these ends gave). A lower one takes more runs or boots to name a"
    " commit.",
)


def older_and_newer(
    sought: Sought, good: tuple[str, ...], bad: tuple[str, ...]
) -> tuple[tuple[str, ...], str]:
    """The older ends and the newer one; ConfigError where there are several newer ones."""
    older, newer = sought.ends(good, bad)
    if len(set(newer)) > 1:
        option = sought.ends("--good", "--bad")[1]
        raise ConfigError(
            f"{option} is given {len(newer)} times", f"give one: a search ends at one {option[2:]}"
        )
    return older, newer[0]


def site_path(option: Path | None) -> Path:
    """The site file to use; ConfigError when there is none."""
    place = option or Path(os.environ.get("RTBISECT_SITE") or "site.yaml")
    if not place.is_file():
        raise ConfigError(
            f"no site file {place}",
            "give one with --site; site.example.yaml is an example",
        )
    return place.absolute()
