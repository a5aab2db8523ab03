# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect config`: check a site file."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect.campaign import plan
from rtbisect.cli.options import answers, site_path
from rtbisect.config import notes
from rtbisect.config.site_file import Site, load_site
from rtbisect.errors import ConfigError
from rtbisect.pipeline import budget
from rtbisect.pipeline.compare import first_looks
from rtbisect.process.command import printable, run
from rtbisect.search.shown import COMMITS, ENOUGH, Shown, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rtbisect.cli.output import Output
    from rtbisect.config.kernelci import BuildTarget
    from rtbisect.model.campaign import Limits

#: Seconds for the version of a compiler.
GCC_S = 20.0


@click.group(no_args_is_help=False, epilog="Example: rtbisect config check site.yaml")
def config() -> None:
    """Work with the site file."""


@config.command(epilog="Example: rtbisect config check site.example.yaml --json")
@click.argument("site", required=False, type=click.Path(path_type=Path))
@answers
def check(output: Output, site: Path | None) -> int:
    """Check SITE and the thresholds, and name each mistake by file and line.

    It also names each key of SITE that this version ignores; that is not a mistake.
    """
    path = site_path(site)
    loaded = load_site(path)
    rows = [_target_row(loaded, target) for target in _first_targets(loaded)]
    ignored = [
        f"{loaded.document.where(at)}: {note}" for at, note in _notes_without_effect(loaded, rows)
    ]
    lines = [f"{path}: ok, lab {loaded.lab.name} ({loaded.lab.url})"]
    lines += [
        f"  {r['build_config']}: {r['tree']} {r['branch']}, {r['config']} -> "
        f"{r['plan']} on {r['device_type']}; regressed from {r['boots']} boots a side on"
        for r in rows
    ]
    limits_of = partial(plan.limits_of, loaded.ours.campaign)
    limits = limits_of(0)
    seen = shown(limits, limits_of, budget.first_guess(limits))
    lines.append(_budget_line(limits, seen))
    data = {
        "site": str(path), "lab": loaded.lab.name, "build_configs": rows, "ignored": ignored,
        "shows": [asdict(each) for each in seen],
    }  # fmt: skip
    output.answer(data, "\n".join([*lines, *ignored]))
    return 0


def _budget_line(limits: Limits, seen: Iterable[Shown]) -> str:
    """What the budget of a campaign finds, by the size of the change."""
    changes = [
        f"{each.effect:g} ({each.chance:.2f}"
        + (f"; max_boots: {each.max_boots} gives {ENOUGH:g}" if _asks_for_more(each) else "")
        + ")"
        for each in seen
    ]
    asks = f", or up to {limits.grows_to} where the forecast of a search asks,"
    more = asks if limits.grows else ""
    return (
        f"  {limits.max_boots} boots and {limits.max_builds} builds{more} find the commit among"
        f" {COMMITS} by a change of so many standard deviations of a boot, with about this"
        f" probability: {', '.join(changes)}"
    )


def _asks_for_more(each: Shown) -> bool:
    return each.chance < ENOUGH and each.max_boots is not None


def _first_targets(site: Site) -> list[BuildTarget]:
    """What each build_config builds: its first variant, for the first architecture."""
    names = dict.fromkeys(target.name for target in site.kernelci.targets())
    return [site.target(name) for name in names]


def _target_row(site: Site, target: BuildTarget) -> dict[str, str | int]:
    _first, boots = first_looks(plan.check_target(site, target))
    job = site.job(target)
    return {
        "build_config": target.name,
        "tree": target.tree,
        "branch": target.branch,
        "config": target.defconfig,
        "device_type": job.device.name,
        "plan": job.plan,
        "boots": boots,
    }


def _notes_without_effect(
    site: Site, rows: Sequence[Mapping[str, str | int]]
) -> Iterator[notes.Note]:
    """What the file says and nobody does, in the order of its lines."""
    jobs = {(str(row["device_type"]), str(row["plan"])) for row in rows}
    local_gcc = _gcc_version()
    ignored = [*notes.unused(site.document), *notes.not_run(site.document, jobs)]
    for environment in dict.fromkeys(target.compiler for target in _first_targets(site)):
        ignored += notes.compiler(site.document, environment, local_gcc)
    yield from sorted(ignored, key=lambda note: site.document.lines.get(note[0], 0))


def _gcc_version() -> str:
    """Version of the gcc that builds; "" where there is none."""
    try:
        done = run(("gcc", "-dumpfullversion"), cwd=Path("/"), timeout_s=GCC_S)
    except ConfigError:
        return ""
    return printable(done.stdout) if done.ok else ""
