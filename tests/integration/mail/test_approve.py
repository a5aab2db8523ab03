# SPDX-License-Identifier: GPL-2.0-or-later
"""From a draft to a mail that other people get: real git, a real get_maintainer.pl, real SMTP."""

import email
import mailbox
import shutil
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from email.policy import default

import pytest

from helpers.mail_server import Server
from helpers.mail_world import USE, WHO, World
from helpers.report_cases import BOARD, GATES, backport, epoll, hang, rcu
from rtbisect.campaign import ab_test, labs
from rtbisect.errors import ConfigError
from rtbisect.judge.verdict import judge
from rtbisect.model.campaign import (
    CampaignRequest,
    Gate,
    GateStatus,
    Level,
    Outcome,
    Sample,
    TableRow,
)
from rtbisect.report.lint.mail import MOST_BYTES
from rtbisect.report.lint.rules import lint
from rtbisect.store.campaigns import CampaignStore

pytestmark = pytest.mark.skipif(
    not all(shutil.which(tool) for tool in ("bwrap", "perl", "git")), reason="needs bwrap, perl"
)


@pytest.fixture
def world(tmp_path, capsys):
    return World(tmp_path, capsys)


def mails(world):
    return email.message_from_bytes((world.root / "out.mbox").read_bytes(), policy=default)


def test_a_report_of_the_kernel_goes_to_who_has_to_know(world):
    name = world.campaign(rcu())
    code, made = world("report", "propose", name, "--by", WHO, "--use-case", USE)
    assert (code, made["findings"], made["note"]) == (0, [], "")
    assert [(each["header"], each["address"]) for each in made["recipients"]] == [
        ("To", "zo@kernel.example.org"),
        ("Cc", "regressions@lists.linux.dev"),
        ("Cc", "keeper@kernel.example.org"),
        ("Cc", "rcu@lists.example.org"),
        ("dropped", "stranger@elsewhere.example.com"),
    ]
    assert made["eml"] == world.public(name).read_text()
    assert f"#regzbot introduced: {world.sha}\n" in made["eml"]
    assert "Closes: https://lore.kernel.org/r/bisect-1.0123@lab.example.org" in made["eml"]
    code, told = world("report", "approve", name, "--by", "ada@lab.example.org")
    assert (code, told["approved_by"]) == (0, "Ada Admin <ada@lab.example.org>")
    assert world("report", "show", name)[1]["state"] == "approved"
    code, told = world("mail", "send", "--site", str(world.site))
    assert (code, told["waiting"], told["mails"][0]["state"]) == (0, 0, "sent")
    assert world("report", "show", name)[1]["state"] == "sent"
    sent = mails(world)
    assert sent["Message-ID"] == "<bisect-1.0123@lab.example.org>"
    assert sent["Subject"].startswith("[REGRESSION] rcu: Delay the first scan")
    assert "Ada Admin <ada@lab.example.org> has read it" in " ".join(sent.get_content().split())
    # Nothing of it goes twice.
    assert world("mail", "send", "--site", str(world.site))[1]["mails"] == []
    assert world("report", "approve", name, "--by", WHO)[0] == 2


FIX = "https://lore.kernel.org/r/fix@kernel.example.org"
BUG = "https://bugs.example.org/show_bug.cgi?id=7"


def test_pages_for_regzbot_stand_with_its_commit(world):
    name = world.campaign(rcu())
    pages = ("--monitor", FIX, "--link", BUG)
    code, made = world("report", "propose", name, "--by", WHO, "--use-case", USE, *pages)
    assert (code, made["findings"]) == (0, [])
    told = [line for line in made["eml"].splitlines() if line.startswith("#regzbot")]
    assert [line.split()[1] for line in told] == ["introduced:", "title:", "monitor:", "link:"]
    assert told[2:] == [f"#regzbot monitor: {FIX}", f"#regzbot link: {BUG}"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--use-case", USE, "--link", "lore.kernel.org/r/x"), "is no page"),
        (("--use-case", USE, "--link", f"{FIX}\n#regzbot resolve: x"), "is no page"),
        (("--monitor", FIX), "has no lines to regzbot"),
    ],
)
def test_pages_that_regzbot_would_not_read_are_refused(world, words, message):
    name = world.campaign(rcu())
    code, told = world("report", "propose", name, "--by", WHO, *words)
    assert code == 2
    assert message in str(told)
    assert not world.public(name).exists()


def test_without_a_use_case_it_is_no_regression_for_the_list(world):
    name = world.campaign(rcu())
    code, made = world("report", "propose", name, "--by", WHO)
    assert (code, made["findings"]) == (0, [])
    assert "[REGRESSION]" not in made["eml"]
    assert "regzbot" not in made["eml"]
    assert "regressions@" not in made["eml"]


def test_a_tree_that_nobody_tracks_has_no_regressions_for_the_list(world):
    world.mail["trees"] = {"stable-rt": "rt"}
    name = world.campaign(rcu())
    code, made = world("report", "propose", name, "--by", WHO, "--use-case", USE)
    assert (code, made["findings"]) == (0, [])
    assert "[REGRESSION]" not in made["eml"]
    assert "regressions@" not in made["eml"]


def test_what_depends_on_a_workload_is_told_and_not_tracked(world):
    name = world.campaign(epoll(), device=BOARD, synthetic_workload=False)
    code, made = world("report", "propose", name, "--by", WHO, "--use-case", USE)
    assert (code, made["findings"]) == (0, [])
    assert "regzbot" not in made["eml"]


def test_by_smtp(world):
    with closing(Server(world.root / "server")) as server:
        world.mail["send"] = {
            "smtp": {"host": "127.0.0.1", "port": server.port, "security": "none"}
        }
        name = world.campaign(rcu())
        world("report", "propose", name, "--by", WHO)
        assert world("report", "approve", name, "--by", WHO)[0] == 0
        code, told = world("mail", "send", "--site", str(world.site))
        assert (code, [each["state"] for each in told["mails"]]) == (0, ["sent"])
        (taken,) = server.taken()
    people = taken.split(b"\n")[1].decode().split()
    assert people == told["mails"][0]["recipients"]
    assert len(people) == 3


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"device": replace(BOARD, emulated=True)}, "Emulator data"),
        ({"synthetic_workload": True}, "Synthetic workload"),
        ({"repair": True}, "Internal"),
    ],
)
def test_no_person_can_approve_what_is_for_the_operator(world, changes, said):
    name = world.campaign(rcu(), **changes)
    for words in (("propose", name, "--by", WHO), ("approve", name, "--by", WHO)):
        code, told = world("report", *words)
        assert code == 2
        assert said in told["error"] or words[0] == "approve"
    # Neither by writing the mail by hand.
    world.public(name).write_bytes(b"From: a@example.org\n\nx\n")
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, said in told["error"]) == (2, True)
    assert world("mail", "list")[1]["mails"] == []


def test_a_gate_that_failed_holds_it_back(world):
    broken = (*GATES, Gate("G10 A/A", GateStatus.FAIL, "two series differ"))
    report = rcu()
    name = world.campaign(report, result=replace(report.result, gates=broken))
    code, told = world("report", "propose", name, "--by", WHO)
    assert (code, "G10 A/A" in told["error"]) == (2, True)


def test_what_the_store_says_counts_and_no_file_beside_the_draft(world):
    broken = (*GATES, Gate("G15 origin", GateStatus.FAIL, "data of an emulator"))
    report = rcu()
    name = world.campaign(report, result=replace(report.result, gates=broken))
    place = world.public(name).with_name("input.json")
    place.write_text(place.read_text().replace('"status":"fail"', '"status":"pass"'))
    code, told = world("report", "propose", name, "--by", WHO)
    assert (code, "G15 origin" in told["error"]) == (2, True)


def test_only_those_approve_whom_the_site_names(world):
    name = world.campaign(rcu())
    assert world("report", "propose", name, "--by", "Somebody")[0] == 2
    world("report", "propose", name, "--by", WHO)
    world.mail["approvers"].append({"name": "Bob", "address": "bob@lab.example.org"})
    assert world.site
    code, told = world("report", "approve", name, "--by", "Bob")
    assert (code, "Ada Admin" in told["error"] or "not Bob" in told["error"]) == (2, True)
    world.mail["approvers"] = []
    assert world.site
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, "approves nothing" in told["error"]) == (2, True)


EDITS = [
    (b"Seen on one type", b"We sign it: Seen on one type", None),
    (b"To: ", b"To: victim@example.org, ", "victim@example.org was not proposed"),
    (b"To: ", b"To: stranger@elsewhere.example.com, ", "the site denies it"),
    (b"Message-ID: <", b"Message-ID: <x", "findings"),
    (b"compiler     gcc", b"made by      cc", "findings: compiler"),
    (b"\n\nSince", b"\n\nPlease revert this.\n\nSince", "findings: asks-revert"),
    (b"\n\nSince", b"\n\n" + b"Long and longer lines " * 9 + b"\n\nSince", "findings: width"),
]


@pytest.mark.parametrize(("old", "new", "said"), EDITS)
def test_a_mail_may_be_edited_within_the_rules(world, old, new, said):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO)
    data = world.public(name).read_bytes()
    assert old in data
    world.public(name).write_bytes(data.replace(old, new, 1))
    code, told = world("report", "approve", name, "--by", WHO)
    if said is None:
        assert code == 0, told
        assert b"We sign it" in world.public(name).read_bytes()
    else:
        assert (code, said in told["error"]) == (2, True), told
        assert world("mail", "list")[1]["mails"] == []


def test_the_same_is_told_once(world):
    first, second = world.campaign(rcu()), world.campaign(rcu())
    for name in (first, second):
        world("report", "propose", name, "--by", WHO)
    assert world("report", "approve", first, "--by", WHO)[0] == 0
    code, told = world("report", "approve", second, "--by", WHO)
    assert (code, f"{first} has told" in told["error"]) == (2, True)
    # What is taken back before it is sent is a draft again.
    identity = world("mail", "list")[1]["mails"][0]["message_id"]
    assert world("mail", "drop", identity)[0] == 0
    assert world("report", "approve", second, "--by", WHO)[0] == 0


def test_approving_needs_a_mail_that_was_read(world):
    name = world.campaign(rcu())
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, "report propose" in told["hint"]) == (2, True)


def test_a_mail_points_to_data_that_are_there(world):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO)
    (world.root / "www" / name / "SHA256SUMS").unlink()
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, "are not in" in told["error"]) == (2, True)
    assert "report bundle" in told["hint"]


def test_a_mail_boots_kernels_that_are_there(world):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO)
    assert "sh boot.sh" in world.public(name).read_text()
    (world.root / "www" / name / "boot.sh").unlink()
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, "have no boot.sh" in told["error"]) == (2, True)
    text = world.public(name).read_text()
    world.public(name).write_text(
        "".join(line for line in text.splitlines(keepends=True) if "boot.sh" not in line)
    )
    assert world("report", "approve", name, "--by", WHO)[0] == 0


def test_a_mail_without_data_boots_nothing(world):
    del world.mail["evidence"]
    name = world.campaign(rcu())
    assert "boot.sh" not in world("report", "propose", name, "--by", WHO)[1]["eml"]
    assert world("report", "approve", name, "--by", WHO)[0] == 0


def test_a_patch_that_is_too_large_is_not_tested_in_part(world, tmp_path):
    name = world.campaign(rcu())
    patch = tmp_path / "p"
    patch.write_bytes(b"x" * MOST_BYTES)
    code, told = world("report", "test", name, "--patch", str(patch))
    assert (code, "bytes or more" in told["error"]) == (2, True)


def test_a_site_that_says_nothing_of_mail_sends_nothing(world):
    name = world.campaign(rcu())
    world.mail = {}
    assert world.site
    assert world("report", "propose", name, "--by", WHO)[0] == 2
    code, told = world("mail", "send", "--site", str(world.site))
    assert (code, "how mail leaves" in told["error"]) == (2, True)


def test_a_mail_in_doubt_waits_for_a_person(world):
    with closing(Server(world.root / "server", "--fault", "cut")) as server:
        world.mail["send"] = {
            "smtp": {"host": "127.0.0.1", "port": server.port, "security": "none"}
        }
        name = world.campaign(rcu())
        world("report", "propose", name, "--by", WHO)
        world("report", "approve", name, "--by", WHO)
        code, told = world("mail", "send", "--site", str(world.site))
        assert (code, told["waiting"], told["mails"][0]["state"]) == (3, 1, "in doubt")
        assert world("mail", "send", "--site", str(world.site))[1]["mails"] == []
        assert len(server.taken()) == 1
    identity = told["mails"][0]["message_id"]
    assert world("mail", "drop", identity)[0] == 2
    assert world("mail", "decide", identity, "sent", "--why", "in the archive")[0] == 0
    assert world("report", "show", name)[1]["state"] == "sent"


def test_what_people_get_is_clean(world):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO, "--use-case", USE)
    data = world.public(name).read_bytes()
    assert lint(data) == ()
    mail = email.message_from_bytes(data, policy=default)
    assert not mail.defects
    assert {"To", "Cc", "X-rtbisect-Reviewed-By"} <= set(mail.keys())
    assert "Before it is sent" not in mail.get_content()


def test_a_report_is_withdrawn_in_its_own_thread(world):
    name = world.campaign(rcu())
    why = "the tool had made the noise"
    words = ("report", "withdraw", name, "--by", WHO, "--why", why)
    code, told = world(*words)
    assert (code, "has not left" in told["error"]) == (2, True)
    world("report", "propose", name, "--by", WHO, "--use-case", USE)
    world("report", "approve", name, "--by", WHO)
    world("mail", "send", "--site", str(world.site))
    code, shown = world(*words)
    assert (code, shown["queued"]) == (0, False)
    assert world("mail", "send", "--site", str(world.site))[1]["mails"] == []
    code, told = world(*words, "--send")
    assert (code, told["queued"]) == (0, True)
    assert world("report", "show", name)[1]["state"] == "withdrawn"
    world("mail", "send", "--site", str(world.site))
    with closing(mailbox.mbox(world.root / "out.mbox")) as box:
        first, second = box
    assert second["In-Reply-To"] == first["Message-ID"]
    assert second["References"].split()[-1] == first["Message-ID"]
    assert (second["To"], second["Cc"]) == (first["To"], first["Cc"])
    assert second["Subject"].split() == ["Re:", *first["Subject"].split()]
    text = second.get_payload()
    assert why in text
    assert f"\n#regzbot resolve: {why}\n" in text
    assert lint(second.as_bytes()) == ()
    # Only once; and then the commit may be told again.
    assert world(*words, "--send")[0] == 2
    again = world.campaign(rcu())
    world("report", "propose", again, "--by", WHO)
    assert world("report", "approve", again, "--by", WHO)[0] == 0


def test_a_reason_writes_no_headers_or_commands(world):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO, "--use-case", USE)
    world("report", "approve", name, "--by", WHO)
    world("mail", "send", "--site", str(world.site))
    why = "wrong\nBcc: x@example.org\n#regzbot fix: x\nSigned-off-by: Me <m@example.org>"
    told = world("report", "withdraw", name, "--by", WHO, "--why", why)[1]
    mail = email.message_from_string(told["eml"], policy=default)
    assert mail["Bcc"] is None
    assert "\n#regzbot fix" not in told["eml"]
    assert "Signed-off-by:" not in told["eml"]


def test_stable_is_asked_to_pick_what_ends_a_hang(world):
    name = world.campaign(backport())
    code, made = world("report", "propose", name, "--by", WHO)
    assert (code, made["findings"]) == (0, [])
    people = {each["address"]: each["header"] for each in made["recipients"]}
    assert people["stable@vger.kernel.org"] == "Cc"
    assert "regressions@lists.linux.dev" not in people
    assert f"  commit {world.sha}\n" in made["eml"]
    assert "Reported-by" not in made["eml"]
    assert world("report", "approve", name, "--by", WHO)[0] == 0


def test_a_hang_is_a_regression_of_the_kernel(world):
    name = world.campaign(hang())
    code, made = world("report", "propose", name, "--by", WHO, "--use-case", USE)
    assert (code, made["findings"]) == (0, [])
    assert "Subject: [REGRESSION] eventpoll: Replace spinlock" in made["eml"]
    assert "8 of 12 boots" in made["eml"]


def test_the_operator_hears_what_waits(world):
    name = world.campaign(rcu())
    store = CampaignStore(world.state)
    stopped = store.create("bisect", "{}", "2026-01-01T00:00:00+00:00")
    store.note(stopped, "lab ours: no device fits\n#regzbot fix: x")
    labs.quarantine(world.state).put("vm1", "BMC does not answer", datetime.now(UTC))
    site = ("--site", str(world.site))
    code, told = world("report", "digest", *site)
    assert (code, told["queued"]) == (3, False)
    assert any(name in line for line in told["drafts"])
    assert any(stopped in line for line in told["paused"])
    assert lint(told["eml"].encode()) == ()
    assert "\n#regzbot" not in told["eml"]
    code, told = world("report", "digest", "--lab", "--by", WHO, "--send", *site)
    assert (code, told["queued"]) == (3, True)
    assert "BMC does not answer" in told["eml"]
    assert lint(told["eml"].encode()) == ()
    assert world("mail", "send", *site)[1]["mails"][0]["recipients"] == ["operator@lab.example.org"]


def test_a_lab_that_is_well_is_no_mail(world):
    world.campaign(rcu())
    site = ("--site", str(world.site))
    code, told = world("report", "digest", "--lab", "--by", WHO, "--send", *site)
    assert (code, told["queued"]) == (0, False)
    assert world("report", "digest", "--by", "Somebody", "--send", *site)[0] == 2
    assert world("mail", "list")[1]["mails"] == []


def checked(world, name, before, after):
    """A finished comparison of what a report calls bad with something newer."""
    report = rcu()
    limit = report.thresholds[0]
    rows = tuple(
        TableRow(kernel, limit.key.window, "none", limit.key, limit.unit, Sample(values))
        for kernel, values in (("base", before), ("tip", after))
    )
    judged = judge(limit, *(row.sample for row in rows))
    told = tuple(
        replace(
            row,
            metric=replace(row.metric, name="mean_ms"),
            sample=Sample(tuple(1.02 * value for value in row.sample.values)),
        )
        for row in rows
    )
    result = replace(
        report.result, outcome=Outcome.NO_REGRESSION, culprit=None, table=(*told, *rows),
        judgements=(judged,), gates=(),
    )  # fmt: skip
    store = CampaignStore(world.state)
    check = store.create("check", "{}", datetime.now(UTC).isoformat())
    store.finish(check, result, None)
    request = CampaignRequest("check", str(world.site), "stable-rt", "b" * 40, "c" * 40)
    question = ab_test.Question(request, 'The patch "rcu: mend it"')
    return ab_test.write_answer(
        world.state, store.get(name), question, store.get(check), "<q@x.org>"
    )


@pytest.mark.parametrize(
    ("after", "words", "level"),
    [
        ((6.0, 6.1, 5.9, 6.0, 6.05, 6.02), "takes the effect back", Level.REGRESSED),
        ((9.03, 8.95, 9.08, 9.0, 9.04, 8.92), "does not change the figure", Level.PASS),
        ((9.0, 6.1, 8.9, 6.0, 9.05, 6.02), "leaves it open", Level.UNDECIDED),
        ((), "leaves it open", Level.UNDECIDED),
    ],
)
def test_an_answer_says_what_a_patch_does(world, after, words, level):
    name = world.campaign(rcu())
    found = checked(world, name, (9.0, 9.1, 8.9, 9.0, 9.05, 9.02), after)
    assert found.level is level
    text = " ".join(found.text.split())
    assert f'The patch "rcu: mend it" {words}' in text
    mail = email.message_from_string(found.text, policy=default)
    assert mail["In-Reply-To"] == "<q@x.org>"
    assert [each.addr_spec for each in mail["To"].addresses] == ["olga@lab.example.org"]
    assert found.path.read_text() == found.text
    assert lint(found.text.encode()) == ()
    assert "Tested-by:" not in found.text
    names = [line.split()[0] for line in found.text.splitlines() if "_ms  " in line]
    assert names == ["p50_ms", "mean_ms"], "what is judged stands first"


def test_an_answer_on_data_of_an_emulator_is_the_operators(world):
    world.emulated = True
    name = world.campaign(rcu())
    found = checked(world, name, (9.0,) * 6, (6.0, 6.1, 5.9, 6.0, 6.05, 6.02))
    assert not found.mailable
    assert "Emulator data" in found.text
    assert "Subject: [internal] Re:" in found.text


def test_a_patch_is_put_on_what_is_bad(world):
    name = world.campaign(rcu(), bad=world.sha)
    patch = world.root / "fix.mbox"
    (world.tree / "kernel/rcu/tree.c").write_text("int y;\n")
    patch.write_text("Subject: [PATCH] rcu: mend it\n\n" + world._git("diff") + "\n")
    world._git("checkout", "-q", ".")
    record = CampaignStore(world.state).get(name)
    request = CampaignRequest("bisect", str(world.site), "stable-rt", "a", "b")
    question = ab_test.of_patch(world.state, record, request, patch.read_bytes())
    assert question.request.good == world.sha
    assert dict(question.request.extra) == {"foreign": question.request.bad}
    assert question.what == 'The patch "rcu: mend it"'
    with pytest.raises(ConfigError, match="was about"):
        ab_test.of_revision(world.state, record, request, "linux-6.12.y-rt")
