# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules on tags and on commands to regzbot.

Sources: Documentation/process/submitting-patches.rst, handling-regressions.rst, and regzbot's own
reference. Of regzbot's commands only those are used whose name never changed.
"""

from __future__ import annotations

import re

from rtbisect.report.lint.mail import Mail, Problems, Rule

#: Tags that only a person gives, for what that person did.
_PERSONAL = re.compile(r"\s*(Signed-off-by|Tested-by|Reviewed-by|Acked-by|Co-developed-by):\s")
_FIXES = re.compile(r'\s*Fixes: [0-9a-f]{12,40}( \("[^\n]+"\))?')
_COMMAND = re.compile(r"#regzbot\s+(\^?[a-z-]+)\s*:?\s*(.*)")
_NAMES = ("introduced", "title", "monitor", "link")
#: Commands that end a report, for whoever has withdrawn it.
_ENDS = ("resolve", "inconclusive")
_ID = re.compile(r"[0-9a-f]{8,40}( \^)?|(?P<from>v[0-9][^\s.]*(\.[^\s.]+)*)\.\.(?P<to>v\S+)")
#: v6.18, v6.18-rc1: stable tags have a third number.
_VANILLA = re.compile(r"v[0-9]+\.[0-9]+(-rc[0-9]+)?")
#: URL of a page, as `monitor` and `link` need it.
PAGE = re.compile(r"https://[A-Za-z0-9.-]+/[A-Za-z0-9._~:/?#@!$&'*+,;=%-]{1,400}")
REGRESSIONS = "regressions@lists.linux.dev"


def _personal(mail: Mail) -> Problems:
    for place, line in enumerate(mail.lines):
        if tag := _PERSONAL.match(line):
            yield place, f"{tag[1]}: is for a person to give"


def _closes(mail: Mail) -> Problems:
    own = mail.header("Message-ID").strip("<>")
    stripped = [line.strip() for line in mail.lines]
    for place, line in enumerate(stripped):
        if line.startswith("Reported-by:"):
            after = stripped[place + 1] if place + 1 < len(stripped) else ""
            if not after.startswith(("Closes:", "Link:")):
                yield place, "Reported-by: without Closes: below it"
        elif line.startswith("Closes:") and (not own or not line.endswith(f"/{own}")):
            yield place, "does not end in this mail's own Message-ID"


def _fixes(mail: Mail) -> Problems:
    for place, line in enumerate(mail.lines):
        if re.match(r"\s*Fixes:", line) and not _FIXES.fullmatch(line):
            yield place, 'is not `Fixes: <12 hex digits or more> ("<title>")` on one line'


def _offered(mail: Mail) -> Problems:
    if mail.public and mail.cause == "kernel" and mail.report and not mail.kind:
        for tag in ("Reported-by:", "Closes:", "Fixes:"):
            if not any(line.strip().startswith(tag) for line in mail.lines):
                yield "", f"offers no {tag} to who fixes it"


def _commands(mail: Mail) -> list[tuple[int, str, str]]:
    commands = []
    for place, line in enumerate(mail.lines):
        if match := _COMMAND.match(line):
            commands.append((place, match[1].lstrip("^"), match[2].strip()))
    return commands


def _regzbot_form(mail: Mail) -> Problems:
    for place, line in enumerate(mail.lines):
        if re.match(r"\s+#\s*regzbot\b|>?\s*#\s+regzbot\b", line):
            yield place, "is no command: `#` has to be the first character"
    commands = _commands(mail)
    at = {place for place, _, _ in commands}
    for place, name, rest in commands:
        if name not in _NAMES + _ENDS:
            yield place, f"{name} is left to a person: its name has changed before"
        elif not rest:
            yield place, f"{name} says nothing"
        for near in (place - 1, place + 1):
            if near not in at and 0 <= near < len(mail.lines) and mail.lines[near].strip():
                yield place, "no paragraph of its own, or folded: blank lines around it"
                break
    names = [name for _, name, _ in commands]
    if "introduced" in names[1:]:
        yield commands[names.index("introduced", 1)][0], "introduced comes first, and once"
    elif names and not set(names) & {"introduced", *_ENDS, "link", "monitor"}:
        yield commands[0][0], f"{names[0]} without introduced"


def _regzbot_id(mail: Mail) -> Problems:
    for place, name, rest in _commands(mail):
        if name in ("monitor", "link") and rest and not PAGE.fullmatch(rest.split()[0]):
            yield place, f"{name} names no page of an archive (https://...)"
        if name != "introduced":
            continue
        match = _ID.fullmatch(rest)
        if not match:
            yield place, "names no commit (8 digits or more) and no range of tags"
        elif match["to"] and not (
            _VANILLA.fullmatch(match["from"]) and _VANILLA.fullmatch(match["to"])
        ):
            yield place, "a range of tags other than mainline's may be filed wrongly"


def _regzbot_right(mail: Mail) -> Problems:
    """A regression is tracked where the kernel itself is the cause, and people use it so."""
    tracked = [place for place, name, _ in _commands(mail) if name == "introduced"]
    if tracked and mail.cause not in ("", "kernel"):
        yield tracked[0], f"tracks what the report calls {mail.cause}"
    if tracked and mail.draft:
        yield tracked[0], "in a draft: who approves it adds it"
    if tracked and REGRESSIONS not in mail.people:
        yield "Cc", f"{REGRESSIONS} is missing, so regzbot does not see the mail"


def _marked(mail: Mail) -> Problems:
    marked = bool(re.match(r"(Re: ?)?\[REGRESSION\]", mail.subject))
    if marked and not mail.draft and REGRESSIONS not in mail.people:
        yield "Cc", f"[REGRESSION] without {REGRESSIONS}"
    if marked and mail.cause not in ("", "kernel"):
        yield "Subject", f"[REGRESSION] although the cause is {mail.cause}"
    if (
        not marked
        and re.search(r"(?i)\bregression\b", mail.subject)
        and mail.public
        and mail.report
    ):
        yield "Subject", "says regression and does not begin with [REGRESSION]"
    if mail.cause and not marked and mail.cause != "kernel" and REGRESSIONS in mail.people:
        yield "Cc", f"{REGRESSIONS} for a cause that is {mail.cause}"


RULES = (
    Rule(
        "personal-tag", "a bot signs, tests and reviews nothing (submitting-patches.rst)", _personal
    ),
    Rule("closes", "Reported-by: is followed by Closes: (submitting-patches.rst)", _closes),
    Rule("fixes", "Fixes: is never folded (submitting-patches.rst)", _fixes),
    Rule("offered-tags", "who fixes it needs them (handling-regressions.rst)", _offered),
    Rule(
        "regression-mark",
        "[REGRESSION] and the list go together (reporting-regressions.rst)",
        _marked,
    ),
    Rule("regzbot-form", "own paragraph, introduced first, never folded (regzbot)", _regzbot_form),
    Rule("regzbot-id", "a commit, tags of one tree, or a page (regzbot)", _regzbot_id),
    Rule(
        "regzbot-right",
        "only a kernel's own regression is tracked (handling-regressions.rst)",
        _regzbot_right,
    ),
)
