# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect mail work`: what accepted replies ask for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rtbisect.campaign import ab_test, assemble, resolve, session
from rtbisect.campaign.ab_test import Question
from rtbisect.cli.mail import answer_replies, mail
from rtbisect.cli.options import json_option
from rtbisect.cli.output import PlainProgress, keep_traceback
from rtbisect.config.site_file import load_site
from rtbisect.errors import ConfigError, Exit, InternalError, Interrupted, RtbisectError
from rtbisect.mail import result_mail
from rtbisect.mail.report_state import follow_outbox
from rtbisect.mail.transport.fetch import fetch, is_address
from rtbisect.model.command import FOREIGN, GIVEN
from rtbisect.process.command import one_line
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.outbox import Outbox
from rtbisect.store.replies import Replies, ReplyState

if TYPE_CHECKING:
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
    follow_outbox(CampaignStore(output.state), Outbox(output.state))
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
    place, name, _argument = what
    if name in ("invalid", "dup"):
        return f"{name}: for you to decide, `rtbisect report withdraw {reply.campaign}`"
    store = CampaignStore(output.state)
    record = store.get(reply.campaign)
    request = session.request_of(record)
    # A site file that cannot be read is nothing that the asker has done.
    load_site(Path(request.site)).target(request.tree)
    if data := kept.question(reply.key, place):
        question = codec.from_json(Question, data)
    else:
        try:
            question = _question(output, kept, _Asked(reply, record, request), what)
        except ConfigError as error:
            return f"{name}: {error.message}"
        kept.keep_question(reply.key, place, codec.to_json(Question, question).encode())
    try:
        found = session.once(output.state, question.request, PlainProgress(), again=False)
        if name == "bisect":
            return f"bisect: campaign {found.id}"
        answer = ab_test.write_answer(output.state, record, question, found, reply.message_id)
    except ConfigError as error:
        # A patch that the configuration does not survive stays one; what the site lacks does not.
        if FOREIGN not in dict(question.request.extra):
            raise
        return f"{name}: {error.message}"
    result_mail.tested(store, record, answer.level, newest=question.newest)
    return f"{name}: {ab_test.WORDS[answer.level]}, {answer.path}"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A reply, and the campaign whose report it answers."""

    reply: KeptReply
    record: CampaignRecord
    request: CampaignRequest


def _question(output: Output, kept: Replies, about: _Asked, what: tuple[int, str, str]) -> Question:
    """What two revisions a command is about; ConfigError where it makes no sense."""
    place, name, argument = what
    record, request = about.record, about.request
    # A question of its own: an equal one of another reply has boots of its own.
    seed = int(hashlib.sha256(f"{about.reply.key} {place}".encode()).hexdigest()[:7], 16)
    if name == "bisect":
        return Question(replace(_bisection(output, request, argument), seed=seed), "")
    if name == "test" and is_address(argument):
        archives = load_site(Path(request.site)).ours.mail.commands.archives
        mail = fetch(argument, archives)
    elif name == "test" and not argument:
        mail = kept.mail(about.reply.key).read_bytes()
    else:
        # `retest` is of the branch, whatever is written behind it.
        revision = argument if name == "test" else ""
        return ab_test.of_revision(output.state, record, request, revision, seed)
    return ab_test.of_patch(output.state, record, request, mail, seed)


def _bisection(output: Output, request: CampaignRequest, argument: str) -> CampaignRequest:
    """The search of a report in another range."""
    ends = argument.split()
    if len(ends) != 2:
        raise ConfigError("wants a good and a bad revision", "say both")
    place, suite, metric = Path(request.site), request.suite, request.metric
    good, bad, given = resolve.good_and_bad(
        output.state, place, request.tree, ends[0], ends[1], suite, metric
    )
    tree = assemble.tree_of(output.state, load_site(place).target(request.tree))
    if any(tree.foreign(sha) for sha in (good, bad, given) if sha):
        raise ConfigError("an end is a patch that somebody has sent", "ask for a test of it")
    # Nothing of the merge base of the search that was reported.
    extra = tuple(pair for pair in request.extra if pair[0] != GIVEN)
    extra = (*extra, (GIVEN, given)) if given else extra
    return replace(request, kind="bisect", good=good, bad=bad, repo="", extra=extra)
