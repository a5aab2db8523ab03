# SPDX-License-Identifier: GPL-2.0-or-later
"""Words of mails about a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rtbisect.model.campaign import Outcome
from rtbisect.model.kinds.mail import Newer
from rtbisect.model.kinds.report import (
    Changes,
    Columns,
    Concerns,
    Footers,
    Found,
    Levels,
    Machines,
    Online,
    Opens,
    Series,
    Shows,
    Sure,
    Symptoms,
    Tasks,
    Tried,
    Untested,
    Where,
    Withdrawn,
)
from rtbisect.words.metrics import BOOT_PHRASES, PHRASES, heading, phrases_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.words.template import Words

_ARROW = "{base:figure} -> {new:figure}{unit:unit}"
_FROM_TO = "from {base:figure} to {new:figure}{unit:unit}"


def _moves(data: Mapping[str, Any]) -> str:
    if data["new"] == data["base"]:
        return "stays at {new:figure}{unit:unit}"
    return f"{'rises' if data['new'] > data['base'] else 'falls'} {_FROM_TO}"


#: What CPUs are called that are watched and that are not, by whether those are isolated.
_CPUS = {
    True: ("an isolated CPU", "a housekeeping CPU"),
    False: ("a watched CPU", "a CPU that is not watched"),
}


def _change(data: Mapping[str, Any]) -> str:
    key = data["suite"], data["name"]
    if data["new"] != data["base"]:
        if (phrases := PHRASES.get(key)) is not None:
            watched, working = _CPUS[bool(data["isolated"])]
            return phrases.change.replace("{cpu}", watched).replace("{working}", working)
        if (of_boots := BOOT_PHRASES.get(key)) is not None:
            # Counted as shares of boots.
            share = "{new:percent} of the boots instead of {base:percent}"
            return f"{of_boots.happens} in {share}"
    meaning = " ({title})" if data["title"] else ""
    return f"{_name(data)}{meaning} {_moves(data)}"


def _name(data: Mapping[str, Any]) -> str:
    """A figure by its short name; of a site's own by its key."""
    phrases = phrases_of(f"{data['suite']}.{data['name']}")
    return phrases.name if phrases else "{suite}.{name}"


def _change_of_boots(data: Mapping[str, Any]) -> str:
    phrases = BOOT_PHRASES.get((data["suite"], data["name"]))
    happens = phrases.happens if phrases else f"{_name(data)} is seen"
    return f"{happens} in {{new}} of {{new_boots}} boots instead of {{base}} of {{base_boots}}"


def _change_without(data: Mapping[str, Any]) -> str:
    phrases = BOOT_PHRASES.get((data["suite"], data["name"]))
    happens = phrases.happens if phrases else f"{_name(data)} is seen"
    with_it = "with it in {new} of {new_boots}"
    return f"without it {happens} in {{base}} of {{base_boots}} boots, {with_it}"


def _symptom(data: Mapping[str, Any]) -> str:
    phrases = PHRASES.get((data["suite"], data["name"]))
    return phrases.symptom if phrases else f"{_name(data)} {_ARROW}"


def _symptom_of_boots(data: Mapping[str, Any]) -> str:
    phrases = BOOT_PHRASES.get((data["suite"], data["name"]))
    symptom = phrases.symptom if phrases else _name(data)
    return f"{symptom} in {{new}} of {{new_boots}} boots"


def _ended(data: Mapping[str, Any]) -> str:
    phrases = BOOT_PHRASES.get((data["suite"], data["name"]))
    symptom = phrases.symptom if phrases else _name(data)
    ended = phrases.ended if phrases and not data["new"] else symptom
    before = "{base}" if data["base_boots"] == data["new_boots"] else "{base} of {base_boots}"
    return f"{ended} ({before} -> {{new}} of {{new_boots}} boots)"


_ANSWERS = {
    Outcome.CULPRIT: "a commit",
    Outcome.CULPRIT_SET: "one of {commits:many commit} that no test separates",
    Outcome.MULTIPLE_CULPRITS: "more than one commit",
    Outcome.MERGE_CULPRIT: "a merge",
    Outcome.NOT_REPRODUCED: "not seen again",
    Outcome.INCONCLUSIVE: "no commit named",
    Outcome.NOOP: "no commit named",
    Outcome.LAYOUT_SENSITIVE: "no commit but the layout of the code",
    Outcome.GRADUAL: "many small steps",
}


def _answer(data: Mapping[str, Any]) -> str:
    if data["outcome"] != Outcome.NO_REGRESSION:
        return _ANSWERS.get(data["outcome"], "{outcome}")
    if data["better"]:
        return "something better"
    return "nothing better" if data["repair"] else "nothing worse"


def _column(fallback: str) -> Words:
    return lambda data: heading(data["suite"], data["name"]) or f"{fallback}{{unit:comma}}"


def _machine(data: Mapping[str, Any]) -> str:
    article = "an" if data["sockets"] in (8, 11, 18) else "a"
    return f"on {article} {{sockets}}-socket {{machine}}{_isolation(data)}"


def _isolation(data: Mapping[str, Any]) -> str:
    isolated = " with CPUs {isolated} isolated" if data["isolated"] else ""
    return f"{isolated}{', PREEMPT_RT' if data['realtime'] else ''}"


def _over(data: Mapping[str, Any]) -> str:
    """The change, and over how many boots."""
    return "{change:begin} ({middle} of {boots} boots)" if data["middle"] else "{change:begin}"


def _changed(data: Mapping[str, Any]) -> str:
    """The same, and while what runs."""
    return f"While {{beside:doing}}, {_within(data)}" if data["beside"] else _over(data)


def _since_commit(data: Mapping[str, Any]) -> str:
    return f'{_changed(data)} since commit {{commit:.12}} ("{{subject}}"), {{where}}.'


def _opens_repair(data: Mapping[str, Any]) -> str:
    found = 'The range contains the repair, commit {commit:.12} ("{subject}")'
    return f"{found}: {_within(data)}{_beside(data)}, {{where}}."


def _opens_backport(data: Mapping[str, Any]) -> str:
    names = [f"{{series[{number}]}}" for number in range(len(data["series"]))]
    listed = " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
    lack = f"{listed} {'lacks' if len(names) == 1 else 'lack'} mainline commit {{commit:.12}}"
    applies = ", which applies there" if data["applies"] else ""
    return f'{lack} ("{{subject}}"){applies}: {{change}}{_beside(data)}, {{where}}.'


def _beside(data: Mapping[str, Any]) -> str:
    return ", while {beside:doing}" if data["beside"] else ""


def _pick(data: Mapping[str, Any]) -> str:
    """Of what nobody can pick as it is, somebody has to make a backport."""
    if all(each.kind == Series.CONFLICTS for each in data["lacking"]):
        return "Please backport mainline commit {commit} to {lacking}."
    return "Please pick mainline commit {commit} for {lacking}."


def _opens_with(rest: str) -> Words:
    return lambda data: f"{_changed(data)}, {{where}}. {rest}"


def _opens_one(data: Mapping[str, Any]) -> str:
    rest = (
        "It makes a part of the change: the range has more culprits, and no other is proved."
        if data["culprits"] == 1
        else "The range has {culprits} culprits, each with a part of the change: this is one of"
        " them."
    )
    return f"{_since_commit(data)} {rest}"


def _tried(does: str, of_revision: str = "", end: str = "") -> Words:
    """What it does, and what a figure shows of it; a revision is no mending of anything."""

    def told(data: Mapping[str, Any]) -> str:
        revision = of_revision and data["what"].kind == Newer.REVISION
        return f"{{what}} {of_revision if revision else does}: {_within(data)}{end}."

    return told


def _within(data: Mapping[str, Any]) -> str:
    return _over(data).replace(":begin", "")


def _dies(data: Mapping[str, Any]) -> str:
    how = " ({how})" if data["how"] else ""
    return (
        f"{{what}} has more boots that hang or die{how}: {{dead}} of {{dead_boots}} instead of"
        f" {{base_dead}} of {{base_boots}}. In the others {_within(data)}."
    )


def _setup(data: Mapping[str, Any]) -> str:
    about = ' on {commit:.12} ("{subject}")' if data["commit"] else ""
    return f"Both kernels were booted in turn, set up as for the report{about}, {{where}}."


def _cost(data: Mapping[str, Any]) -> str:
    skipped = ", {skipped} skipped" if data["skipped"] else ""
    # A recorded campaign does not tell its time.
    wall = ", {wall_s:duration}" if data["wall_s"] else ""
    return f"{{builds:many build}}, {{boots:many boot}}{skipped}{wall}"


def _ratio(data: Mapping[str, Any]) -> str:
    added = ", {floor:g}{unit:unit} added to both" if data["floor"] else ""
    return (
        f"the ratio is {{ratio:figure}} (95% interval {{low:figure}} to {{high:figure}}{added}),"
        f" {_test(data)}"
    )


def _test(data: Mapping[str, Any]) -> str:
    holm = " after Holm's correction for {figures} figures" if data["figures"] > 1 else ""
    return f"{{test}} p = {{p:.2g}}{holm}"


def _ours(data: Mapping[str, Any]) -> str:
    source = " ({source})" if data["source"] else ""
    return f"{{workload}} is a small program of ours{source}, not an application."


def _repaired(data: Mapping[str, Any]) -> str:
    part = " {part}" if data["part"] else ""
    phrases = BOOT_PHRASES.get((data["suite"], data["name"]))
    what = phrases.happens if phrases else _name(data)
    return (
        f"The commit repairs a fault that a revert would bring back: {what}{part}, {{without}}"
        " without it and {with_it} with it (campaign {campaign})."
    )


def _verb(data: Mapping[str, Any], one: str, many: str) -> str:
    return one if len(data["names"]) == 1 else many


def _revert(data: Mapping[str, Any]) -> str:
    return "a revert on the tip ({why})" if data["why"] else "a revert on the tip"


def _topology(data: Mapping[str, Any]) -> str:
    # Of those that are isolated the boot line tells.
    measured = "" if data["isolates"] else "; CPUs {cpus} measured, not isolated"
    return (
        "{sockets} x {cores} x {threads} sockets, cores, threads; SMT {smt}"
        f"{measured}; {{memory_mib}} MiB"
    )


def _range(data: Mapping[str, Any]) -> str:
    tree = "{tree}" if data["tree"] else "a local tree"
    return f"{{older}}..{{newer}} of {tree} ({{commits:many commit}})"


def _nothing(data: Mapping[str, Any], got: str) -> str:
    what = "{metric:begin} did not get" if data["metric"] else "No judged figure got"
    confidence = " (confidence {confidence})" if data["confidence"] else ""
    return f"{what} {got}{confidence}."


SENTENCES: Mapping[str, Words] = {
    Changes.FIGURE: _change,
    Changes.PART: lambda data: f"{_name(data)} {{part}} {_moves(data)}",
    Changes.BOOTS: _change_of_boots,
    Changes.WITHOUT: _change_without,
    Changes.UNMEASURED: lambda data: f"{_name(data)} was not measured on both kernels",
    Symptoms.FIGURE: _symptom,
    Symptoms.PART: lambda data: f"{_name(data)} {{part}} {_ARROW}",
    Symptoms.BOOTS: _symptom_of_boots,
    Symptoms.ENDED: _ended,
    Symptoms.ANSWER: lambda data: f"{_answer(data)} in {{older}}..{{newer}}: {{metric}}",
    Symptoms.UNMEASURED: lambda data: f"{_name(data)} not measured",
    Levels.FIGURE: "{value:figure}{unit:unit}",
    Levels.BOOTS: "{seen} of {boots} boots",
    Levels.UNMEASURED: "not measured",
    Columns.FIGURE: _column("{suite}.{name}"),
    Columns.IN_SUITE: _column("{name}"),
    Columns.WORKLOAD: "{workload}: {workload:does}",
    Columns.NO_FIGURE: "There is no table: no figure of these kernels was measured.",
    Columns.CELLS: "median [min..max]",
    Tasks.NAMED: "{name}",
    Tasks.SEVERAL: "{name} ({tasks:many task})",
    Tasks.UNKNOWN: lambda data: (
        "1 task, name not known" if data["tasks"] == 1 else "{tasks} tasks, names not known"
    ),
    Where.MACHINE: _machine,
    Where.EMULATED: lambda data: f"on an emulated machine (QEMU){_isolation(data)}",
    Opens.CULPRIT: _since_commit,
    Opens.REPAIR: _opens_repair,
    Opens.BACKPORT: _opens_backport,
    Opens.UNATTRIBUTED: lambda data: (
        f"{_since_commit(data)} What makes the difference is not known, so this goes to nobody"
        " else."
    ),
    Opens.SET: _opens_with(
        "It comes with one of {commits:many commit} that no possible test separates."
    ),
    Opens.MULTIPLE: _opens_with("More than one commit of the range makes that change."),
    Opens.ONE_OF_SEVERAL: _opens_one,
    Opens.MERGE: _opens_with("It comes with a merge: none of its parents shows it alone."),
    Opens.LAYOUT: _opens_with(
        "It follows where the compiler puts the code and not what a commit does, so none is named."
    ),
    Opens.GRADUAL: _opens_with("It came in many small steps, so no commit is named."),
    Opens.GRADUAL_UNMEASURED: "No commit is named for {metric}: it changed in many small steps.",
    Opens.NOT_REPRODUCED: "What changed in {metric} did not show again on fresh boots.",
    Opens.NOOP: "No commit is named for {metric}: the one that was found builds the same kernel as"
    " its parent.",
    Opens.OPEN: "No commit is named for {metric}: the boots do not settle which it is.",
    Opens.NOTHING: lambda data: _nothing(data, "worse"),
    Opens.NO_REPAIR: lambda data: _nothing(data, "better"),
    Opens.IMPROVED: "{figures:many figure} got better, and none got worse.",
    Sure.APART: "the boots of the two kernels do not overlap",
    Sure.OVERLAP: "the boots of the two kernels overlap in part",
    Sure.LUCK: "a difference this large arises by chance with p = {p:.2g} ({test})",
    Sure.REVERT_HELPS: "reverted on the tip: {level}",
    Sure.REVERT_SHORT: "reverting it on the tip brings {level}, which is not all the way back",
    Sure.REVERT_NOT: "reverting it on the tip does not help ({level})",
    Sure.REVERT_OPEN: lambda data: (
        "reverted on the tip: {level}, which does not settle it"
        if data["level"]
        else "whether a revert on the tip helps is open"
    ),
    Sure.CONFIDENCE: "confidence in this commit {confidence}",
    Found.RANGE: lambda data: (
        "Found among {commits:many commit} of a local tree of Linux {release} ({older}..{newer})"
        if data["release"]
        else f"Found in {_range(data)}"
    ),
    Found.SEARCHED: lambda data: f"Compared: the ends of {_range(data)}",
    Found.RELEASED: "first released in {release}",
    Found.STILL: "{newest}, the newest that was booted, still has it",
    Found.PERHAPS_GONE: "whether {newest}, the newest that was booted, has it is not sure",
    Shows.RATIO: _ratio,
    Shows.DIFFERENCE: lambda data: (
        "the difference is {difference:+figure}{unit:unit} (95% interval {low:+figure} to"
        f" {{high:+figure}}{{unit:unit}}), {_test(data)}"
    ),
    Shows.BUILDS: "{why}",
    Shows.LAYOUT: "kernels with another code layout show the same",
    Shows.LAYOUT_NOT: "kernels with another code layout do not show it",
    Shows.RELINKED: "each boot had another code layout, so that none of them explains it",
    Shows.SAME_KERNEL: "{why}",
    Shows.FUNCTIONS: "{why}",
    Shows.HANGS: "{why}",
    Shows.RIGHT: "{gate}: {why}",
    Shows.LOOP: "{why}",
    Shows.WITHOUT_RT: "{why}",
    Concerns.KERNEL: (
        "The kernel itself makes the difference: a revert takes it back, and another code layout"
        " does not."
    ),
    Concerns.WITH_AND_WITHOUT: lambda data: (
        f"{'While {workload:doing}' if data['workload'] else 'With no workload'} it is there, too:"
        " {new} instead of {base}."
    ),
    Concerns.NO_WORKLOAD: "It was measured with no workload beside it.",
    Concerns.ONLY_BESIDE: (
        "Without {workload} the boots show no regression, so this is not reported as one of the"
        " kernel alone."
    ),
    Concerns.ABOUT: "The figure is taken only while {workload} runs.",
    Concerns.OURS: _ours,
    Concerns.OF_SITE: "{workload} is a program of this lab, not an application.",
    Concerns.NEEDED: "It is not known which stable series lack it.",
    Concerns.REPAIRS: "The commit says that it repairs {tag}: a revert brings that back.",
    Concerns.REPAIRED: _repaired,
    Series.PICK: _pick,
    Series.LACK: "Without it: {lacking}.",
    Series.APPLIES: "{name} (it applies)",
    Series.CONFLICTS: "{name} (conflicts in {files:first 3})",
    Series.REVERTED: "{name} (had it as {commit:.12} and reverted it)",
    Series.HAVE: lambda data: f"{{names}} {_verb(data, 'has', 'have')} it.",
    Series.UNAFFECTED: lambda data: (
        f"{{names}} {_verb(data, 'lacks', 'lack')} the commit that it repairs."
    ),
    Series.UNKNOWN: "It is not known for {names}.",
    Series.TESTED: "Tested in {names}.",
    Untested.LIST: "Not tested: {parts:; }.",
    Untested.REVERT: _revert,
    Untested.LAYOUT: "another code layout",
    Untested.REACH: "which of the changed functions run",
    Untested.SAME_KERNEL: "boots of one kernel against each other",
    Untested.MACHINES: "another type of machine",
    Untested.HARDWARE: "hardware (the machine is emulated)",
    Untested.PRODUCTION: "an application",
    Untested.WORKLOAD: "the workload on and off on both kernels",
    Untested.SERIES: "stable series",
    Untested.WHAT_IT_REPAIRS: "whether a revert brings back another fault",
    Machines.TOPOLOGY: _topology,
    Machines.HOSTS: lambda data: (
        "{hosts}; compared within hosts" if data["within"] else "{hosts}; not told apart"
    ),
    Machines.HOST: "{name} {boots:many boot}",
    Machines.KERNEL: "{release}, config {config}, {compiler}",
    Machines.LINKED: (
        "anew for each boot by {linker}, functions in the order of a seed (-ffunction-sections,"
        " --symbol-ordering-file)"
    ),
    Machines.BOOT_LINE: "{line}",
    Tried.FIXES: _tried("fixes this", "does not have this any more"),
    Tried.PARTLY: _tried("fixes a part of this", "has less of this"),
    Tried.NOT: _tried("does not fix this", "still has this"),
    Tried.WORSENS: _tried("makes this worse", "has more of this"),
    Tried.OPEN: _tried(
        "may or may not fix this", "may or may not have this", ", which may be luck"
    ),
    Tried.DIES: _dies,
    Tried.UNMEASURED: "{what} was not tested: {change}.",
    Tried.NOT_BUILT: "{what} does not build, so {metric} was not measured.",
    Tried.NO_BOOT: "{what} does not boot, so {metric} was not measured.",
    Tried.PARENT_HAD: "Before the reported commit it was {level}.",
    Tried.COMMIT_HAS: "With the reported commit it is {level}.",
    Tried.SETUP: _setup,
    Tried.WORSE: lambda data: f"Worse: {_within(data)}",
    Tried.NONE_WORSE: lambda data: (
        "The one other judged figure did not get worse."
        if data["figures"] == 1
        else "None of the {figures} other judged figures got worse."
    ),
    Tried.CLOSING: (
        "Campaign {campaign}: {cost}. This is a measurement, not a review: a Tested-by is for"
        " people to give."
    ),
    Online.PAGE: "Boots, pictures, logs: {address}",
    Online.REPORT: "The report in full: {address}",
    Withdrawn.REPORT: ('The report on commit {commit:.12} ("{subject}") is withdrawn: {why}.'),
    Withdrawn.NOTHING_TO_DO: "Nothing has to be fixed, reverted or tested because of it.",
    Withdrawn.NO_TAGS: "Please leave out the tags that it offered.",
    Withdrawn.SORRY: "Sorry for the noise.",
    Footers.APPROVED: "Written by {bot}; {approver} answers for it.",
    Footers.COMMANDS: ('Reply "#rtbisect test <branch or mbox URL>" to have a patch measured.'),
    Footers.TAGS: "If you fix this, please add: {reported_by}; {closes}; {fixes}",
    Footers.HURTS: "Whom it hurts, by {approver}: {use_case}",
    Footers.COST: _cost,
    Footers.TO: "Recipients, once approved: To {author} <{address}>, Cc those whom"
    " scripts/get_maintainer.pl names for {places}.",
    Footers.READ: "Before it is sent, a person has to read it, take responsibility for it and"
    " approve it: `rtbisect report approve`.",
    Footers.SEARCH_REPAIR: (
        "Which commit does it was not searched; `rtbisect bisect --find-fix` does that."
    ),
}
