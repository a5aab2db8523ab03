# SPDX-License-Identifier: GPL-2.0-or-later
"""A store with campaigns that ended."""

from helpers.findings import said
from rtbisect.model.campaign import (
    CampaignRequest,
    Cause,
    Judgement,
    Level,
    MetricKey,
    Outcome,
    Sample,
)
from rtbisect.model.report import Report, ReportState
from rtbisect.model.result import KernelRole, Result, TableRow
from rtbisect.store import codec
from rtbisect_labkit.demo import truth

KEY = MetricKey("ipi", "res_per_iwi", "pf-on")
JUDGEMENT = Judgement(
    key=KEY,
    level=Level.REGRESSED,
    base=Sample((1.0,)),
    new=Sample((9.0,)),
    effect=9.0,
    interval=(2.0, 20.0),
    p=0.001,
    reason=said("nine times"),
)
FIGURES = tuple(
    TableRow(
        kernel=KernelRole(kernel),
        window="epoll-throughput",
        workload="none",
        metric=MetricKey("epoll", name, "epoll-throughput"),
        unit="1/ms",
        sample=Sample(values),
        mean=name == "frozen",
    )
    for name, kernel, values in (
        ("events_per_ms_1", "base", (30.0, 20.0, 60.0)),
        ("events_per_ms_1", "tip", (24.0, 21.0, 40.0)),
        ("events_per_ms_8", "base", (0.0,)),
        ("events_per_ms_8", "tip", (2.0,)),
        ("frozen", "base", (0.0, 0.0, 0.0)),
        ("frozen", "tip", (0.0, 0.0, 1.0)),
    )
    for key in (MetricKey("epoll", name, "epoll-throughput"),)
)


def result(outcome=Outcome.CULPRIT, culprit="c" * 40, table=FIGURES):
    return Result(
        outcome=outcome, cause=Cause.KERNEL, culprit=culprit, candidates=((culprit, 0.99),),
        confidence=0.99, metric=KEY, judgement=JUDGEMENT,
        reasons=(said("it is so"),), judgements=(JUDGEMENT,), table=table,
    )  # fmt: skip


def record(cli, kind, extra=(), report=None, answer=None):
    request = CampaignRequest(
        kind=kind,
        site=str(cli.site),
        tree="rt",
        older="a" * 40,
        newer="b" * 40,
        extra=extra,
        repo="/srv/linux",
    )
    text = codec.to_json(CampaignRequest, request)
    name = cli.store.create(kind, text, "2026-01-02T03:04:05+00:00")
    cli.store.finish(name, answer or result(), report)
    return name


def filled(cli):
    """bisect-1, check-2, try-3, demo-4, each with an answer."""
    draft = cli.store.state / "reports/bisect-1/draft.eml"
    draft.parent.mkdir(parents=True)
    draft.write_text("Subject: x\n\nbody\n")
    report = Report(
        campaign="bisect-1",
        state=ReportState.DRAFT,
        message_id="<m@x>",
        eml="",
        path=str(draft),
        bisect_log="",
        story="",
    )
    record(cli, "bisect", report=report)
    record(cli, "check", answer=result(Outcome.CULPRIT_SET))
    record(cli, "try", answer=result(Outcome.CULPRIT_SET))
    place = cli.home / "truth.json"
    sha = "c" * 40
    truth.save(
        place,
        truth.Truth(
            kind="rcu-latency",
            seed=7,
            commits=4,
            hard=False,
            good=sha,
            bad=sha,
            culprit=sha,
            culprit_set=(sha,),
            build_failures=(),
            boot_failures=(),
        ),
    )
    record(cli, "demo", extra=(("truth", str(place)),))
