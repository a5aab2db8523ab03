# SPDX-License-Identifier: GPL-2.0-or-later
"""What the answer of `rtbisect run` shows beside its reasons."""

from __future__ import annotations

from rtbisect.model.finding import Kind


class Answered(Kind):
    """Figures with their interval, the caption of the chart, and what to do next."""

    #: The middle of `runs` runs of one revision, with its 95% interval, all in `unit`.
    SIDE = "answer.side", "value low high runs unit"
    #: A share of failing runs, 0 to 1, likewise.
    SHARE = "answer.share", "value low high runs"
    #: Two sides, and what lies between them, with its 95% interval: a difference in `unit`.
    DIFFERENCE = "answer.difference", "metric before after effect low high unit"
    #: The same as a ratio.
    RATIO = "answer.ratio", "metric before after effect low high"
    #: The same of shares, in which a difference says no more than they do.
    SHARES = "answer.shares", "before after"
    #: The same where nothing says how sure the change is.
    SIDES = "answer.sides", "metric before after"
    #: One of the changes above, made by one of several commits.
    OF_COMMIT = "answer.of-commit", "sha change"
    #: Below the chart: so many of the tested revisions, by figures from `low` to `high`.
    CHART = "answer.chart", "shown tested low high unit skipped open named"
    #: Each run had a code layout of its own.
    LAYOUTS = "answer.layouts"
    #: The likeliest commits of a search that names none, and how many others there are.
    CANDIDATES = "answer.candidates", "candidates more"
    CANDIDATE = "answer.candidate", "sha probability"
    #: `share` of the change between the ends is what a commit makes; the rest is searched so.
    REST = "answer.rest", "share command"
    #: A command line that tells code from layout, "" for none; `relayout`: that option may tell it,
    #: too, with a build that links anew.
    TELLS = "answer.tells", "command relayout"
    #: A command line: the search by counts of instructions, where the next command is another one.
    BY_COUNTS = "answer.by-counts", "command"
    #: A command line: what to do next.
    NEXT = "answer.next", "command"


class Broken(Kind):
    """Why a search of a command has measured nothing; `ends` are those that were tried."""

    #: `error` is that of the first end.
    NOT_BUILT = "broken.not-built", "ends error campaign"
    #: All of so many runs took longer than they may.
    LATE = "broken.late", "ends runs limit_s"
    #: The revisions do not have the program.
    NOT_THERE = "broken.not-there", "ends why"
    #: Runs ended with `code`, by which a shell says that it could not start a program.
    NOT_RUN = "broken.not-run", "ends runs code"
    #: `why` is of the last run; `moved`: each run had its functions in an order of its own.
    NO_FIGURE = "broken.no-figure", "ends runs why campaign moved"
