# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect config`: check a site file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect import wiring
from rtbisect.cli.options import json_option, site_path
from rtbisect.config import load_site

if TYPE_CHECKING:
    from rtbisect.cli.output import Output


@click.group(no_args_is_help=False, epilog="Example: rtbisect config check site.yaml")
def config() -> None:
    """Work with the site file."""


@config.command(epilog="Example: rtbisect config check site.example.yaml --json")
@click.argument("site", required=False, type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def check(output: Output, site: Path | None, as_json: bool) -> int:
    """Check SITE and the thresholds; a mistake is named by file and line."""
    place = site_path(site)
    loaded = load_site(place)
    rows = []
    for target in loaded.kernelci.targets():
        job = wiring.check_target(loaded, target)
        rows.append(
            {
                "build_config": target.name,
                "tree": target.tree,
                "branch": target.branch,
                "config": target.defconfig,
                "device_type": job.device.name,
                "plan": job.plan,
            }
        )
    lines = [f"{place}: ok, lab {loaded.lab.name} ({loaded.lab.url})"]
    lines += [
        f"  {r['build_config']}: {r['tree']} {r['branch']}, {r['config']} -> "
        f"{r['plan']} on {r['device_type']}"
        for r in rows
    ]
    data = {"site": str(place), "lab": loaded.lab.name, "build_configs": rows}
    output.answer(data, "\n".join(lines), as_json=as_json)
    return 0
