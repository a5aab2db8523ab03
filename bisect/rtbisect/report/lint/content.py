# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules on what a mail says that accuses a commit: what reviewers asked first, and what made them
throw a report away. Sources: reporting-regressions.rst, reporting-issues.rst, and threads in which
reports were refuted (docs/reports.md names them by what was wrong).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rtbisect.report.lint.implausible import same_counters, same_figures, sums_as_maxima
from rtbisect.report.lint.mail import Mail, Problems, Rule

_UNIT = (
    r"(?:us|ns|ms|s|/s|/ms|%|seconds?|minutes?|per second|times|[kMG]B(?:/s)?|[kMG]bit/s|fps|watts?"
    r"|W|irqs?|IPIs?|boots?)"
)
_NUMBER = re.compile(
    rf"\b[0-9][0-9.,]*(?:\s?{_UNIT}\b|%|/m?s\b)|\b[0-9]+ (?:of|out of) [0-9]+\b"
    # A ratio has no unit.
    r"|(?<![\w.])[0-9]+\.[0-9]+\b(?!\.)"
)
#: Numbers that name a kernel.
_VERSION = re.compile(
    r"(?i)\bv[0-9]+\.[0-9]+[\w.-]*|\b[0-9]+\.[0-9]+(?:\.[0-9]+)?-rc[0-9]+"
    r"|\b(?:kernels?|linux|than|since|between|with|in|and|on|from|to|of) [3-7]\.[0-9]{1,2}"
    rf"(?:\.[0-9]+)?\b(?!\s?(?:{_UNIT}\b|%|/))"
)
#: Words for what a kernel no longer does: a claim that needs no figure.
_BREAKS = re.compile(
    r"(?i)\b(no longer|does ?n[o']t|do not|cannot|can't|fail(s|ed|ing)?|stop(s|ped)"
    r"|br(eaks|oke|oken)|hangs?|panics?|oops(es)?|crash(es|ed)?|freezes?|freezing|froze"
    r"|stands? still|lock(s|ed)? up|lockup)\b"
)

#: What has to be said somewhere: name, pattern, what is missing, where it is asked for.
_MUST: tuple[tuple[str, str, str, str], ...] = (
    (
        "versions",
        (
            r"(?i)(?<![\w\[])(v[0-9][\w.-]*|[0-9a-f]{8,40}|[a-z][\w/-]{2,})\.\.\w"
            r"|last good.*first bad|\bgood\b.*\bbad\b"
            r"|\bv?[0-9]\.[0-9][\w.-]* (?:works|is (?:fine|good|ok))\b.{1,200}\b[0-9]\.[0-9]"
        ),
        "names no last good and first bad revision",
        "reporting-regressions.rst asks for both",
    ),
    (
        "smt",
        r"(?i)\bSMT\b|hyper-?threading|siblings? (off|on|offline|online)|threads? (a|per) core",
        "does not say whether SMT is on",
        "two maintainers asked that first of a report on isolated CPUs",
    ),
    (
        "machine",
        (
            r"(?i)\b(xeon|epyc|ryzen|core i[3579]|i[3579]-[0-9]{3,5}[a-z]*|opteron|atom|qemu"
            r"|skylake|haswell|raspberry|thinkpad|laptop|device|hardware)\b|\bcore\(tm\)"
        ),
        "does not say on what machine",
        "reviewers asked what hardware was in use",
    ),
    (
        "boot-line",
        r"(?i)\b(isolcpus|nohz_full|rcu_nocbs)=|boot line|cmdline|command line",
        "does not tell the boot line",
        "isolation is what the boot line makes of it",
    ),
    (
        "compiler",
        r"(?i)\b(gcc|clang|compiler)\b",
        "does not name the compiler",
        "layout and instructions follow it (reporting-regressions.rst)",
    ),
    (
        "config",
        r"(?i)\bconfig(uration)?\b|\bCONFIG_[A-Z0-9_]+|defconfig",
        "does not tell the configuration",
        "a regression needs similar configurations (reporting-regressions.rst)",
    ),
    (
        "boots",
        r"(?i)\b[0-9]+ ?(\+ ?[0-9]+ )?(boots|runs)\b|\bn ?= ?[0-9]+|\b(boots|runs) +(each|per)\b",
        "does not say how many boots the figures come from",
        "samples of one boot are not independent",
    ),
    (
        "spread",
        (
            r"\[ ?[0-9.,]+ ?\.\. ?[0-9.,]+ ?\]|95 ?%|\+-|\u00b1|\b[0-9]+ of [0-9]+\b"
            r"|(?i:std ?dev|stddev|interval|min.*max)"
        ),
        "tells no spread",
        "a difference counts only beside the spread of boots of one kernel",
    ),
    (
        "controls",
        (
            r"(?i)\bA/A\b|(boots|runs) of (one|the same) (kernel|build)\b"
            r"|same (build|kernel)\b.*(twice|again|repeated)"
            r"|(without|with no|no) (the |such a |any )?(workload|reader|tracer|load)"
            r"|reader +(no|off)\b"
        ),
        "has no control: no row without the workload, no kernel against itself",
        "the matrix of controls is what reports were thanked for",
    ),
    (
        "revert",
        r"(?i)\brevert",
        "does not say whether a revert was tested",
        "the second question after: is it still there?",
    ),
)


def _must_say(pattern: str, problem: str) -> Callable[[Mail], Problems]:
    """The check of a rule: a report that has nothing like `pattern` has the `problem`."""
    compiled = re.compile(pattern, re.DOTALL)

    def check(mail: Mail) -> Problems:
        # Line ends mean nothing: the words are joined.
        if mail.report and not compiled.search(" ".join(mail.body.split())):
            yield "", problem

    return check


_TIP = re.compile(
    r"(?i)\btip\b|\bmainline\b|still (bad|there|present|happens)|\blatest\b|\bnewest\b|-next\b"
)


def _tip(mail: Mail) -> Problems:
    # A revert "on the tip" says what the tip does without the commit.
    text = re.sub(r"(?i)\brevert(ed)?\b[^.]{0,20}\btip\b", "", " ".join(mail.body.split()))
    # A mail that asks for a backport is about a commit that the newest kernel has.
    if mail.report and mail.kind != "backport" and not _TIP.search(text):
        yield "", "does not say whether the newest kernel has it"


def _claim(mail: Mail) -> Problems:
    claim = re.sub(r"\bp = [0-9.e-]+", "", _VERSION.sub("", mail.claim))
    if mail.report and re.search(r"\bnot measured\b", claim):
        yield "line 1", "a figure of the claim was not measured"
    elif mail.report and len(_NUMBER.findall(claim)) < 2 and not _BREAKS.search(claim):
        yield "line 1", "the first paragraph has no figure and no value to compare it with"


#: Words for failures that a console shows, and signs that the mail has it or says where it is.
_HANGS = re.compile(
    r"(?i)\b(hangs?|stands? still|stalls?|freezes?|froze|lock(s|ed)? up|lockups?"
    r"|panics?|oops(es)?)\b"
)
_CONSOLE = re.compile(
    r"\+0x[0-9a-f]+/0x|\b(INFO|BUG|WARNING): |Call Trace|rtbisect-s(tack|ymptom)|watchdog: "
    r"|(?i:\bdmesg\b|\bconsole\b(?!=)|detected (expedited )?stalls?)"
)


def _console(mail: Mail) -> Problems:
    claim = re.sub(r"\(\"[^\"]*\"\)", "", mail.claim)
    if mail.report and _HANGS.search(claim) and not _CONSOLE.search(mail.body):
        yield "", "shows nothing of the console of what hangs"


def _sums(mail: Mail) -> Problems:
    for place, name in sums_as_maxima(mail.lines):
        problem = f"{name}: (runtime - it) / runtime is the share available, so it is a sum"
        yield place, problem


def _nanoseconds(mail: Mail) -> Problems:
    for place, line in enumerate(mail.own_text.split("\n")):
        # The tracepoints of the kernel give nanoseconds; its summary does not.
        other_noise = re.search(r"(?i)\bduration\b|\b(with)?in (the )?noise\b", line)
        in_ns = re.search(r"\b[0-9]+(\.[0-9]+)? ?ns\b", line) and re.search(r"(?i)noise", line)
        if in_ns and not other_noise:
            yield place, "osnoise counts whole microseconds: ns cannot be its unit"


def _counters(mail: Mail) -> Problems:
    for place, value in same_counters(mail.lines):
        yield place, f"two kernels have the same count {value}: one of them is a copy"


def _figures(mail: Mail) -> Problems:
    for place, value in same_figures(mail.lines):
        problem = f"all figures are those of a row above (the first is {value}); other boots differ"
        yield place, problem


#: Tools that measure with what they may accuse; the kernel's own tracer does not.
_TOOL = re.compile(r"(?i)\b(eosnoise|bpftrace|e?bpf|perf (record|trace|stat|buffers?))\b")
#: Words for what such a tool disturbs.
_QUIET = re.compile(r"(?i)\bisolat|noise|\bIPIs?\b|latenc|jitter")
_TRACER = re.compile(r"(?i)\brtla\b|in-kernel|kernel'?s? (own )?(osnoise )?tracer|the kernel's own")


def _instrument(mail: Mail) -> Problems:
    if mail.cause == "tool-induced" and mail.public:
        yield "", "the tool makes the effect: nothing of it is the kernel's"
    elif (
        mail.report
        and (tool := _TOOL.search(mail.own_text))
        and _QUIET.search(mail.own_text)
        and not _TRACER.search(mail.own_text)
    ):
        yield (
            "",
            f"{tool[0]} measures, and no row is by the kernel's own tracer: it may be the tool",
        )


_ASKED = re.compile(
    r"(?i)\b(?:(?:please|kindly)\W+(?:\w+\W+){0,2}revert"
    r"|(?:should|must|has to|ought to|needs? to)\W+(?:also\W+|just\W+)?(?:be\W+)?revert"
    r"|(?:could|can|would|will) (?:you|we|someone|somebody)\W+(?:please\W+)?revert"
    r"|consider(?:ing)?\W+(?:a\W+|to\W+)?revert"
    r"|(?:ask|request)(?:ing|s)?\W+(?:\w+\W+){0,4}revert)"
)
_NOT = r"(?i)\b(?:not|never|nobody|no)\b|n't\b"


def _asks(mail: Mail) -> Problems:
    for sentence in re.split(r"[.?!](?:\s|$)", " ".join(mail.own_text.split())):
        match = _ASKED.search(sentence)
        before = sentence[: match.start()].split()[-3:] if match else []
        if match and not re.search(_NOT, f"{' '.join(before)} {match[0]}"):
            yield "", "asks for a revert: say what one would bring back and leave it to people"
            return


def _placeholder(mail: Mail) -> Problems:
    for place, line in enumerate(mail.own_text.split("\n")):
        if gap := re.search(
            r"\bN{2,}\b|\bN\.N\b|<\.\.\.>(?!-[0-9])|\{\{|\{%|\bNone\b(?! of)|\bnan\b|\bTODO\b"
            r"|\bXXX\b",
            line,
        ):
            yield place, f"has a gap: {gap[0]}"


def _for_lists(mail: Mail) -> Problems:
    """A report of ours is for its operator until somebody answers for it."""
    reviewer = "X-rtbisect-Reviewed-By"
    if mail.outcome and mail.public and not mail.draft and not mail.header(reviewer):
        yield reviewer, "is not there: nobody has approved it for others"


def _evidence(mail: Mail) -> Problems:
    if mail.subject.startswith("[REGRESSION]") and not mail.draft:
        if not re.search(r"(?m)^(?!\s*(?:Closes|Link):).*https?://", mail.body):
            yield "", "no link to the data: log, configuration, raw figures"
        elif mail.header("X-rtbisect-Outcome") and "SHA256SUMS" not in mail.body:
            yield "", "the data behind the link are not named by SHA256SUMS"


def _one_issue(mail: Mail) -> Problems:
    fixes = {line.split()[1][:12] for line in mail.lines if re.match(r"\s*Fixes: [0-9a-f]", line)}
    if len(fixes) > 1:
        yield "", f"names {len(fixes)} commits: one issue a mail"


RULES = (
    Rule("claim", "many read the subject and one sentence (reporting-issues.rst)", _claim),
    *(Rule(name, why, _must_say(pattern, problem)) for name, pattern, problem, why in _MUST),
    Rule("tip", "the first question of a stable maintainer", _tip),
    Rule("console", "the stack says where it hangs (reporting-issues.rst)", _console),
    Rule("sum-as-maximum", "the figure of a withdrawn report was a sum, not a maximum", _sums),
    Rule("nanoseconds", "values below a microsecond cannot exist (trace_osnoise.c)", _nanoseconds),
    Rule("same-counter", "counters of two boots never agree to the digit", _counters),
    Rule("same-figures", "figures of two series of boots never agree to the digit", _figures),
    Rule("instrument", "a tool that is part of the effect proves nothing", _instrument),
    Rule("asks-revert", "a commit that repairs something is not reverted for a figure", _asks),
    Rule("placeholder", "an unfinished mail is worse than none", _placeholder),
    Rule("not-for-lists", "a person answers for what a list gets", _for_lists),
    Rule("evidence", "raw data by link, for years (reporting-issues.rst)", _evidence),
    Rule("one-issue", "a mail of two issues is closed with one of them", _one_issue),
)
