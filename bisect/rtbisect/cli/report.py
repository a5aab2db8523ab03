# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect report`: drafts that wait for a person, and what becomes of a report that was sent."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rtbisect.campaign import ab_test, session
from rtbisect.campaign.assemble import SystemClock
from rtbisect.campaign.page import page_beside_draft
from rtbisect.cli.options import (
    WholeNumber,
    answers,
    by_option,
    seed_option,
    send_option,
    site_option,
    site_path,
)
from rtbisect.cli.output import Output, PlainProgress
from rtbisect.config.site_file import load_site
from rtbisect.errors import ConfigError, Exit, InfrastructureError
from rtbisect.evidence.bundle import write_bundle
from rtbisect.mail import approve as approving
from rtbisect.mail import result_mail
from rtbisect.mail.digest import digest, told, write_digest
from rtbisect.mail.fixes import Mended, mended
from rtbisect.mail.report_state import follow_outbox
from rtbisect.model.campaign import Level
from rtbisect.report.input_file import read_input
from rtbisect.report.kcidb import kcidb_json
from rtbisect.report.lint.mail import MOST_BYTES, Fault
from rtbisect.report.lint.rules import RULES
from rtbisect.report.lint.rules import lint as lint_mail
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtbisect.model.mail import OutMail


@click.group(no_args_is_help=False, epilog="Example: rtbisect report show demo-1")
def report() -> None:
    """Look at report drafts, propose and approve a mail; `mail send` sends it."""


@report.command(epilog="Example: rtbisect report lint report.eml")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--rules", "as_rules", is_flag=True, help="Print the rules instead.")
@answers
def lint(output: Output, file: Path | None, as_rules: bool) -> int:
    """Check a mail (FILE, or `-` for standard input) against the rules for regression mails.

    Exits with 1 when there are findings.
    """
    if as_rules:
        rows = [{"rule": rule.name, "why": rule.why} for rule in RULES]
        text = "\n".join(f"{row['rule']:<18}{row['why']}" for row in rows)
        output.answer({"rules": rows}, text)
        return 0
    if file is None:
        raise ConfigError("no mail given", "give its FILE, or `-` for standard input")
    faults = lint_mail(_mail_bytes(file))
    text = "\n".join(map(_fault_line, faults)) or "no findings"
    output.answer({"file": str(file), "findings": _fault_rows(faults)}, text)
    return Exit.REGRESSED if faults else Exit.ANSWERED


def _fault_rows(faults: Sequence[Fault]) -> list[dict[str, str]]:
    return [{"rule": each.rule, "where": each.where, "said": each.problem} for each in faults]


def _fault_line(fault: Fault) -> str:
    where = f"{fault.where}: " if fault.where else ""
    return f"{fault.rule:<18}{where}{fault.problem}"


def _mail_bytes(file: Path) -> bytes:
    """A mail; more of it than rules look at is not read."""
    try:
        if str(file) == "-":
            return sys.stdin.buffer.read(MOST_BYTES)
        with file.open("rb") as mail:
            return mail.read(MOST_BYTES)
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}", "give a file that holds a mail") from error


@report.command(epilog="Example: rtbisect report show demo-1 --json")
@click.argument("campaign")
@answers
def show(output: Output, campaign: str) -> int:
    """Print the draft of CAMPAIGN."""
    draft = output.store.get(campaign).draft()
    path = Path(draft.path)
    try:
        text = path.read_text(encoding="ascii")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "the draft was removed by hand") from error
    data = {
        "campaign": campaign,
        "state": draft.state,
        "message_id": draft.message_id,
        "path": draft.path,
        "eml": text,
    }
    output.answer(data, text)
    return 0


@report.command(epilog="Example: rtbisect report propose bisect-3 --by 'A Person'")
@click.argument("campaign")
@click.option("--by", required=True, help="Name or address of who will approve it.")
@click.option("--use-case", default="", help="Whom the regression hurts, in a sentence; without it "
              "the mail is no [REGRESSION].")  # fmt: skip
@click.option("--monitor", "monitored", multiple=True, metavar="URL",
              help="A thread with a fix, for regzbot to watch; may be repeated.")  # fmt: skip
@click.option("--link", "linked", multiple=True, metavar="URL",
              help="A page that belongs to it, for regzbot; may be repeated.")  # fmt: skip
@answers
def propose(
    output: Output,
    campaign: str,
    by: str,
    use_case: str,
    monitored: tuple[str, ...],
    linked: tuple[str, ...],
) -> int:
    """Write the mail of CAMPAIGN for other people, to be read, edited and approved.

    Exits with 1 when rules find something in it.
    """
    notes = approving.ApproverNotes(use_case, monitored, linked)
    record = output.store.get(campaign)
    proposal = approving.make_proposal(output.state, record, by, notes)
    people = proposal.recipients
    rows = [
        {
            "header": header,
            "address": each.address,
            "name": each.name,
            "reason": str(speak(each.reason)),
        }
        for header, group in (("To", people.to), ("Cc", people.cc), ("dropped", people.dropped))
        for each in group
    ]
    lines = [f"{row['header']:<8}{row['address']}  ({row['reason']})" for row in rows]
    thread = str(speak(people.thread))
    note = str(speak(proposal.note)) if proposal.note else ""
    lines += [thread, *filter(None, [note]), *map(_fault_line, proposal.faults)]
    lines.append(
        f"{proposal.path}: read it, edit it, then `rtbisect report approve {campaign} --by ...`"
    )
    data = {
        "campaign": campaign,
        "path": str(proposal.path),
        "eml": proposal.text,
        "recipients": rows,
        "in_reply_to": people.parent,
        "thread": thread,
        "findings": _fault_rows(proposal.faults),
        "note": note,
    }
    output.answer(data, proposal.text + "\n" + "\n".join(lines))
    return Exit.REGRESSED if proposal.faults else Exit.ANSWERED


@report.command(epilog="Example: rtbisect report approve bisect-3 --by 'A Person'")
@click.argument("campaign")
@by_option
@answers
def approve(output: Output, campaign: str, by: str) -> int:
    """Approve the mail of CAMPAIGN: it goes to the outbox unchanged, in your name."""
    store = output.store
    record = store.get(campaign)
    mail = approving.approve(output.state, store, record, by)
    data = {
        "campaign": campaign,
        "state": "approved",
        "message_id": mail.message_id,
        "recipients": list(mail.recipients),
        "approved_by": mail.approved_by,
    }
    text = f"approved by {mail.approved_by}: `rtbisect mail send` sends it to "
    text += ", ".join(mail.recipients)
    output.answer(data, text)
    return 0


@report.command("kcidb", epilog="Example: rtbisect report kcidb bisect-3 --origin mylab")
@click.argument("campaign")
@click.option("--origin", default="rtbisect", show_default=True, metavar="NAME",
              help="Name that KCIDB knows you by (a-z, 0-9, _).")  # fmt: skip
@answers
def for_kcidb(output: Output, campaign: str, origin: str) -> int:
    """Print CAMPAIGN in KCIDB's format; `kcidb:` of a site file writes such files by itself."""
    folder = output.store.get(campaign).draft().folder
    if not re.fullmatch(r"[a-z0-9_]{1,64}", origin):
        raise ConfigError(f"{origin!r} is not a KCIDB origin", "use only a-z, 0-9 and _")
    text = kcidb_json(read_input(folder), origin)
    output.answer(json.loads(text), text)
    return 0


@report.command(epilog="Example: rtbisect report bundle bisect-3")
@click.argument("campaign")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@answers
def bundle(output: Output, campaign: str, folder: Path | None) -> int:
    """Write the evidence of CAMPAIGN to FOLDER, complete enough for `rejudge`.

    Its page is among it. Without FOLDER it is published where the site file says (mail:
    evidence:), with an archive beside it.
    """
    record = output.store.get(campaign)
    published = folder is None
    if folder is None and (site := record.request.site):
        folder = load_site(Path(site)).evidence_folder(campaign)
    if folder is None:
        raise ConfigError(
            "no folder for the evidence", "give FOLDER, or set mail: evidence: in the site file"
        )
    files = write_bundle(output.state, record, folder.absolute(), packed=published)
    names = [str(path.relative_to(folder.absolute())) for path in files]
    data = {"campaign": campaign, "folder": str(folder), "files": names}
    output.answer(data, "\n".join([f"{folder}:", *names]))
    return 0


@report.command(
    epilog="Example: rtbisect report withdraw bisect-3 --by 'A Person' --why '...' --send"
)
@click.argument("campaign")
@by_option
@click.option("--why", required=True, help="What was wrong, in a sentence.")
@send_option
@answers
def withdraw(output: Output, campaign: str, by: str, why: str, queue: bool) -> int:
    """Withdraw the report of CAMPAIGN in its own thread, from all who got it."""
    record = output.store.get(campaign)
    mail = result_mail.write_withdrawal(output.state, record, by, why)
    return _show_or_queue(output, mail, {"campaign": campaign}, queue=queue)


def _show_or_queue(output: Output, mail: OutMail, about: dict[str, str], *, queue: bool) -> int:
    """Print a mail in the thread of a report, queued with `queue`; `about` are keys of its own."""
    if queue:
        outbox = output.outbox
        outbox.put(mail)
        follow_outbox(output.store, outbox)
    data = about | {
        "message_id": mail.message_id,
        "recipients": list(mail.recipients),
        "eml": mail.text,
        "queued": queue,
    }
    last = "`rtbisect mail send` sends it" if queue else "with --send it goes to the outbox"
    output.answer(data, f"{mail.text}\n{last}")
    return 0


@report.command(
    "digest", epilog="Example: rtbisect report digest --hours 24 --by 'A Person' --send"
)
@click.option("--hours", type=WholeNumber(1, 24 * 366), default=24, show_default=True)
@click.option("--lab", "lab_only", is_flag=True, help="Report faults of the lab only.")
@click.option("--by", default="", help="Name or address of an approver of the site; for --send.")
@click.option("--send", "queue", is_flag=True, help="Queue it for the operator, if there is "
              "anything to tell.")  # fmt: skip
@site_option
@answers
def make_digest(
    output: Output, hours: int, lab_only: bool, by: str, queue: bool, site: Path | None,
) -> int:  # fmt: skip
    """Tell the operator what happened and what waits for a person; with --lab only of the lab.

    Suits a timer. Exit code 3: a fault of the lab stops a campaign.
    """
    loaded = output.site(site)
    person = approving.approver(loaded, by) if queue else None
    contents = digest(output.state, hours, SystemClock().now_iso())
    name = str(person or "")
    mail = write_digest(output.state, loaded, contents, lab_only=lab_only, by=name)
    send = queue and (contents.ill or not lab_only)
    if send:
        output.outbox.put(mail)
    output.answer({"eml": mail.text, "queued": send} | told(contents), mail.text)
    return Exit.LAB if contents.ill else Exit.ANSWERED


@report.command(epilog="Example: rtbisect report page bisect-3")
@click.argument("campaign")
@answers
def page(output: Output, campaign: str) -> int:
    """Write CAMPAIGN as one page of HTML with all its evidence, beside the draft."""
    store = output.store
    path = page_beside_draft(store, store.get(campaign))
    output.answer({"campaign": campaign, "path": str(path)}, str(path))
    return 0


@report.command("test", epilog="Example: rtbisect report test bisect-3 --patch fix.mbox")
@click.argument("campaign")
@click.option("--patch", type=click.Path(path_type=Path), help="Mail or mbox with patches, `-` for "
              "standard input.")  # fmt: skip
@click.option("--rev", help="A revision of the tree.")
@seed_option
@answers
def test_it(output: Output, campaign: str, patch: Path | None, rev: str | None, seed: int) -> int:
    """Compare the bad revision of CAMPAIGN with a patch on top of it, or with another revision.

    Writes an answer in the thread of its report. Exits with 0 where the effect is taken back, 1
    where the figure does not change, 4 where the boots leave it open.
    """
    if (patch is None) == (rev is None):
        raise ConfigError("nothing to test", "give either --patch or --rev")
    record = output.store.get(campaign)
    if patch is not None:
        mbox = _mail_bytes(patch)
        if len(mbox) >= MOST_BYTES:
            raise ConfigError(f"{patch} is larger than {MOST_BYTES} bytes", "give the patch alone")
        question = ab_test.of_patch(output.state, record, mbox, seed)
    else:
        question = ab_test.of_revision(output.state, record, rev or "", seed)
    check = session.once(output.state, question.request, PlainProgress())
    answer = ab_test.write_answer(output.state, record, question, check)
    result_mail.note_test(output.store, record, answer, newest=question.newest)
    data = {
        "campaign": campaign,
        "check": check.id,
        "level": ab_test.WORDS[answer.level],
        "metric": str(answer.judgement.key),
        "effect": answer.judgement.effect,
        "p": answer.judgement.p,
        "n": [answer.judgement.base.n, answer.judgement.new.n],
        "path": str(answer.path),
        "eml": answer.text,
    }
    output.answer(data, answer.text)
    codes = {Level.REGRESSED: Exit.ANSWERED, Level.PASS: Exit.REGRESSED}
    return codes.get(answer.level, Exit.UNDECIDED)


@report.command(epilog="Example: rtbisect report answer bisect-3 check-5 --by 'A Person' --send")
@click.argument("campaign")
@click.argument("check")
@by_option
@send_option
@answers
def answer(output: Output, campaign: str, check: str, by: str, queue: bool) -> int:
    """Answer in the thread of the report of CAMPAIGN with what the campaign CHECK measured.

    It goes to who asked, and to all who have the report. The draft, answer-CHECK.eml beside the
    report, may be edited before.
    """
    record = output.store.get(campaign)
    mail = result_mail.write_answer_mail(output.state, record, check, by)
    about = {"campaign": campaign, "check": check}
    return _show_or_queue(output, mail, about, queue=queue)


@report.command(epilog="Example: rtbisect report follow --site site.yaml")
@site_option
@answers
def follow(output: Output, site: Path | None) -> int:
    """Look for commits that claim to fix what was reported, and test the branch that has them.

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
    return max(codes)


def _test_fix(output: Output, fix: Mended) -> tuple[dict[str, Any], Exit]:
    """What became of one report, and its exit code."""
    row: dict[str, Any] = {
        "campaign": fix.record.id,
        "commits": list(fix.commits),
        "check": None,
        "level": None,
        "path": None,
        "note": "",
    }
    if fix.error:
        return row | {"note": str(fix.error)}, fix.error.exit_code
    if fix.done():
        return row | {"note": "tested before"}, Exit.ANSWERED
    try:
        question = ab_test.of_revision(output.state, fix.record)
        check = session.once(output.state, question.request, PlainProgress())
        answer = ab_test.write_answer(output.state, fix.record, question, check)
    except (ConfigError, InfrastructureError) as error:
        return row | {"note": str(error)}, error.exit_code
    result_mail.note_test(output.store, fix.record, answer, newest=True)
    fix.note(decided=answer.level is not Level.UNDECIDED)
    words = ab_test.WORDS[answer.level]
    code = Exit.UNDECIDED if answer.level is Level.UNDECIDED else Exit.ANSWERED
    return row | {"check": check.id, "level": words, "path": str(answer.path)}, code
