# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect demo`: the whole road on a real kernel tree whose culprit is drawn by a seed."""

from __future__ import annotations

import secrets
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect.campaign import assemble, session
from rtbisect.cli import live
from rtbisect.cli.options import WholeNumber, answers
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.cli.result import exit_of, whole_answer
from rtbisect.errors import Exit
from rtbisect.model.campaign import CampaignRequest
from rtbisect.report.mail_head import head_of
from rtbisect_labkit.demo import truth as truths
from rtbisect_labkit.demo.cases import CASES, KINDS, SUITES, DemoCase, on_lab, site_text
from rtbisect_labkit.demo.history import DemoRefs, make_history
from rtbisect_labkit.demo.plan import Plan, plan
from rtbisect_labkit.demo.repo import check_tarball, make_repo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rtbisect.model.report import Report
    from rtbisect.store.campaigns import CampaignRecord

SOURCE = Path("/usr/src/linux-source-6.12.tar.xz")
SITE = Path(str(resources.files("rtbisect_labkit").joinpath("demo/site.yaml")))

seed_option = click.option(
    "--seed",
    type=WholeNumber(0, 2**63 - 1),
    default=lambda: secrets.randbelow(10**6),
    help="Seed of the history (default: random).",
)
commits_option = click.option("--commits", type=WholeNumber(4, 240), default=64, show_default=True)
source_option = click.option(
    "--source",
    type=click.Path(path_type=Path),
    default=SOURCE,
    show_default=True,
    help="Tarball of Debian's linux-source-6.12.",
)
lab_option = click.option(
    "--lab",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Site file whose lab boots the kernels (default: this machine).",
)


@click.command(epilog="Example: rtbisect demo --seed 7 --commits 64 --json")
@seed_option
@commits_option
@click.option(
    "--kind", type=click.Choice(KINDS), help="Kind of regression (default: chosen by the seed)."
)
@click.option("--hard", is_flag=True, help="Put the culprit among commits that do not build.")
@source_option
@lab_option
@answers
def demo(
    output: Output,
    seed: int,
    commits: int,
    kind: str | None,
    hard: bool,
    source: Path,
    lab: Path | None,
) -> int:
    """Make a kernel history with a random culprit, find it, prove it, draft the mail.

    The truth lies in one file that only the comparison at the end opens. Exit code 0: the
    answer is right; 1: it is not; 4: there is no answer.
    """
    return walk(output, plan(seed, commits, kind, hard=hard), source, lab)


def check() -> None:
    """Raise what a demo lacks here beside what all campaigns on this machine need."""
    check_tarball(SOURCE)


def walk(output: Output, drawn: Plan, source: Path, lab: Path | None) -> int:
    """The whole road on a drawn history, and the comparison with its truth; the exit code. `lab` is
    a site file whose lab boots the kernels.
    """
    truth = output.state / "demo" / "truth" / f"{drawn.name}.json"
    assemble.preflight(output.state, output.sites.at(lab) if lab else None)
    refs = _history(output, drawn, source, truth)
    case = CASES[drawn.kind]
    suite, _, metric = case.metric.partition(" ")
    request = CampaignRequest(
        kind="demo",
        site=str(_site(output, refs.repo, case, lab)),
        tree="demo",
        older=refs.good,
        newer=refs.bad,
        suite=suite or None,
        metric=metric or None,
        seed=drawn.seed,
        extra=(("truth", str(truth)),),
        sought=case.sought,
    )
    with live.screen() as screen:
        record = session.start(output.state, request, screen, output.sites)
    return conclude(output, record)


def _history(output: Output, drawn: Plan, source: Path, truth: Path) -> DemoRefs:
    progress = PlainProgress()
    repo = output.state / "demo" / "linux.git"
    repo.parent.mkdir(parents=True, exist_ok=True)
    make_repo(repo, source, progress.say)
    progress.say(f"history of seed {drawn.seed}: {drawn.commits} commits")
    return make_history(repo, drawn, truth)


def _site(output: Output, repo: Path, case: DemoCase, lab: Path | None) -> Path:
    """The demo's site: the shipped one with the path of the repository and what is measured."""
    text = site_text(SITE.read_text(encoding="utf-8"), str(repo), case)
    # A campaign keeps the name of its site: each set of suites has a file of its own.
    name = "site.yaml" if case.suites == SUITES else f"site-{'-'.join(case.suites)}.yaml"
    if lab is not None:
        lab_site = output.sites.at(lab)
        text, name = on_lab(text, lab_site), f"{lab_site.lab.name}-{name}"
    place = output.state / "demo" / name
    place.write_text(text, encoding="utf-8")
    return place


def conclude(output: Output, record: CampaignRecord) -> int:
    """Compare the answer with the truth; the only place that opens the truth file."""
    request = record.request
    truth = truths.load(Path(dict(request.extra)["truth"]))
    result = record.result
    correct = result is not None and truths.matches(
        truth, result.outcome, result.culprit, result.cause, [sha for sha, _ in result.candidates]
    )
    data, story = whole_answer(output, record, opened=False)
    data |= {
        "seed": request.seed,
        "kind": truth.kind,
        "correct": correct,
    }
    verdict = "the answer is right" if correct else f"the truth is {truth.culprit or 'nothing'}"
    lines = [story, f"  seed {request.seed}, {truth.kind}: {verdict}"]
    if record.report:
        lines += ["", *_mail_lines(record.report)]
    output.answer(data, "\n".join(lines))
    if correct:
        return Exit.ANSWERED
    return exit_of(result) or Exit.REGRESSED


def _mail_lines(report: Report) -> Iterator[str]:
    """How the mail begins, and where the whole of it is."""
    subject, first = head_of(report.eml)
    yield "The mail, a draft that nobody has sent:"
    yield ""
    yield f"  Subject: {subject}"
    yield ""
    yield from (f"  {line}" for line in first)
    yield "  [...]"
    yield ""
    yield f"All of it: {report.path}"
