# SPDX-License-Identifier: GPL-2.0-or-later
"""All rules that a regression mail is held against, ours or a person's."""

from __future__ import annotations

from rtbisect.report.lint import content, form, tags
from rtbisect.report.lint.mail import Fault, Mail, Rule, read
from rtbisect.report.text import ascii_line
from rtbisect.words.numbers import further

RULES: tuple[Rule, ...] = (*form.RULES, *tags.RULES, *content.RULES)

#: Faults by one rule that are told; a table that is wrong is wrong in each row.
_MOST = 5


def lint(data: bytes) -> tuple[Fault, ...]:
    """All faults of a mail, in the order of the rules; () for one that may go."""
    try:
        mail = read(data)
    except Exception as error:  # noqa: BLE001  (the parser of the library, on what anybody may send)
        return (Fault("headers", "", f"cannot be read as a mail: {type(error).__name__}"),)
    faults: list[Fault] = []
    for rule in RULES:
        of_rule = _faults_of(rule, mail)
        faults += of_rule[:_MOST]
        if more := further(len(of_rule) - _MOST):
            faults.append(Fault(rule.name, "", more))
    return tuple(faults)


def _faults_of(rule: Rule, mail: Mail) -> list[Fault]:
    """Faults by a rule; what cannot be looked at is one, too."""
    try:
        return [
            Fault(rule.name, f"line {at + 1}" if isinstance(at, int) else at, ascii_line(problem))
            for at, problem in rule.check(mail)
        ]
    except Exception as error:  # noqa: BLE001  (parsers of the library again)
        return [Fault(rule.name, "", f"cannot be looked at: {type(error).__name__}")]
