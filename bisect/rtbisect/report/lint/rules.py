# SPDX-License-Identifier: GPL-2.0-or-later
"""All rules that a regression mail is held against, ours or a person's."""

from __future__ import annotations

from rtbisect.report.lint import form, says, tags
from rtbisect.report.lint.mail import Finding, Rule, read
from rtbisect.report.text import ascii_line

RULES: tuple[Rule, ...] = (*form.RULES, *tags.RULES, *says.RULES)

#: Findings of one rule that are told; a table that is wrong is wrong in each row.
_MOST = 5


def lint(data: bytes) -> tuple[Finding, ...]:
    """All findings on a mail, in the order of the rules; () for one that may go."""
    mail = read(data)
    found: list[Finding] = []
    for rule in RULES:
        told = [Finding(rule.name, where, ascii_line(said)) for where, said in rule.check(mail)]
        found += told[:_MOST]
        if len(told) > _MOST:
            found.append(Finding(rule.name, "", f"and {len(told) - _MOST} more"))
    return tuple(found)
