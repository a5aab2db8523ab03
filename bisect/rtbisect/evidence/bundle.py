# SPDX-License-Identifier: GPL-2.0-or-later
"""The evidence of a campaign as a folder that stands for itself: what was measured, the kernels
that differ, and the answer, which anybody can judge again from it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
import shutil
import tarfile
import tempfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtbisect import __version__
from rtbisect.campaign import assemble, session
from rtbisect.campaign.fingerprint import as_begun
from rtbisect.campaign.page import page_beside_draft
from rtbisect.config.site_file import SiteFiles
from rtbisect.errors import ConfigError, InternalError, RtbisectError
from rtbisect.evidence.by_hand import BootByHand, Reported, boot_by_hand, reported
from rtbisect.evidence.kernels import write_kernels
from rtbisect.evidence.replay import (
    Answers,
    NoMailer,
    RecordingSubject,
    RecordingTree,
    ReplayedSubject,
    ReplayedTree,
    Silence,
)
from rtbisect.model.campaign import CampaignRequest, Outcome
from rtbisect.model.code import RELINKED, Build, CommitGraph
from rtbisect.model.finding import Finding, Kept
from rtbisect.model.formats import format_of
from rtbisect.model.ports import Journal, Ports, Subject
from rtbisect.model.report import Report
from rtbisect.model.result import Gate, Result, Verification
from rtbisect.model.setup import Setup
from rtbisect.pipeline.further import FurtherBudget, FurtherBudgets, FurtherRuns
from rtbisect.report.input_file import INPUT
from rtbisect.report.page import DRAFT, PAGE
from rtbisect.report.text import public_address
from rtbisect.store import codec
from rtbisect.store.artefacts import ArtefactStore, write_whole
from rtbisect.store.campaigns import CampaignRecord, CampaignStore
from rtbisect.store.journal import JournalStep, StoreJournal, add_steps, recorded, steps_of
from rtbisect.words.speak import speak

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Format of the folder; a program with another one does not read it.
FORMAT = 1

SUMS = "SHA256SUMS"
#: A published folder lies beside an archive of it, which has this behind its name.
ARCHIVE = ".tar.gz"
_MANIFEST, _JOURNAL, _ANSWERS, _SETUP = (
    "manifest.json",
    "journal.jsonl.gz",
    "answers.json.gz",
    "setup.json",
)
_RESULT = "result.json"
#: Files of the draft that go with it.
_DRAFT = (
    "bisect.log",
    "campaign.log",
    _RESULT,
    PAGE,
    # Files of drafts and pages that older programs made.
    "posterior.png",
    "boots.png",
    "histogram.png",
    "trend.png",
    "cpus.png",
)
#: Parts of an answer that are shown where they differ; of tables it is told that they do.
_SHOWN = frozenset(
    {"outcome", "cause", "culprit", "confidence", "metric", "verifications", "reasons", "gates"}
)
#: Relative difference of numbers that are the same: another processor, or another version of a
#: library, adds in another order.
DIGITS = 1e-9
#: A bundle is somebody else's file: more than this of one is not read.
_MOST_BYTES = 64 << 20
_MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Rejudgement:
    """A bundle judged again."""

    #: Name of the campaign that it is of.
    campaign: str
    #: The answer that it holds.
    held: Result
    #: What its measurements say now; None where they come to no answer, and why that is.
    now: Result | None
    why: str = ""

    @property
    def same(self) -> bool:
        """Nothing of the answer differs, whatever words it has: numbers to DIGITS."""
        return self.now is not None and not any(differences(self))


def alike(one: Any, other: Any) -> bool:
    """Whether two values are the same but for the last digits of their numbers."""
    if isinstance(one, Finding) and isinstance(other, Finding):
        return _same_finding(one, other)
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=DIGITS, abs_tol=DIGITS)
    if is_dataclass(one) and type(one) is type(other):
        return all(alike(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def _same_finding(one: Finding, other: Finding) -> bool:
    """What older programs kept was said in other words: it is where the other stands."""
    if Kept.AS_SAID in (one.kind, other.kind):
        return True
    # A later program may know more of a finding than an earlier one has kept.
    names = one.data.keys() & other.data.keys()
    return one.kind == other.kind and all(alike(one.data[n], other.data[n]) for n in names)


def write_bundle(
    state: Path, record: CampaignRecord, folder: Path, *, packed: bool = False
) -> tuple[Path, ...]:
    """Fill `folder` (made here, and not there before) with the evidence of a finished campaign, and
    with `packed` an archive beside it; gives the files of the folder. ConfigError where the
    campaign cannot be judged again as it was.
    """
    if record.result is None or not record.request.searches:
        raise ConfigError(
            f"campaign {record.id} has no answer of a search", "see `rtbisect status`"
        )
    evidence = evidence_of(state, record)
    if folder.exists():
        raise ConfigError(f"{folder} is there already", "give another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        filled = Path(scratch) / "bundle"
        filled.mkdir()
        _fill_folder(filled, CampaignStore(state), record, evidence)
        # Who publishes it serves it to everybody.
        filled.chmod(0o755)
        if packed:
            # The folder comes last: where it is, the archive is there too.
            _pack(filled, folder.name).rename(folder.with_name(f"{folder.name}{ARCHIVE}"))
        filled.rename(folder)
    return tuple(sorted(path for path in folder.rglob("*") if path.is_file()))


def _pack(filled: Path, name: str) -> Path:
    """An archive of a folder, beside it, in which that is called `name`."""

    def nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
        """Who has made it is of no use to others."""
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mode = 0o755 if member.isdir() else 0o644
        return member

    archive = filled.with_suffix(ARCHIVE)
    # The large files in it are packed already.
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(filled, name, filter=nobody)
    return archive


@dataclass(frozen=True, slots=True)
class CampaignEvidence:
    """All that the answer of a campaign follows from, and the answer."""

    setup: Setup
    #: The journal, in its order.
    steps: tuple[JournalStep, ...]
    #: Answers to what the pipeline asks beside the journal.
    answers: Answers
    result: Result


def evidence_of(state: Path, record: CampaignRecord) -> CampaignEvidence:
    """All that the answer of a finished campaign follows from; ConfigError where that cannot be
    judged again as it was.
    """
    steps = steps_of(CampaignStore(state).database, record.id)
    request, answers = record.request, Answers()

    def assembled(journal: Journal) -> tuple[Setup, Ports]:
        setup, parts = assemble.assemble(
            state, SiteFiles().of_campaign(request), request, journal, Silence()
        )
        setup = as_begun(setup, journal)
        tree, subject = RecordingTree(parts.tree, answers), RecordingSubject(parts.subject, answers)
        return setup, _idle_ports(tree, subject, journal)

    result, setup = _rerun(steps, request.kind, assembled)
    if not alike(result, record.result):
        raise ConfigError(
            f"campaign {record.id} is judged otherwise now ({result.outcome})",
            "it was made by another version of rtbisect; run it again",
        )
    return CampaignEvidence(setup, steps, answers, result)


def _idle_ports(tree: Any, subject: Subject, journal: Journal) -> Ports:
    """Parts that answer questions, and do nothing."""
    return Ports(
        tree=tree,
        subject=subject,
        journal=journal,
        mailer=NoMailer(),
        clock=assemble.SystemClock(),
        progress=Silence(),
    )


def _rerun(
    steps: Iterable[JournalStep], kind: str, assembled: Callable[[Journal], tuple[Setup, Ports]]
) -> tuple[Result, Setup]:
    """The pipeline run over a journal, in a store of its own."""
    with tempfile.TemporaryDirectory(prefix="rtbisect-rejudge-") as state:
        store = CampaignStore(Path(state))
        name = store.create(kind, "{}", "")
        add_steps(store.database, name, steps)
        setup, parts = assembled(StoreJournal(store.database, name))
        further = FurtherBudgets(
            known=recorded(store.database, name, FurtherBudget),
            asked=recorded(store.database, name, FurtherRuns),
        )
        result, _ = session.run_pipeline(setup, parts, further)
    return result, setup


def _fill_folder(
    place: Path, store: CampaignStore, record: CampaignRecord, evidence: CampaignEvidence
) -> None:
    manifest = {
        "format": FORMAT,
        "campaign": record.id,
        "created": record.created,
        "rtbisect": __version__,
        "request": codec.to_plain(CampaignRequest, _public_request(record.request)),
        "result": codec.to_plain(Result, evidence.result),
    }
    _write(place / _MANIFEST, json.dumps(manifest, indent=1, sort_keys=True))
    setup = evidence.setup
    if setup.request.site:
        repo = public_address(setup.repo)
        setup = replace(setup, request=_public_request(setup.request), repo=repo)
    _write(place / _SETUP, json.dumps(codec.to_plain(Setup, setup), indent=1))
    lines = (json.dumps(_public_step(step).as_row(), sort_keys=True) for step in evidence.steps)
    _write(place / _JOURNAL, "".join(f"{line}\n" for line in lines))
    _write(place / _ANSWERS, codec.to_json(Answers, evidence.answers))
    if record.report is not None:
        if (record.report.folder / INPUT).is_file():
            page_beside_draft(store, record)
        for name in _DRAFT:
            if (record.report.folder / name).is_file():
                shutil.copyfile(record.report.folder / name, place / name)
        if (place / PAGE).is_file():
            _relink(place / PAGE)
        if record.request.site and (place / _RESULT).is_file():
            _without_path(place / _RESULT)
    artefacts = ArtefactStore(store.state / "artefacts")
    write_kernels(
        place, artefacts, store.state, evidence.setup, _builds_of_answer(store, record, evidence)
    )
    names = sorted(path for path in place.rglob("*") if path.is_file())
    sums = [f"{_sha256(path)}  {path.relative_to(place)}" for path in names]
    _write(place / SUMS, "".join(f"{line}\n" for line in sums))


def _public_request(request: CampaignRequest) -> CampaignRequest:
    """A request without the folders of this machine. The repository of a command stays: its answer
    may name a command line with it, which a bundle has to come to again.
    """
    if not request.site:
        return request
    return replace(request, site=Path(request.site).name, repo=public_address(request.repo))


def _public_step(step: JournalStep) -> JournalStep:
    """A step as it is published: a draft names the file that it lies in without its folder."""
    if step.kind != format_of(Report).name:
        return step
    report = codec.from_json(Report, step.value)
    report = replace(report, path=Path(report.path).name)
    return replace(step, value=codec.to_json(Report, report))


def _without_path(answer: Path) -> None:
    """The file of the draft for programs names the repository as the mail does."""
    document = json.loads(answer.read_text("utf-8"))
    document["repo"] = public_address(document.get("repo", ""))
    answer.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", "utf-8")


def _relink(page: Path) -> None:
    """The page of the draft names the mail to the operator, which stays there; here are sums."""
    text = page.read_text("utf-8")
    page.write_text(text.replace(f'"{DRAFT}"', f'"{SUMS}"').replace(f">{DRAFT}<", f">{SUMS}<"))


def _builds_of_answer(
    store: CampaignStore, record: CampaignRecord, evidence: CampaignEvidence
) -> tuple[Build, ...]:
    """Builds of the culprit and its parents, else of the two ends."""
    wanted = {evidence.setup.request.older, evidence.setup.request.newer}
    culprit = evidence.result.culprit
    if culprit and evidence.result.outcome is Outcome.CULPRIT:
        graphs = recorded(store.database, record.id, CommitGraph)
        wanted = {culprit, *(sha for graph in graphs for sha in graph.parents_of(culprit))}
    builds = recorded(store.database, record.id, Build)
    usual = ("", RELINKED)
    return tuple(build for build in builds if build.revision in wanted and build.variant in usual)


def rejudge(folder: Path) -> Rejudgement:
    """Judge the measurements of a bundle again, with nothing but the bundle; ConfigError where it
    is not whole, or not one that this version reads.
    """
    check_sums(folder)
    held, setup, campaign = _open_bundle(folder)
    with _unreadable_as_config_error(folder):
        answers = codec.from_json(Answers, _read(folder, _ANSWERS))
        steps = [
            JournalStep.from_row(json.loads(line)) for line in _read(folder, _JOURNAL).splitlines()
        ]
    if len(steps) > _MOST_STEPS:
        raise ConfigError(f"{folder} has {len(steps)} steps", "it is no bundle of ours")
    tree, subject = ReplayedTree(answers), ReplayedSubject(assemble.traits_of(setup), answers)
    try:
        with _unreadable_as_config_error(folder, InternalError):
            now, _ = _rerun(
                steps,
                setup.request.kind,
                lambda journal: (setup, _idle_ports(tree, subject, journal)),
            )
    except (ConfigError, InternalError) as error:
        # The measurements ask for boots or builds that nobody has made.
        return Rejudgement(campaign, held, None, error.message)
    return Rejudgement(campaign, held, now)


def _open_bundle(folder: Path) -> tuple[Result, Setup, str]:
    """The answer, the set-up and the name of a campaign."""
    with _unreadable_as_config_error(folder):
        manifest = json.loads(_read(folder, _MANIFEST))
        version, made_by = manifest["format"], str(manifest["rtbisect"])[:40]
        if version == FORMAT:
            result = codec.from_plain(Result, manifest["result"])
            setup = codec.from_json(Setup, _read(folder, _SETUP))
            return result, setup, str(manifest["campaign"])
    raise ConfigError(
        f"{folder} has format {str(version)[:20]}, this program reads {FORMAT}",
        f"use rtbisect {made_by}",
    )


@contextmanager
def _unreadable_as_config_error(folder: Path, *more: type[RtbisectError]) -> Iterator[None]:
    """Make one line of whatever somebody else's file leads to; ConfigError and `more` say already
    what is wrong.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (ConfigError, *more)):
            raise
        raise ConfigError(
            f"{folder} cannot be read: {type(error).__name__}", "it was made by another version"
        ) from error


def read_boots(
    folder: Path, consoles: Iterable[tuple[str, str]]
) -> tuple[tuple[BootByHand, ...], Reported | None]:
    """What boots by the scripts of a bundle measured, from the name and the text of each console,
    and what the bundle reports of the same figure. ConfigError where none of them is a valid boot.
    """
    check_sums(folder)
    result, setup, _ = _open_bundle(folder)
    with _unreadable_as_config_error(folder):
        boots = tuple(boot_by_hand(setup, name, text) for name, text in consoles)
        if all(boot.why for boot in boots):
            raise ConfigError(boots[0].why, "keep the whole console of a boot")
        return boots, reported(setup, result)


def check_sums(folder: Path) -> None:
    """ConfigError unless each file of a bundle has the sum that SHA256SUMS says."""
    lines = _read(folder, SUMS).decode("utf-8", "replace").splitlines()
    names = set()
    for line in lines:
        match = re.fullmatch(r"([0-9a-f]{64})  ((?!/|\.\.)[A-Za-z0-9._/-]{1,200})", line)
        if match is None or ".." in match[2].split("/"):
            raise ConfigError(
                f"{folder / SUMS} has a line that is none", "it is not a whole bundle"
            )
        place = folder / match[2]
        names.add(match[2])
        if not place.is_file() or place.is_symlink() or _sha256(place) != match[1]:
            raise ConfigError(f"{place} is not as {SUMS} says", "get the bundle again")
    for name in (_MANIFEST, _SETUP, _JOURNAL, _ANSWERS):
        if name not in names:
            raise ConfigError(f"{folder / SUMS} does not name {name}", "it is not a whole bundle")


def _read(folder: Path, name: str) -> bytes:
    """A file of a bundle; ConfigError where it is no plain file right there, or too large."""
    place = folder / name
    if place.is_symlink() or not place.is_file() or place.parent.resolve() != folder.resolve():
        raise ConfigError(f"{folder} has no file {name}", "it is no bundle, or not a whole one")
    try:
        with gzip.open(place) if name.endswith(".gz") else place.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{place}: {error}", "get the bundle again") from error
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{place} is too large", "it is no bundle of ours")
    return data


def _write(place: Path, text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    if place.name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    write_whole(place, data)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def differences(judged: Rejudgement) -> Iterable[str]:
    """The parts of the answer that differ now, a line each."""
    if judged.now is None:
        yield f"no answer: {judged.why}"
        return
    for name in (each.name for each in fields(Result)):
        held, now = getattr(judged.held, name), getattr(judged.now, name)
        # An older program did not ask for the difference, so its answer has none.
        if not alike(held, now) and not (name == "difference" and held is None):
            shown = (_shown(held), _shown(now)) if name in _SHOWN else ("", "")
            yield f"{name}: {' -> '.join(shown) if shown[0] != shown[1] else 'other figures'}"


def _shown(value: Any) -> str:
    """A part of an answer for a person."""
    if isinstance(value, Finding):
        return str(speak(value))
    if isinstance(value, Gate):
        return f"{value.name} {value.status} ({speak(value.reason)})"
    if isinstance(value, Verification):
        note = f" ({speak(value.note)})" if value.note else ""
        return f"{speak(value.name)} {value.status}{note}"
    if isinstance(value, tuple):
        return ", ".join(map(_shown, value)) or "none"
    return str(value)
