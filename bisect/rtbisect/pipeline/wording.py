# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures, durations and command lines as a person reads them."""

from __future__ import annotations

import shlex
from pathlib import Path

from rtbisect.judge.scale import unit_behind
from rtbisect.model.campaign import CampaignKind, CampaignRequest, MetricKey, Threshold
from rtbisect.model.command import CommandRequest


def worded(threshold: Threshold, value: float) -> str:
    """A figure for the story; ratios have no unit to say."""
    return f"{value:.4g}{unit_behind(threshold)}"


def duration(seconds: float) -> str:
    """Seconds for a person: 45 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def command_line(request: CampaignRequest, metric: MetricKey | None) -> str:
    """The command line that asks for the same, on this metric where it is of a kernel; the site by
    its name only, the repository of a command where `repo` is not empty.
    """
    good, bad = request.sought.ends(request.older, request.newer)
    ends = ["--good", good, "--bad", bad]
    if request.kind == CampaignKind.RUN:
        place = ["--repo", request.repo] if request.repo else []
        options = CommandRequest.of(request).words(request.sought)
        return shlex.join(["rtbisect", "run", *place, *ends, *options])
    words = ["rtbisect", "bisect", request.tree, *ends, *request.sought.options]
    if metric is not None:
        words += ["--suite", metric.suite, "--metric", f"{metric.name}@{metric.window}"]
    return shlex.join([*words, "--seed", str(request.seed), "--site", Path(request.site).name])
