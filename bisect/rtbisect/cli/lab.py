# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect lab`: the lab of a site, tried before it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect.acceptance import inspection
from rtbisect.cli.options import json_option, site_option, site_path
from rtbisect.cli.output import PlainProgress, tell_claims

if TYPE_CHECKING:
    from rtbisect.cli.output import Output


@click.group(no_args_is_help=False, epilog="Example: rtbisect lab check")
def lab() -> None:
    """Try a lab, and run one on this machine."""


@lab.command(epilog="Example: rtbisect lab check --site site.yaml --kernel bzImage")
@click.argument("url", required=False)
@click.option("--token", type=click.Path(path_type=Path),
              help="File with your token, for URL.")  # fmt: skip
@site_option
@click.option("--tree", help="Tree or build_config whose plan is tried (default: the first).")
@click.option("--kernel", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A bzImage with PREEMPT_RT to boot there once.")  # fmt: skip
@json_option
@click.pass_obj
def check(
    output: Output,
    url: str | None,
    token: Path | None,
    site: Path | None,
    tree: str | None,
    kernel: Path | None,
) -> int:
    """Ask the lab of a site, ours or somebody else's, for all that a campaign needs of it. With the
    URL of a LAVA server: only what it shows a user who has no site file yet.
    """
    progress = PlainProgress()
    if url is not None:
        return tell_claims(output, inspection.server_claims(url, token), "usable")
    claims = inspection.lab_claims(output.state, site_path(site), tree, kernel, progress)
    return tell_claims(output, claims, "usable")
