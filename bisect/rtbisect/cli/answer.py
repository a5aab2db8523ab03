# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect report answer` and `report follow`: what becomes of reports that people have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rtbisect.campaign import ab_test, session
from rtbisect.cli.options import by_option, json_option, send_option, site_option, site_path
from rtbisect.cli.output import PlainProgress
from rtbisect.cli.report import report, show_or_queue
from rtbisect.errors import ConfigError, Exit, InfrastructureError
from rtbisect.mail import result_mail
from rtbisect.mail.fixes import Mended, Unknown, mended
from rtbisect.mail.report_state import follow_outbox
from rtbisect.model.campaign import Level

if TYPE_CHECKING:
    from pathlib import Path

    from rtbisect.cli.output import Output


@report.command(epilog="Example: rtbisect report answer bisect-3 check-5 --by 'A Person' --send")
@click.argument("campaign")
@click.argument("check")
@by_option
@send_option
@json_option
@click.pass_obj
def answer(output: Output, campaign: str, check: str, by: str, queue: bool) -> int:
    """Answer in the thread of the report of CAMPAIGN what the campaign CHECK has measured.

    It goes to who asked, and to all who have the report. The draft, answer-CHECK.eml beside the
    report, may be edited before.
    """
    record = output.store.get(campaign)
    mail = result_mail.write_answer_mail(output.state, record, check, by)
    about = {"campaign": campaign, "check": check}
    return show_or_queue(output, mail, about, queue=queue)


@report.command(epilog="Example: rtbisect report follow --site site.yaml")
@site_option
@json_option
@click.pass_obj
def follow(output: Output, site: Path | None) -> int:
    """Look for commits that say they mend what was reported, and boot the branch that has them.

    Fits a timer. Answers are drafts; a report whose effect is gone is fixed. Exits with 4 where
    boots leave it open.
    """
    path = site_path(site)
    follow_outbox(output.store, output.outbox)
    rows, codes = [], [Exit.ANSWERED]
    for fix in list(mended(output.state, path)):
        row, code = _test_fix(output, fix)
        rows.append(row)
        codes.append(code)
    lines = [
        f"{row['campaign']}: {row['level'] or row['note']}, {len(row['commits'])} commits say that"
        " they mend it"
        for row in rows
    ]
    output.answer({"reports": rows}, "\n".join(lines) or "nothing new")
    return int(max(codes))


def _test_fix(output: Output, fix: Mended | Unknown) -> tuple[dict[str, Any], Exit]:
    """What became of one report, and its exit code."""
    row: dict[str, Any] = {
        "campaign": fix.record.id,
        "commits": list(fix.commits) if isinstance(fix, Mended) else [],
        "check": None,
        "level": None,
        "path": None,
        "note": "",
    }
    if isinstance(fix, Unknown):
        return row | {"note": str(fix.error)}, fix.error.exit_code
    if fix.done():
        return row | {"note": "tested before"}, Exit.ANSWERED
    try:
        question = ab_test.of_revision(output.state, fix.record)
        check = session.once(output.state, question.request, PlainProgress())
        answer = ab_test.write_answer(output.state, fix.record, question, check)
    except (ConfigError, InfrastructureError) as error:
        return row | {"note": str(error)}, error.exit_code
    result_mail.note_test(output.store, fix.record, answer.level, newest=True)
    fix.note()
    words = ab_test.WORDS[answer.level]
    code = Exit.UNDECIDED if answer.level is Level.UNDECIDED else Exit.ANSWERED
    return row | {"check": check.id, "level": words, "path": str(answer.path)}, code
