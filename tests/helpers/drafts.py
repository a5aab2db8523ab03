# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of drafts read out of them."""

from email import message_from_string
from email.policy import default


def body(mailer, report):
    return mailer.body(report)


def parsed(eml):
    return message_from_string(eml, policy=default)


def shown_in(mailer, report):
    return " ".join(body(mailer, report).split())
