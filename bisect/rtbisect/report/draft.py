# SPDX-License-Identifier: GPL-2.0-or-later
"""Drafts in a folder a campaign, and the answer of one that writes no mail; these adapters send
nothing, ever.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateError

from rtbisect.errors import ConfigError, InfrastructureError, InternalError
from rtbisect.model.campaign import Cause, Sought
from rtbisect.model.code import WHOLE, Narrowing
from rtbisect.model.command import NO_KERNEL
from rtbisect.model.report import Report, ReportInput, ReportState
from rtbisect.report.bisect_log import bisect_log_of
from rtbisect.report.campaign_log import log_text
from rtbisect.report.input_file import INPUT, input_json
from rtbisect.report.kcidb import kcidb_json
from rtbisect.report.letter import Bot, Letter, Public, letter, names_culprit
from rtbisect.report.lint.form import MAX_BYTES
from rtbisect.report.mail_values import Detail, mail_values
from rtbisect.report.message import Envelope, guard, message, own_id, subject
from rtbisect.report.own import check_mailable
from rtbisect.report.policy import asks_to_pick
from rtbisect.report.reproduce import lines_of, recipe_of_command
from rtbisect.report.text import ascii_line, linked, short, wrap
from rtbisect.report.wording import voice_of_report, words_of
from rtbisect.store.artefacts import write_whole
from rtbisect.words.documents import spoken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rtbisect.model.finding import Finding

#: The body of a mail of ours: what people read is one screen.
MOST_LINES = 60
#: Details that are taken back, one step after another, where a mail is too long.
_LESS: tuple[dict[str, Any], ...] = (
    {"origins": 2, "candidates": 5},
    {"emulator": False},
    {"console": 6, "ends": 8},
    {"proof": 2, "reasons": 2},
    {"console": 4, "origins": 1, "candidates": 3},
    {"ends": 5, "origins": 0, "reasons": 1, "proof": 1},
    # The last steps, for the longest mails.
    {"alone": False},
    {"paragraph": 250, "line": 120, "console": 3, "ends": 3},
)
#: From everything down to what must be said; the first that fits is taken.
DETAILS = tuple(accumulate(_LESS, lambda detail, less: replace(detail, **less), initial=Detail()))

#: Readers of result.json know these keys.
_NO_HOST = {name: NO_KERNEL[name] for name in ("device", "profile")}

_CAMPAIGN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """Where drafts and templates lie and who writes."""

    #: Gets a folder a campaign.
    out_dir: Path
    templates: Path
    #: Gets every draft whose input names nobody else: `Name <user@host>`.
    operator: str
    bot: Bot
    #: Our origin in KCIDB, and the folder that takes a file a draft; None writes none.
    kcidb: tuple[str, Path] | None = None


class Templates:
    """The templates of a folder; with `markup` all that is printed is escaped."""

    def __init__(self, folder: Path, *, markup: bool = False) -> None:
        self._folder = folder
        self._environment = Environment(
            loader=FileSystemLoader(folder),
            undefined=StrictUndefined,
            autoescape=markup,  # noqa: S701  (mails have no markup to escape)
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self._environment.filters["prose"] = wrap
        self._environment.filters["linked"] = linked
        self._environment.filters["bullet"] = _bullet
        self._environment.filters["field"] = _field

    def rendered(self, template: str, values: Mapping[str, Any]) -> str:
        """A template with its values; ConfigError where it is missing, or asks for others."""
        try:
            return self._environment.get_template(template).render(values)
        except TemplateError as error:
            raise ConfigError(
                f"template {template} in {self._folder} does not work: {error}",
                "take the one that comes with rtbisect",
            ) from error


def _bullet(text: str) -> str:
    return wrap(text, first="- ", rest="  ")


def _field(text: str, label: str) -> str:
    return wrap(text, first=f"  {label:<11}", rest=" " * 13)


class DraftMailer:
    """Implements ports.Mailer: renders a draft and keeps it as files."""

    def __init__(self, settings: ReportSettings) -> None:
        self.settings = settings
        self.bot = settings.bot
        self.pages = Templates(settings.templates)

    def draft(self, report: ReportInput, story: Sequence[Finding]) -> Report:
        """Render and keep the mail, bisect.log, campaign.log and result.json.

        ConfigError for a bad address or a missing template, InfrastructureError when the folder
        cannot be written.
        """
        report = replace(report, message_id=own_id(report.message_id, self.bot))
        folder = folder_of(self.settings.out_dir, report.campaign)
        log = bisect_log_of(report)
        body = self.body(report)
        headers = Envelope(
            bot=self.bot,
            to=(report.operator or self.settings.operator,),
            subject=subject(report),
            date=report.date,
            message_id=report.message_id,
            marks=(*marks(report), ("State", "draft")),
        )
        eml = message(headers, body)
        kept = _keep_logs(report, folder, log, _campaign_log(report, story))
        keep(folder / INPUT, input_json(report))
        if self.settings.kcidb is not None:
            origin, spool = self.settings.kcidb
            # Whoever submits it is another user.
            keep(_make_folder(spool) / f"{report.campaign}.json", kcidb_json(report, origin), 0o644)
        # The mail comes last: where it is, everything that it names is there too.
        keep(folder / "report.eml", eml)
        return replace(kept, eml=eml, path=str(folder / "report.eml"))

    def public(self, report: ReportInput, public: Public) -> str:
        """The mail for other people, as a person may approve it; ConfigError where the report is
        not for them.
        """
        check_mailable(report)
        headers = Envelope(
            bot=self.bot,
            to=tuple(map(str, public.recipients.to)),
            cc=tuple(map(str, public.recipients.cc)),
            subject=subject(report, marked=bool(public.use_case)),
            date=public.date,
            message_id=report.message_id,
            parent=public.recipients.parent,
            marks=(*marks(report), ("Reviewed-By", public.approver)),
        )
        return message(headers, self.body(report, public))

    def notice(self, template: str, headers: Envelope, values: Mapping[str, Any]) -> str:
        """A mail that accuses nobody, from its template and what that prints."""
        body = self.pages.rendered(template, dict(values) | {"bot": self.bot})
        return message(headers, guard(body, commands=True))

    def body(self, report: ReportInput, public: Public | None = None) -> str:
        """The text of the mail, shortened until it has MOST_LINES and MAX_BYTES."""
        text, written = "", letter(report, self.bot, public)
        for detail in DETAILS:
            text = self.rendered(report, written, detail, public)
            if text.count("\n") <= MOST_LINES and len(text) <= MAX_BYTES:
                break
        return text

    def rendered(
        self, report: ReportInput, written: Letter, detail: Detail, public: Public | None = None
    ) -> str:
        """The text of the mail with so much detail."""
        values = mail_values(report, self.bot, written, detail, public)
        return guard(
            self.pages.rendered(template_name(report), values), commands=public is not None
        )


def _campaign_log(report: ReportInput, story: Sequence[Finding]) -> str:
    question = (
        f"Which commit of {report.tree} in {short(report.older)}..{short(report.newer)} "
        f"({len(report.graph)} commits) changed the figure on {report.host.device.name} "
        f"with {report.config_name}?"
    )
    return log_text(report, story, question)


class LogKeeper:
    """Implements ports.Mailer for `rtbisect run`: nothing to send, the answer in files."""

    def __init__(self, out_dir: Path, program: str, narrowed: Narrowing = WHOLE) -> None:
        """`program` is where others install this program from; "" where they cannot. `narrowed`
        says what of the range is no candidate.
        """
        self.out_dir = out_dir
        self.program = program
        self.narrowed = narrowed

    def draft(self, report: ReportInput, story: Sequence[Finding]) -> Report:
        """Keep the logs; `path` of the report is that of bisect.log."""
        question = f"Which of {len(report.graph)} commits of {report.repo} changed the figure?"
        text = log_text(report, story, question, boots=False)
        steps = lines_of(recipe_of_command(report, self.program))
        text += "\n".join(("", "Reproduce", "", *steps, ""))
        folder = folder_of(self.out_dir, report.campaign)
        return _keep_logs(report, folder, bisect_log_of(report, self.narrowed), text, **_NO_HOST)


def _keep_logs(
    report: ReportInput, folder: Path, log: str, campaign_log: str, **replacements: Any
) -> Report:
    """Keep campaign.log, result.json and last bisect.log, which the report leads to."""
    keep(folder / "campaign.log", campaign_log)
    keep(folder / "result.json", result_json(report, **replacements))
    keep(folder / "bisect.log", log)
    return Report(
        campaign=report.campaign,
        state=ReportState.DRAFT,
        message_id=report.message_id,
        eml="",
        path=str(folder / "bisect.log"),
        bisect_log=log,
        story=campaign_log,
    )


def marks(report: ReportInput) -> tuple[tuple[str, str], ...]:
    """Our own headers: they find the campaign again."""
    outcome = f"{report.result.outcome}; cause={report.result.cause}"
    always = (("Campaign", report.campaign), ("Outcome", outcome))
    words = words_of(report)
    kind = words.asking_kind if asks_to_pick(report) else words.kind
    return (*always, ("Kind", kind)) if kind else always


def template_name(report: ReportInput) -> str:
    """About one commit, or for the operator alone."""
    told = report.result.cause in (Cause.KERNEL, Cause.WORKLOAD_DEPENDENT)
    return "mail.txt.j2" if told and names_culprit(report) else "operator.txt.j2"


def keep(path: Path, text: str, mode: int = 0o600) -> None:
    """Write by rename, so that a reader sees the old file or the new one. A draft is ours alone
    until somebody approves it.
    """
    try:
        write_whole(path, text.encode("ascii"), mode)
    except OSError as error:
        raise _disk(path.parent, error) from error


def read_edited(path: Path) -> bytes:
    """A mail that a person may have edited, with the ends of lines that `keep` has written,
    whatever the editor writes: a mail server adds its own.
    """
    return path.read_bytes().replace(b"\r\n", b"\n")


def folder_of(out_dir: Path, campaign: str) -> Path:
    if not _CAMPAIGN.fullmatch(campaign):
        raise InternalError(f"not the name of a campaign: {ascii_line(campaign, 60)!r}")
    return _make_folder(out_dir / campaign, 0o700)


def _make_folder(folder: Path, mode: int = 0o777) -> Path:
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
    except OSError as error:
        raise _disk(folder, error) from error
    return folder


def _disk(folder: Path, error: OSError) -> InfrastructureError:
    return InfrastructureError(
        f"cannot keep a draft in {folder}: {error.strerror}",
        "free or repair the disk and run `rtbisect resume`",
    )


def result_json(report: ReportInput, **replacements: Any) -> str:
    """Everything that the mail was written from but the graph, which the log tells; `replacements`
    stand in the place of what the report has under their names.
    """
    graph = report.graph
    # The graph of a long history takes longer to write than the answer.
    told = replace(report, graph=replace(graph, commits=()))
    document = spoken(told, voice_of_report(report)) | replacements
    del document["sought"]
    # Programs read it, which know these names.
    document["good"], document["bad"] = document.pop("older"), document.pop("newer")
    document["repair"] = report.sought is Sought.REPAIR
    document["thresholds"] = [asdict(each.toward(report.sought)) for each in report.thresholds]
    document["graph"] = {"good": graph.older, "bad": graph.newer, "commits": len(graph)}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
