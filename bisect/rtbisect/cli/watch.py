# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect watch`: look at every configured tree, check what is new, bisect what regressed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from rtbisect import wiring
from rtbisect.cli import check, runner
from rtbisect.cli.options import json_option, seed_option, site_option, site_path
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.config import load_site
from rtbisect.errors import Exit, RtbisectError
from rtbisect.model.campaign import CampaignRequest
from rtbisect.store.campaigns import CampaignStore

if TYPE_CHECKING:
    from pathlib import Path

EVERY_S = 900


@click.command(epilog="Example: rtbisect watch --once --json")
@click.option("--once", is_flag=True, help="Look once and exit (for timers).")
@seed_option
@site_option
@json_option
@click.pass_obj
def watch(output: Output, once: bool, seed: int, site: Path | None, as_json: bool) -> int:
    """Check new revisions of all configured trees; bisect and draft where one regressed.

    Exit code 0: nothing regressed; 1: a regression was found (see the drafts); 3, 4: a tree
    could not be judged.
    """
    place = site_path(site)
    while True:
        rows = [
            _one(output, place, target.name, seed) for target in load_site(place).kernelci.targets()
        ]
        lines = [
            f"{row['build_config']}: {row['level']} {row.get('note', '')}".rstrip() for row in rows
        ]
        output.answer({"trees": rows}, "\n".join(lines), as_json=as_json)
        if once:
            return max((int(row["exit"]) for row in rows), default=0)
        time.sleep(EVERY_S)


def _one(output: Output, place: Path, name: str, seed: int) -> dict[str, Any]:
    """Look at one build_config. A fault of one tree does not stop the others."""
    store = CampaignStore(output.state)
    row: dict[str, Any] = {"build_config": name, "campaigns": []}
    try:
        seen = store.seen(name)
        good, bad = wiring.base_and_tip(output.state, place, name, _last_good(seen), None)
        row |= {"good": good, "bad": bad}
        if bad in seen or good == bad:
            return row | {"level": "unchanged", "exit": int(Exit.ANSWERED)}
        record = runner.start(
            output, CampaignRequest("check", str(place), name, good, bad, seed=seed)
        )
        row["campaigns"].append(record.id)
        code = check.exit_of_check(record.result)
        level = {0: "pass", 1: "regressed"}.get(code, "undecided")
        if code == Exit.REGRESSED:
            found = runner.start(
                output, CampaignRequest("bisect", str(place), name, good, bad, seed=seed)
            )
            row["campaigns"].append(found.id)
            row["note"] = runner.headline(found, found.result) if found.result else ""
        store.mark_seen(name, bad, level, wiring.SystemClock().now_iso())
        return row | {"level": level, "exit": code}
    except RtbisectError as error:
        PlainProgress().say(f"{name}: {error}")
        return row | {"level": "error", "note": str(error), "exit": int(error.exit_code)}


def _last_good(seen: dict[str, str]) -> str | None:
    """The last revision that passed: what the next tip is compared with."""
    passed = [sha for sha, level in seen.items() if level == "pass"]
    return passed[-1] if passed else None
