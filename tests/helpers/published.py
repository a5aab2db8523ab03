# SPDX-License-Identifier: GPL-2.0-or-later
"""Evidence of a campaign as it is published, and consoles of boots that its scripts make."""

import base64
import gzip
import hashlib
import io
import subprocess
import tarfile
from pathlib import Path

from helpers.report_parts import settings
from rtbisect.evidence import bundle
from rtbisect.evidence.replay import Answers
from rtbisect.lab import console_block
from rtbisect.lab.job_log import parse
from rtbisect.model.campaign import CampaignRequest
from rtbisect.report.draft import DraftMailer
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore

ROOT = Path(__file__).resolve().parents[2]
BOOTS = ROOT / "tests/data/boots"


def publish(monkeypatch, state, setup, result, builds, folder, report=None):
    """The folder and, beside it, the archive of a campaign that came to `result`; with its page
    where there is the input of its report.
    """
    draft = DraftMailer(settings(state / "reports")).draft(report, ()) if report else None
    store = CampaignStore(state)
    name = store.create("bisect", codec.to_json(CampaignRequest, setup.request), "now")
    if draft is not None:
        # Where the store has the draft of this campaign.
        (state / "reports" / draft.campaign).rename(state / "reports" / name)
    store.finish(name, result, draft)
    monkeypatch.setattr(bundle, "_builds_of_answer", lambda *_: builds)
    folder.mkdir(parents=True)
    evidence = bundle.CampaignEvidence(setup, (), Answers(), result)
    bundle._fill_folder(folder, store, store.get(name), evidence)
    packed = bundle._pack(folder, folder.name)
    return packed.rename(folder.with_name(f"{folder.name}{bundle.ARCHIVE}"))


def printed(lines):
    """What a shell gets of the printed lines of a recipe."""
    return [line.removeprefix("  ") for line in lines]


def served(repo, ref, bare):
    """A ref of a repository as the branch main of one that a server of files can give."""
    for words in (
        ("init", "-q", "--bare", "-b", "main", bare),
        ("--git-dir", bare, "fetch", "-q", repo, f"{ref}:refs/heads/main"),
        ("--git-dir", bare, "update-server-info"),
    ):
        subprocess.run(["git", "-c", "safe.directory=*", *map(str, words)], check=True)


def console(name, order, **facts):
    """A recorded boot as the scripts of a bundle print one, its windows in another order; `facts`
    stand in the place of what the machine told.
    """
    log = parse(gzip.decompress((BOOTS / name).read_bytes()).decode("utf-8", "surrogateescape"))
    files = dict(console_block.files_of(log.console))
    files["order.txt"] = f"{order}\n".encode()
    told = files["preflight/facts.txt"].decode().splitlines()
    kept = [line for line in told if line.partition("=")[0] not in facts]
    changed = [f"{key}={value}" for key, value in facts.items()]
    files["preflight/facts.txt"] = "".join(f"{line}\n" for line in [*kept, *changed]).encode()
    lines = [f"CASE {case} {result}" for case, result in log.of_device().items()]
    return "\n".join([*lines, *_block(files), console_block.DONE, ""])


def _block(files):
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    packed = gzip.compress(plain.getvalue(), mtime=0)
    digest = hashlib.sha256(packed).hexdigest()
    yield f"{console_block.BEGIN} v1 sha256={digest} bytes={len(packed)}"
    text = base64.b64encode(packed).decode()
    yield from (text[at : at + 76] for at in range(0, len(text), 76))
    yield console_block.END
