# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims about labs and hosts, told one by one as they are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rtbisect.cli.output import PlainProgress
from rtbisect.errors import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtbisect.cli.output import Output
    from rtbisect.lab.lava.claims import Claim


def tell_claims(output: Output, found: Iterable[Claim], verdict: str) -> int:
    """Tell all claims, and under the name `verdict` whether none fails; the exit code."""
    progress = PlainProgress()
    rows, lines = [], []
    for claim in found:
        rows.append({"claim": claim.name, "holds": claim.holds, "said": claim.said})
        word = {True: "pass", False: "FAIL", None: "-"}[claim.holds]
        lines.append(f"{word:<5} {claim.name:<12} {claim.said}")
        progress.say(lines[-1])
    good = all(row["holds"] is not False for row in rows)
    output.answer({"claims": rows, verdict: good}, "\n".join(lines))
    return int(Exit.ANSWERED if good else Exit.LAB)
