# SPDX-License-Identifier: GPL-2.0-or-later
"""What replies ask for, carried out: a test of a patch, of the newest revision, another search."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.campaign import ab_test, resolve, session, trees
from rtbisect.campaign.ab_test import Question
from rtbisect.config.site_file import Site, load_site
from rtbisect.errors import ConfigError
from rtbisect.mail import result_mail
from rtbisect.mail.reply_text import Asked
from rtbisect.mail.transport.fetch import fetch, is_address
from rtbisect.model.campaign import CampaignKind, CampaignRequest
from rtbisect.model.command import Extra
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Outcomes, Replied
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignRecord, CampaignStore
from rtbisect.store.replies import KeptReply, Replies, ReplyState

if TYPE_CHECKING:
    from rtbisect.model.ports import Screen


def carry_out(state: Path, replies: Replies, reply: KeptReply, progress: Screen) -> None:
    """All commands of a reply, those that an earlier session has not done yet, and none from when
    a person has closed it.
    """
    outcomes = list(replies.outcomes(reply.key))
    for position, (name, argument) in enumerate(reply.asked):
        if position >= len(outcomes):
            if replies.get(reply.key).state is not ReplyState.ACCEPTED:
                return
            outcomes.append(
                _carry_out_one(state, replies, reply, (position, name, argument), progress)
            )
            replies.keep_outcomes(reply.key, outcomes)
    why = Finding.of(Replied.CARRIED_OUT, outcomes=tuple(outcomes))
    replies.move(reply.key, (ReplyState.ACCEPTED,), ReplyState.DONE, why)


def _carry_out_one(
    state: Path,
    replies: Replies,
    reply: KeptReply,
    command: tuple[int, str, str],
    progress: Screen,
) -> Finding:
    """What became of one `command` (its place in the reply, name, argument). What is wrong with the
    command itself is found; what is wrong with site, lab or archive is raised, and the reply stays.
    """
    position, name, _argument = command
    if name in (Asked.INVALID, Asked.DUP):
        return Finding.of(Outcomes.TO_DECIDE, command=name, campaign=reply.campaign)
    store = CampaignStore(state)
    record = store.get(reply.campaign)
    # A site file that cannot be read is nothing that the asker has done.
    site = load_site(Path(record.request.site))
    site.target(record.request.tree)
    if data := replies.question(reply.key, position):
        question = codec.from_json(Question, data)
    else:
        try:
            question = _question_of(state, replies, _ReportThread(reply, record, site), command)
        except ConfigError as error:
            return Finding.of(Outcomes.REFUSED, command=name, error=error.message)
        replies.keep_question(reply.key, position, codec.to_json(Question, question).encode())
    try:
        campaign = session.once(state, question.request, progress, again=False)
        if name == Asked.BISECT:
            return Finding.of(Outcomes.SEARCHED, command=name, campaign=campaign.id)
        answer = ab_test.write_answer(state, record, question, campaign, reply.message_id)
    except ConfigError as error:
        # A patch that the configuration does not survive stays one; what the site lacks does not.
        if not Extra.of(question.request).foreign:
            raise
        return Finding.of(Outcomes.REFUSED, command=name, error=error.message)
    result_mail.note_test(store, record, answer, newest=question.newest)
    word = ab_test.WORDS[answer.level]
    return Finding.of(Outcomes.ANSWERED, command=name, answer=word, path=str(answer.path))


@dataclass(frozen=True, slots=True)
class _ReportThread:
    """A reply, and the campaign whose report it answers, with its site as it is now."""

    reply: KeptReply
    record: CampaignRecord
    site: Site


def _question_of(
    state: Path, replies: Replies, thread: _ReportThread, command: tuple[int, str, str]
) -> Question:
    """What two revisions a `command`, as in `_carry_out_one`, is about; ConfigError where it makes
    no sense.
    """
    position, name, argument = command
    # A question of its own: an equal one of another reply has boots of its own.
    seed = int(hashlib.sha256(f"{thread.reply.key} {position}".encode()).hexdigest()[:7], 16)
    if name == Asked.BISECT:
        request = _bisection_request(state, thread.site, thread.record.request, argument)
        return Question(replace(request, seed=seed), None)
    if name == Asked.TEST and is_address(argument):
        mail = fetch(argument, thread.site.ours.mail.commands.archives)
    elif name == Asked.TEST and not argument:
        mail = replies.mail(thread.reply.key).read_bytes()
    else:
        # `retest` is of the branch, whatever is written behind it.
        revision = argument if name == Asked.TEST else ""
        return ab_test.of_revision(state, thread.record, revision, seed)
    return ab_test.of_patch(state, thread.record, mail, seed)


def _bisection_request(
    state: Path, site: Site, request: CampaignRequest, argument: str
) -> CampaignRequest:
    """The search of a report in another range."""
    ends = argument.split()
    if len(ends) != 2:
        raise ConfigError("wants a good and a bad revision", "say both")
    older, newer = request.sought.ends(*ends)
    asked = resolve.ends_of_tree(
        state, site, request.tree, (older,), newer, request.suite, request.metric
    )
    tree = trees.tree_of(state, site.target(request.tree))
    if any(tree.foreign(sha) for sha in (asked.older, asked.newer, asked.given) if sha):
        raise ConfigError("an end is a patch that somebody has sent", "ask for a test of it")
    # Nothing of the range of the search that was reported: its merge base, what was known of it.
    extra = replace(Extra.of(request), given=asked.given, goods=(), sure=None).pairs
    return replace(
        request,
        kind=CampaignKind.BISECT,
        older=asked.older,
        newer=asked.newer,
        repo="",
        extra=extra,
    )
