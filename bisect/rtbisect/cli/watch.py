# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect watch`: look at every configured tree, check what is new, bisect what regressed."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rtbisect.campaign import assemble, resolve, session
from rtbisect.cli import check, result
from rtbisect.cli.options import json_option, seed_option, site_option, site_path
from rtbisect.cli.output import Output, PlainProgress, keep_traceback
from rtbisect.config.site_file import SiteFiles, load_site
from rtbisect.errors import Exit, InternalError, RtbisectError
from rtbisect.model.campaign import CampaignRequest, Level, Outcome
from rtbisect.process.command import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


EVERY_S = 900

#: Outcomes after which a draft tells the regression.
TOLD = (
    Outcome.CULPRIT,
    Outcome.CULPRIT_SET,
    Outcome.MULTIPLE_CULPRITS,
    Outcome.MERGE_CULPRIT,
    Outcome.LAYOUT_SENSITIVE,
)


@click.command(epilog="Example: rtbisect watch --once --json")
@click.option("--once", is_flag=True, help="Look once and exit (for timers).")
@seed_option
@site_option
@json_option
@click.pass_obj
def watch(output: Output, once: bool, seed: int, site: Path | None) -> int:
    """Check new revisions of all configured trees; bisect and draft where one regressed.

    Exit code 0: nothing regressed; 1: a regression was found (see the drafts); more: a tree
    could not be judged.
    """
    place = site_path(site)
    while True:
        # A build_config with several variants stands in the list more than once.
        targets = load_site(place).kernelci.targets()
        rows = [_one(output, place, name, seed) for name in dict.fromkeys(t.name for t in targets)]
        lines = [f"{row['build_config']}: {row['level']} {row['note']}".rstrip() for row in rows]
        output.answer({"trees": rows}, "\n".join(lines))
        if once:
            return max((int(row["exit"]) for row in rows), default=0)
        time.sleep(EVERY_S)


def _one(output: Output, place: Path, name: str, seed: int) -> dict[str, Any]:
    """Look at one build_config. A fault of one tree does not stop the others."""
    # A round may take hours, in which a person may change the file.
    sites = SiteFiles()
    row: dict[str, Any] = {
        "build_config": name,
        "good": None,
        "bad": None,
        "campaigns": [],
        "note": "",
    }
    try:
        seen = output.store.checked_revisions(name)
        good, bad = resolve.base_for_watch(output.state, sites.at(place), name, _judged(seen))
        row |= {"good": good, "bad": bad}
        if bad in seen:
            # A question that is open stays open until the tip moves or a person asks again.
            code = Exit.UNDECIDED if seen[bad] == Level.UNDECIDED else Exit.ANSWERED
            return row | {"level": "unchanged", "note": f"was {seen[bad]}", "exit": int(code)}
        if good == bad:
            return row | {"level": "unchanged", "exit": int(Exit.ANSWERED)}
        asked = CampaignRequest(
            kind="check", site=str(place), tree=name, older=good, newer=bad, seed=seed
        )
        return row | _judge(output, row, asked, sites)
    except RtbisectError as error:
        if isinstance(error, InternalError):
            keep_traceback(error, output.state)
        PlainProgress().say(f"rtbisect: {name}: {one_line(str(error))}")
        return row | {"level": "error", "note": str(error), "exit": int(error.exit_code)}


def _judge(
    output: Output, row: dict[str, Any], request: CampaignRequest, sites: SiteFiles
) -> dict[str, Any]:
    """Check a new tip and bisect what regressed; the tip is remembered when all is done."""
    record = session.once(output.state, request, PlainProgress(), sites=sites)
    row["campaigns"].append(record.id)
    code = check.exit_of_check(record.result)
    level = session.level_of(record.result) if record.result else Level.UNDECIDED.value
    keep = level
    note = ""
    if code == Exit.REGRESSED:
        found = session.once(
            output.state, replace(request, kind="bisect"), PlainProgress(), sites=sites
        )
        row["campaigns"].append(found.id)
        note = result.headline(found, found.result) if found.result else ""
        if found.result is None or found.result.outcome not in TOLD:
            # No draft tells it: the next tip is again compared with the last one that passed.
            keep = Level.UNDECIDED.value
    store = output.store
    store.mark_checked(request.tree, request.newer, keep, assemble.SystemClock().now_iso())
    return {"level": level, "exit": code, "note": note}


def _judged(seen: Mapping[str, str]) -> list[str]:
    """Tips that were judged, oldest first: the newest is what the next one is compared with.

    A regression that was told is part of the base from then on, so that every later tip does
    not tell it again.
    """
    return [sha for sha, level in seen.items() if level in ("pass", "regressed")]
