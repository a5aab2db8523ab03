# SPDX-License-Identifier: GPL-2.0-or-later
"""What becomes of a report after it was sent: real git, a real Maildir, real mail files."""

import email
import mailbox
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from email.policy import default
from email.utils import format_datetime
from pathlib import Path

import pytest
import yaml

from helpers.mail_world import USE, WHO, World, needs_tools
from helpers.report_cases import rcu
from rtbisect.campaign import ab_test
from rtbisect.campaign.fingerprint import MachineFingerprint, machine_parts, new_fingerprint
from rtbisect.campaign.plan import setup_of
from rtbisect.cli import report as command
from rtbisect.config.site_file import load_site
from rtbisect.errors import InfrastructureError
from rtbisect.judge.verdict import judge
from rtbisect.mail import result_mail
from rtbisect.model.campaign import CampaignRequest, Level, Limits, Outcome, Sample
from rtbisect.model.kinds.mail import Untrusted
from rtbisect.model.result import KernelRole, TableRow
from rtbisect.report.lint.rules import lint
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal

pytestmark = needs_tools


SLOW = (9000.0, 9100.0, 8900.0, 9000.0, 9050.0, 9020.0)
QUICK = (6000.0, 6100.0, 5900.0, 6000.0, 6050.0, 6020.0)
HALFWAY = (7500.0, 7600.0, 7400.0, 7500.0, 7550.0, 7520.0)


@pytest.fixture
def world(tmp_path, capsys):
    made = World(tmp_path, capsys)
    made.mail["inbox"] = {"maildir": str(tmp_path / "in")}
    made.mail["commands"] = {
        "people": ["zo@kernel.example.org"], "trusted": ["mx.lab.example.org"],
    }  # fmt: skip
    mailbox.Maildir(tmp_path / "in")
    return made


def sent(world, **changes):
    """A report that has left."""
    name = world.campaign(rcu(), newer=world.sha, **changes)
    world("report", "propose", name, "--by", WHO, "--use-case", USE)
    assert world("report", "approve", name, "--by", WHO)[0] == 0
    world("mail", "send", "--site", str(world.site))
    return name


def checked(world, after, *, older="b" * 40, newer="c" * 40):
    """A finished comparison of two kernels: its name."""
    report = rcu()
    limit = report.thresholds[0]
    rows = tuple(
        TableRow(
            kernel=KernelRole(kernel),
            window=limit.key.window,
            workload="none",
            metric=limit.key,
            unit=limit.unit,
            sample=Sample(values),
        )
        for kernel, values in (("base", SLOW), ("tip", after))
    )
    result = replace(
        report.result, outcome=Outcome.NO_REGRESSION, culprit=None, table=rows, gates=(),
        judgements=(judge(limit, *(row.sample for row in rows)),),
    )  # fmt: skip
    store = CampaignStore(world.state)
    name = store.create("check", "{}", datetime.now(UTC).isoformat())
    store.finish(name, result, None)
    return store.get(name)


def drafted(world, name, after=QUICK, parent="", *, newest=False, site=None):
    check = checked(world, after)
    request = CampaignRequest(
        kind="check", site=str(site or world.site), tree="stable-rt", older="b" * 40, newer="c" * 40
    )
    question = ab_test.Question(request, None, newest)
    store = CampaignStore(world.state)
    found = ab_test.write_answer(world.state, store.get(name), question, check, parent)
    result_mail.note_test(store, store.get(name), found, newest=newest)
    return check.id


def state_of(world, name):
    return world("report", "show", name)[1]["state"]


def reply(world, name, body, sender="zo@kernel.example.org"):
    told = world("report", "show", name)[1]
    box = mailbox.Maildir(world.root / "in")
    box.add(
        f"""\
Authentication-Results: mx.lab.example.org; dkim=pass header.d=kernel.example.org
DKIM-Signature: v=1; d=kernel.example.org; b=x; h=From:Subject:Date:Message-ID:In-Reply-To
Date: {format_datetime(datetime.now(UTC))}
From: Zo <{sender}>
Subject: Re: a report
Message-ID: <q1@kernel.example.org>
In-Reply-To: <{told["message_id"].strip("<>")}>

{body}
""".encode()
    )
    return world("mail", "poll", "--site", str(world.site))[1]["replies"]


def test_an_answer_goes_to_who_asked_and_who_has_the_report(world):
    name = sent(world)
    reply(world, name, "#rtbisect test")
    check = drafted(world, name, parent="<q1@kernel.example.org>")
    assert state_of(world, name) == "retested"
    code, shown = world("report", "answer", name, check, "--by", WHO)
    assert (code, shown["queued"]) == (0, False)
    assert len(world("mail", "list")[1]["mails"]) == 1
    code, told = world("report", "answer", name, check, "--by", WHO, "--send")
    assert (code, told["queued"]) == (0, True)
    world("mail", "send", "--site", str(world.site))
    with closing(mailbox.mbox(world.root / "out.mbox")) as box:
        first, second = (email.message_from_bytes(m.as_bytes(), policy=default) for m in box)
    assert second["In-Reply-To"] == "<q1@kernel.example.org>"
    assert second["References"].split() == [first["Message-ID"], "<q1@kernel.example.org>"]
    assert [each.addr_spec for each in second["To"].addresses] == ["zo@kernel.example.org"]
    assert [e.addr_spec for e in second["Cc"].addresses] == [
        e.addr_spec for e in first["Cc"].addresses
    ]
    text = " ".join(second.get_content().split())
    assert "c" * 12 in text
    assert f"{WHO} <ada@lab.example.org> answers for it" in text
    assert "State" not in str(second.items())
    assert lint(second.as_bytes()) == ()
    # An answer of ours is an answer once.
    assert world("report", "answer", name, check, "--by", WHO, "--send")[0] == 2


def test_an_answer_that_nobody_asked_for_goes_to_those_who_have_the_report(world):
    name = sent(world)
    check = drafted(world, name)
    code, told = world("report", "answer", name, check, "--by", WHO)
    assert code == 0
    (first,) = world("mail", "list")[1]["mails"]
    assert sorted(told["recipients"]) == sorted(first["recipients"])


def test_a_stranger_is_answered_only_where_the_site_writes_to_him(world):
    name = sent(world)
    world.mail["commands"]["people"].append("eve@kernel.example.org")
    world.mail["deny"].append("eve@kernel.example.org")
    reply(world, name, "#rtbisect test", "eve@kernel.example.org")
    check = drafted(world, name, parent="<q1@kernel.example.org>")
    told = world("report", "answer", name, check, "--by", WHO)[1]
    assert "eve@kernel.example.org" not in told["recipients"]
    assert "zo@kernel.example.org" in told["recipients"]


@pytest.mark.parametrize("check", ["check-99", "../../x", "x/../y", ""])
def test_an_answer_that_is_not_there(world, check):
    name = sent(world)
    code, told = world("report", "answer", name, check, "--by", WHO)
    assert (code, "answer" in told["error"] or "no campaign" in told["error"]) == (2, True)


def test_an_answer_needs_a_report_that_left_and_a_person(world):
    name = world.campaign(rcu(), newer=world.sha)
    check = drafted(world, name)
    assert state_of(world, name) == "draft"
    code, told = world("report", "answer", name, check, "--by", WHO)
    assert (code, "has not left" in told["error"]) == (2, True)
    assert world("report", "answer", name, check, "--by", "Somebody")[0] == 2


@pytest.mark.parametrize("what", ["emulated", "synthetic", "profile"])
def test_an_answer_is_by_the_machine_of_the_report(world, what):
    """The site file has changed since: what it measures now says nothing about that report."""
    name = sent(world)
    if what == "emulated":
        world.emulated = True
    text = world.site.read_text()
    if what == "profile":
        found = yaml.safe_load(text)
        found["test_plans"]["rt-latency"]["params"]["profile"] = "as-is"
        (world.root / "site.yaml").write_text(yaml.safe_dump(found))
    if what == "synthetic":
        store = CampaignStore(world.state)
        place = Path(store.get(name).report.path).with_name("input.json")
        place.write_text(place.read_text().replace("rcu-off", "rcu-on"))
    with pytest.raises(InfrastructureError, match="was made with another"):
        drafted(world, name, site=world.root / "site.yaml")


def test_a_report_by_an_emulator_has_no_answer_for_others(world):
    world.emulated = True
    name = world.campaign(rcu())
    assert world("report", "answer", name, drafted(world, name), "--by", WHO)[0] == 2
    assert world("mail", "list")[1]["mails"] == []


@pytest.mark.parametrize(
    ("after", "newest"), [(QUICK, True), (HALFWAY, True), (SLOW, True), (QUICK, False)]
)
def test_what_the_newest_revision_takes_back_is_fixed(world, after, newest):
    name = sent(world)
    drafted(world, name, after, newest=newest)
    all_of_it = (after, newest) == (QUICK, True)
    assert state_of(world, name) == ("fixed" if all_of_it else "retested")
    # A fix may be reverted.
    drafted(world, name, SLOW, newest=True)
    assert state_of(world, name) == "retested"


def test_a_repair_that_is_asked_for_is_not_fixed_by_the_tree_that_has_it(world):
    name = sent(world)
    store = CampaignStore(world.state)
    place = Path(store.get(name).report.path).with_name("input.json")
    place.write_text(place.read_text().replace('"sought":"regression"', '"sought":"repair"'))
    drafted(world, name, QUICK, newest=True)
    assert state_of(world, name) == "retested"


def test_nobody_answers_in_a_thread_that_was_withdrawn(world):
    name = sent(world)
    check = drafted(world, name)
    world("report", "withdraw", name, "--by", WHO, "--why", "it was the tool", "--send")
    code, told = world("report", "answer", name, check, "--by", WHO, "--send")
    assert (code, "is withdrawn" in told["error"]) == (2, True)


def kept_machine(world, name, change, limits=None):
    """Note another set-up for the report: what the site says, changed."""
    site = load_site(world.site)
    store = CampaignStore(world.state)
    request = CampaignRequest(
        kind="bisect", site=str(world.site), tree="stable-rt", older="a", newer="b"
    )
    now = setup_of(site, site.target("stable-rt"), request)
    was = replace(now, kernel=change(now.kernel), limits=limits or now.limits)
    kept = new_fingerprint(MachineFingerprint, machine_parts(was))
    StoreJournal(store.database, name).step("machine", MachineFingerprint, lambda _note: kept)


def test_a_fragment_that_was_edited_is_another_set_up(world):
    name = sent(world)
    other = ("CONFIG_OTHER=y\n",)
    kept_machine(world, name, lambda now: replace(now, build=replace(now.build, fragments=other)))
    with pytest.raises(InfrastructureError, match="another set-up"):
        drafted(world, name)


def test_what_only_judges_boots_is_no_other_set_up(world):
    name = sent(world)
    limits = Limits(max_boots=9)
    kept_machine(
        world, name, lambda now: replace(now, device=replace(now.device, boot_s=99)), limits
    )
    assert drafted(world, name)


# --- patches that say they mend it ---

PATCH = "diff --git a/kernel/rcu/tree.c b/kernel/rcu/tree.c\n--- a/kernel/rcu/tree.c\n"


@pytest.mark.parametrize(
    ("tag", "state"),
    [
        ('Fixes: {sha} ("rcu: Delay the first scan")', "accepted"),
        ("Closes: https://lore.kernel.org/r/{id}", "accepted"),
        ('Fixes: 0123456789ab ("another")', "noted"),
        ("Cc: somebody", "noted"),
    ],
)
def test_a_patch_that_mends_the_culprit_asks_by_itself(world, tag, state):
    name = sent(world)
    identity = world("report", "show", name)[1]["message_id"].strip("<>")
    tag = tag.format(sha=world.sha[:12], id=identity)
    (found,) = reply(world, name, f"Mends it.\n\n{tag}\n\n{PATCH}")
    assert found["state"] == state
    asked = [{"command": "test", "argument": ""}]
    assert found["asked"] == (asked if state == "accepted" else [])


def test_a_patch_of_somebody_else_waits(world):
    name = sent(world)
    body = f"Fixes: {world.sha[:12]}\n\n{PATCH}"
    (row,) = reply(world, name, body, "eve@kernel.example.org")
    assert (row["state"], row["why_found"]["kind"]) == ("waiting", Untrusted.STRANGER)


def test_a_tag_without_a_patch_asks_nothing(world):
    name = sent(world)
    (found,) = reply(world, name, f"I think of:\n\nFixes: {world.sha[:12]}\n")
    assert found["state"] == "noted"


# --- commits of the tree that say so ---


def commit(world, message):
    (world.tree / "kernel/rcu/tree.c").write_text(f"int x; /* {message} */\n")
    world._git("commit", "-qam", f"rcu: something\n\n{message}\n\nSigned-off-by: Zo <z@x.org>")
    return world._git("rev-parse", "HEAD")


@pytest.fixture
def boots(world, monkeypatch):
    """Comparisons that take no boots: `after` is what the newest revision measures."""
    asked = []

    def once(_state, request, _progress):
        asked.append(request)
        return checked(world, once.after, older=request.older, newer=request.newer)

    once.after = QUICK
    once.asked = asked
    monkeypatch.setattr(command.session, "once", once)
    return once


def follow(world):
    return world("report", "follow", "--site", str(world.site))


def test_the_branch_is_tested_when_a_commit_says_that_it_mends(world, boots):
    name = sent(world)
    commit(world, "Nothing of it.")
    assert follow(world) == (0, {"reports": []})
    mending = commit(world, f'Fixes: {world.sha[:12]} ("rcu: Delay the first scan")')
    code, told = follow(world)
    (row,) = told["reports"]
    assert (code, row["campaign"], row["commits"], row["level"]) == (0, name, [mending], "better")
    assert (boots.asked[0].older, boots.asked[0].newer) == (world.sha, mending)
    assert state_of(world, name) == "fixed"
    mail = email.message_from_string(Path(row["path"]).read_text(), policy=default)
    assert "linux-6.12.y-rt" in mail.get_content()
    # Nobody follows what is fixed.
    assert follow(world) == (0, {"reports": []})


@pytest.mark.parametrize("how", ["revert", "closes"])
def test_reverts_and_closed_reports_are_found(world, boots, how):
    name = sent(world)
    identity = world("report", "show", name)[1]["message_id"].strip("<>")
    said = {
        "revert": f"This reverts commit {world.sha}.",
        "closes": f"Closes: https://lore.kernel.org/r/{identity}",
    }
    made = commit(world, said[how])
    assert follow(world)[1]["reports"][0]["commits"] == [made]


def test_what_does_not_mend_is_tested_once(world, boots):
    name = sent(world)
    first = commit(world, f"Fixes: {world.sha[:12]}")
    boots.after = SLOW
    assert follow(world)[1]["reports"][0]["level"] == "same"
    assert state_of(world, name) == "retested"
    (row,) = follow(world)[1]["reports"]
    assert (row["note"], len(boots.asked)) == ("tested before", 1)
    boots.after = QUICK
    second = commit(world, f"Fixes: {world.sha[:12]} again")
    (row,) = follow(world)[1]["reports"]
    assert (row["commits"], row["level"]) == ([first, second], "better")


def test_drafts_are_not_followed(world, boots):
    world.campaign(rcu(), newer=world.sha)
    commit(world, f"Fixes: {world.sha[:12]}")
    assert follow(world) == (0, {"reports": []})


def test_levels_are_told():
    assert ab_test.WORDS[Level.REGRESSED] == "better"


def test_a_tree_that_is_away_is_told_and_the_others_are_followed(world, boots):
    gone = sent(world)
    store = CampaignStore(world.state)
    record = store.get(gone)
    result = replace(record.result, culprit="d" * 40)
    store.finish(gone, result, record.report)
    name = sent(world, culprit=replace(rcu().culprit, subject="rcu: Another one"))
    commit(world, f"Fixes: {world.sha[:12]}")
    code, told = follow(world)
    assert code in (2, 3)
    rows = {each["campaign"]: each for each in told["reports"]}
    assert rows[gone]["note"]
    assert rows[name]["level"] == "better"
