# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect mail work`: what accepted replies ask for."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect import abtest, answers, asked, wiring
from rtbisect.cli import runner
from rtbisect.cli.mail import answer_replies, mail
from rtbisect.cli.options import json_option
from rtbisect.cli.output import PlainProgress, keep_traceback, one_line
from rtbisect.config import load_site
from rtbisect.errors import ConfigError, Exit, InternalError, Interrupted, RtbisectError
from rtbisect.post.fetch import fetch, is_address
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.replies import Replies, ReplyState

if TYPE_CHECKING:
    from rtbisect.abtest import Question
    from rtbisect.cli.output import Output
    from rtbisect.model.campaign import CampaignRequest
    from rtbisect.store.campaigns import CampaignRecord
    from rtbisect.store.replies import KeptReply


@mail.command(epilog="Example: rtbisect mail work")
@json_option
@click.pass_obj
def work(output: Output, as_json: bool) -> int:
    """Carry out what accepted replies ask for, one after the other; answers are drafts.

    What a kill interrupted, or the lab, goes on when this is called again.
    """
    kept, ended = Replies(output.state), []
    stopped: RtbisectError | None = None
    for reply in kept.all([ReplyState.ACCEPTED]):
        try:
            _carry_out(output, kept, reply)
        except Interrupted:
            raise
        except RtbisectError as error:
            # The others do not wait for a site file, a lab or an archive that this one needs.
            if isinstance(error, InternalError):
                keep_traceback(error, output.state)
            PlainProgress().say(f"rtbisect: reply {reply.key}: {one_line(str(error))}")
            kept.set(reply.key, ReplyState.ACCEPTED, f"waits: {one_line(str(error))}"[:300])
            stopped = stopped or error
        ended.append(kept.get(reply.key))
    answer_replies(output, ended, as_json=as_json)
    return int(stopped.exit_code if stopped else Exit.ANSWERED)


def _carry_out(output: Output, kept: Replies, reply: KeptReply) -> None:
    """All commands of a reply, those that an earlier session has not done yet."""
    said = list(kept.said(reply.key))
    for place, (name, argument) in enumerate(reply.asked):
        if place >= len(said):
            said.append(_one(output, kept, reply, (place, name, argument)))
            kept.say(reply.key, said)
    kept.set(reply.key, ReplyState.DONE, "; ".join(said))


def _one(output: Output, kept: Replies, reply: KeptReply, what: tuple[int, str, str]) -> str:
    """What became of one command, in a line. What is wrong with the command itself is told; what is
    wrong with site, lab or archive is raised, and the reply stays.
    """
    place, name, argument = what
    if name in ("invalid", "dup"):
        return f"{name}: for you to decide, `rtbisect report withdraw {reply.campaign}`"
    store = CampaignStore(output.state)
    record = store.get(reply.campaign)
    request = runner.request_of(record)
    # A site file that cannot be read is nothing that the asker has done.
    site = load_site(Path(request.site))
    site.target(request.tree)
    patches = b""
    if name == "test" and is_address(argument):
        patches = fetch(argument, site.ours.mail.commands.archives)
    elif name == "test" and not argument:
        patches = kept.mail(reply.key).read_bytes()
    # The same reply asks for the same campaign, however often it is looked at.
    digest = hashlib.sha256(f"{reply.key} {place}".encode()).hexdigest()
    seed = int(digest[:7], 16)
    try:
        if name == "bisect":
            wanted = replace(_bisection(output, request, argument), seed=seed)
        else:
            question = _question(output, record, request, patches, argument, seed)
            wanted = question.request
    except ConfigError as error:
        return f"{name}: {error.message}"
    found = runner.once(output, wanted, again=False)
    if name == "bisect":
        return f"bisect: campaign {found.id}"
    answer = abtest.write_answer(output.state, record, question, found, reply.message_id)
    answers.tested(store, record, answer.level, newest=question.newest)
    return f"{name}: {abtest.WORDS[answer.level]}, {answer.path}"


def _bisection(output: Output, request: CampaignRequest, argument: str) -> CampaignRequest:
    """The search of a report in another range."""
    ends = argument.split()
    if len(ends) != 2:
        raise ConfigError("wants a good and a bad revision", "say both")
    place, suite, metric = Path(request.site), request.suite, request.metric
    good, bad = asked.good_and_bad(
        output.state, place, request.tree, ends[0], ends[1], suite, metric
    )
    tree = wiring.tree_of(output.state, load_site(place).target(request.tree))
    if tree.foreign(good) or tree.foreign(bad):
        raise ConfigError("an end is a patch that somebody has sent", "ask for a test of it")
    return replace(request, kind="bisect", good=good, bad=bad, repo="")


def _question(
    output: Output,
    record: CampaignRecord,
    request: CampaignRequest,
    patches: bytes,
    argument: str,
    seed: int,
) -> Question:
    """What two revisions a command is about: `retest` names the tree's branch as it is now."""
    if patches:
        return abtest.of_patch(output.state, record, request, patches, seed)
    return abtest.of_revision(output.state, record, request, argument, seed)
