# SPDX-License-Identifier: GPL-2.0-or-later
"""Record the boots of demo campaigns as a pool for tests and simulations.

    tools/record_pool.py CAMPAIGN ... --out tests/data/boots

Every complete run of a campaign whose truth file still lies in the state directory becomes
`<campaign>-<run>.log.gz`: the console and the results of its LAVA log as they were, without the
dispatcher's own words (which hold paths of the host). `index.csv` has a row a boot.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from pathlib import Path

from rtbisect.config.paths import state_dir
from rtbisect.model.code import CommitGraph
from rtbisect.model.lab import Run
from rtbisect.search.ancestry import Ancestry
from rtbisect.store.artefacts import ArtefactStore
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import recorded
from rtbisect_labkit.demo import truth as truths

KEPT = ('"lvl": "target"', '"lvl": "results"', '"lvl": "error"', '"lvl": "exception"')
COLUMNS = ("file", "kind", "side", "revision", "seconds", "host_load", "window_order")


def side_of(truth: truths.Truth, ancestry: Ancestry, revision: str) -> str:
    """good or bad, as the truth has it; unknown for a revert."""
    if truth.culprit is None or revision == truth.good:
        return "good"
    if revision not in ancestry.index:
        return "unknown"
    under = ancestry.ancestors_or_self(ancestry.index[revision])
    return "bad" if under[ancestry.index[truth.culprit]] else "good"


def scrubbed(log: bytes) -> bytes:
    lines = log.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    text = "".join(line for line in lines if any(mark in line for mark in KEPT))
    return gzip.compress(text.encode("utf-8", "surrogateescape"), mtime=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("campaign", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--truth", type=Path, required=True, action="append")
    parser.add_argument("--state", type=Path)
    asked = parser.parse_args()
    store = CampaignStore(state_dir(asked.state))
    artefacts = ArtefactStore(store.state / "artefacts")
    asked.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for campaign, place in zip(asked.campaign, asked.truth, strict=True):
        truth = truths.load(place)
        ancestry = Ancestry(recorded(store.database, campaign, CommitGraph)[0])
        for run in recorded(store.database, campaign, Run):
            if not run.complete:
                continue
            name = f"{run.run_id}.log.gz"
            raw = gzip.decompress(artefacts.path(run.log).read_bytes())
            (asked.out / name).write_bytes(scrubbed(raw))
            side = side_of(truth, ancestry, run.revision)
            order = " ".join(run.window_order)
            rows.append((name, truth.kind, side, run.revision, run.seconds, run.host_load, order))
    with (asked.out / "index.csv").open("w", newline="", encoding="ascii") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    print(f"{len(rows)} boots in {asked.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
