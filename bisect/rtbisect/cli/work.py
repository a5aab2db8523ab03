# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect mail work`: what accepted replies ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rtbisect.cli.mail import answer_replies, mail
from rtbisect.cli.options import json_option
from rtbisect.cli.output import PlainProgress, keep_traceback
from rtbisect.errors import Exit, InternalError, Interrupted, RtbisectError
from rtbisect.mail.commands import carry_out
from rtbisect.mail.report_state import follow_outbox
from rtbisect.process.command import one_line
from rtbisect.store.replies import Replies, ReplyState

if TYPE_CHECKING:
    from rtbisect.cli.output import Output


@mail.command(epilog="Example: rtbisect mail work")
@json_option
@click.pass_obj
def work(output: Output) -> int:
    """Carry out what accepted replies ask for, one after the other; answers are drafts.

    What a kill interrupted, or the lab, goes on when this is called again.
    """
    replies, ended, progress = Replies(output.state), [], PlainProgress()
    follow_outbox(output.store, output.outbox)
    stopped: RtbisectError | None = None
    for reply in replies.all([ReplyState.ACCEPTED]):
        try:
            carry_out(output.state, replies, reply, progress)
        except Interrupted:
            raise
        except RtbisectError as error:
            # The others do not wait for a site file, a lab or an archive that this one needs.
            if isinstance(error, InternalError):
                keep_traceback(error, output.state)
            progress.say(f"rtbisect: reply {reply.key}: {one_line(str(error))}")
            replies.set(reply.key, ReplyState.ACCEPTED, f"waits: {one_line(str(error))}"[:300])
            stopped = stopped or error
        ended.append(replies.get(reply.key))
    answer_replies(output, ended)
    return int(stopped.exit_code if stopped else Exit.ANSWERED)
