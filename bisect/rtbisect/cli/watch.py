# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect watch`: look at every configured tree, check what is new, bisect what regressed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbisect.campaign import assemble, resolve, session
from rtbisect.cli import check, result
from rtbisect.cli.options import answers, seed_option, site_option, site_path
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.cli.streams import fault_of
from rtbisect.config.site_file import SiteFiles, load_site
from rtbisect.errors import Exit, Interrupted, RtbisectError
from rtbisect.model.campaign import CampaignKind, CampaignRequest, Level, Outcome

if TYPE_CHECKING:
    from rtbisect.store.campaigns import CampaignRecord

EVERY_S = 900

#: What is remembered of a tip that nothing was there to compare with.
FIRST_SEEN = "first-seen"

#: What stands in the place of a level where a person has stopped a campaign.
STOPPED = "stopped"

#: Outcomes after which a draft tells the regression.
DRAFTED = (
    Outcome.CULPRIT,
    Outcome.CULPRIT_SET,
    Outcome.MULTIPLE_CULPRITS,
    Outcome.MERGE_CULPRIT,
    Outcome.LAYOUT_SENSITIVE,
    Outcome.GRADUAL,
)


@click.command(epilog="Example: rtbisect watch --once --json")
@click.option("--once", is_flag=True, help="Look once and exit (for timers).")
@seed_option
@site_option
@answers
def watch(output: Output, once: bool, seed: int, site: Path | None) -> int:
    """Check new revisions of all configured trees; if one regressed, bisect and write a draft.

    Exit code 0: nothing regressed; 1: a regression was found (see the drafts); more: a tree
    could not be judged.
    """
    path = site_path(site)
    while True:
        try:
            rows = _round(output, path, seed)
        except RtbisectError as error:
            if once:
                raise
            # A site file that somebody is changing is whole again at the next look.
            output.tell_fault(PlainProgress(), str(path), error)
        else:
            _answer(output, rows)
            if once:
                return max((int(row["exit"]) for row in rows), default=0)
        time.sleep(EVERY_S)


def _answer(output: Output, rows: list[dict[str, Any]]) -> None:
    lines = [f"{row['build_config']}: {row['level']} {row['note']}".rstrip() for row in rows]
    output.answer({"trees": rows}, "\n".join(lines))


def _round(output: Output, path: Path, seed: int) -> list[dict[str, Any]]:
    """A look at each build_config, up to one whose campaign a person stops."""
    rows = []
    # A build_config with several variants stands in the list more than once.
    targets = load_site(path).kernelci.targets()
    for name in dict.fromkeys(t.name for t in targets):
        rows.append(_watch_target(output, path, name, seed))
        if rows[-1]["exit"] == Exit.INTERRUPTED:
            # Who stops a campaign does not want the next one in its place.
            break
    return rows


def _watch_target(output: Output, path: Path, name: str, seed: int) -> dict[str, Any]:
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
        levels = output.store.checked_revisions(name)
        good, bad = resolve.base_for_watch(output.state, sites.at(path), name, _judged_tips(levels))
        row |= {"good": good, "bad": bad}
        if bad in levels:
            # A question that is open stays open until the tip moves or a person asks again.
            code = Exit.UNDECIDED if levels[bad] == Level.UNDECIDED else Exit.ANSWERED
            return row | {"level": "unchanged", "note": f"was {levels[bad]}", "exit": code}
        if good is None:
            output.store.mark_checked(name, bad, FIRST_SEEN, assemble.SystemClock().now_iso())
            note = "first seen: what comes later is compared with it"
            return row | {"good": bad, "level": "unchanged", "note": note, "exit": Exit.ANSWERED}
        if good == bad:
            return row | {"level": "unchanged", "exit": Exit.ANSWERED}
        request = CampaignRequest(
            kind=CampaignKind.CHECK, site=str(path), tree=name, older=good, newer=bad, seed=seed
        )
        return row | _check_and_bisect(output, row, request, sites)
    except (RtbisectError, OSError) as caught:
        error = fault_of(caught) if isinstance(caught, OSError) else caught
        output.tell_fault(PlainProgress(), name, error)
        level = STOPPED if isinstance(error, Interrupted) else "error"
        return row | {"level": level, "note": str(error), "exit": error.exit_code}


def _check_and_bisect(
    output: Output, row: dict[str, Any], request: CampaignRequest, sites: SiteFiles
) -> dict[str, Any]:
    """Check a new tip and bisect what regressed; the tip is remembered when all is done. Until then
    each look takes what earlier ones have finished, and goes on with what they have not.
    """
    asked = replace(request, kind=CampaignKind.BISECT)
    if waits := session.stopped(output.state, asked) or session.stopped(output.state, request):
        row["campaigns"].append(waits)
        note = f"`rtbisect resume {waits}` goes on"
        return {"level": STOPPED, "exit": Exit.UNDECIDED, "note": note}
    record = _campaign(output, request, sites)
    row["campaigns"].append(record.id)
    code = check.exit_of_check(record.result)
    level = session.level_of(record.result) if record.result else Level.UNDECIDED
    remembered = level
    note = ""
    if code == Exit.REGRESSED:
        search = _campaign(output, asked, sites)
        row["campaigns"].append(search.id)
        note = result.headline(search, search.result) if search.result else ""
        if search.result is None or search.result.outcome not in DRAFTED:
            # No draft tells it: the next tip is again compared with the last one that passed.
            remembered = Level.UNDECIDED
    store = output.store
    store.mark_checked(request.tree, request.newer, remembered, assemble.SystemClock().now_iso())
    return {"level": level, "exit": code, "note": note}


def _campaign(output: Output, request: CampaignRequest, sites: SiteFiles) -> CampaignRecord:
    """The campaign of a request. One that is done is taken, unless the site measures otherwise
    since: a person may have asked the same of another lab.
    """
    again = not session.answered_alike(output.state, request, sites)
    return session.once(output.state, request, PlainProgress(), again=again, sites=sites)


def _judged_tips(levels: Mapping[str, str]) -> list[str]:
    """Tips that were judged, or first seen, oldest first: the newest is what the next one is
    compared with.

    A regression that was told is part of the base from then on, so that every later tip does
    not tell it again.
    """
    bases = (Level.PASS, Level.REGRESSED, FIRST_SEEN)
    return [sha for sha, level in levels.items() if level in bases]
