# SPDX-License-Identifier: GPL-2.0-or-later
"""From a draft to a mail that other people get: real git, a real get_maintainer.pl, real SMTP."""

import email
from contextlib import closing
from dataclasses import replace
from email.policy import default

import pytest

from helpers.findings import said, words
from helpers.mail_server import Server
from helpers.mail_world import USE, WHO, needs_tools
from helpers.report_cases import backport, hang, rcu
from helpers.report_epoll import GATES, epoll
from helpers.report_parts import BOARD
from rtbisect.model.campaign import Sought
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Delivery, Obstacle, Refusal
from rtbisect.model.kinds.report import Concerns
from rtbisect.model.report import ReportState
from rtbisect.model.result import Gate, GateStatus
from rtbisect.report.letter import letter
from rtbisect.report.lint.rules import lint
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.outbox import Outbox

pytestmark = needs_tools


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
    assert "Ada Admin <ada@lab.example.org> answers for it" in " ".join(sent.get_content().split())
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
    (row,) = told["mails"]
    assert people == row["recipients"]
    assert len(people) == 3
    answer = {"code": 250, "said": "2.0.0 taken"}
    assert row["answer_found"] == {"kind": Delivery.ACCEPTED, "data": answer}
    assert row["answer"] == words(Finding.of(Delivery.ACCEPTED, **answer))
    assert (row["refused"], row["refused_found"]) == ([], [])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"device": replace(BOARD, emulated=True)}, words(Finding.of(Obstacle.EMULATED))),
        ({"synthetic_workload": True}, words(Finding.of(Obstacle.SYNTHETIC))),
        ({"sought": Sought.REPAIR}, words(Finding.of(Obstacle.REPAIR))),
    ],
)
def test_no_person_can_approve_what_is_for_the_operator(world, changes, said):
    name = world.campaign(rcu(), **changes)
    for asked in (("propose", name, "--by", WHO), ("approve", name, "--by", WHO)):
        code, told = world("report", *asked)
        assert code == 2
        assert said in told["error"] or asked[0] == "approve"
    # Neither by writing the mail by hand.
    world.public(name).write_bytes(b"From: a@example.org\n\nx\n")
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, said in told["error"]) == (2, True)
    assert world("mail", "list")[1]["mails"] == []


def test_a_gate_that_failed_holds_it_back(world):
    broken = (*GATES, Gate("G10 A/A", GateStatus.FAIL, said("two series differ")))
    report = rcu()
    name = world.campaign(report, result=replace(report.result, gates=broken))
    code, told = world("report", "propose", name, "--by", WHO)
    assert (code, "G10 A/A" in told["error"]) == (2, True)


def test_what_the_store_says_counts_and_no_file_beside_the_draft(world):
    broken = (*GATES, Gate("G15 origin", GateStatus.FAIL, said("data of an emulator")))
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
    (b"  machine  ", b"  We sign it", None),
    (b"To: ", b"To: victim@example.org, ", words(Finding.of(Refusal.NOT_PROPOSED))),
    (b"To: ", b"To: stranger@elsewhere.example.com, ", words(Finding.of(Refusal.DENIED))),
    (b"Message-ID: <", b"Message-ID: <x", "findings"),
    (b"gcc", b"cc", "findings: compiler"),
    (b"\n\nsync", b"\n\nPlease revert this.\n\nsync", "findings: asks-revert"),
    (b"\n\nsync", b"\n\n" + b"Long and longer lines " * 9 + b"\n\nsync", "findings: width"),
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


def test_a_mail_that_claims_too_much_is_refused(world, monkeypatch):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO)

    def boastful(report, bot, public=None):
        kernel = Finding.of(Concerns.KERNEL)
        return replace(letter(report, bot, public), concerns=(kernel,))

    monkeypatch.setattr("rtbisect.mail.approve.letter", boastful)
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, "findings: overclaim" in told["error"]) == (2, True)
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


def test_the_same_is_told_once_also_after_a_kill(world):
    first, second = world.campaign(rcu()), world.campaign(rcu())
    for name in (first, second):
        world("report", "propose", name, "--by", WHO)
    assert world("report", "approve", first, "--by", WHO)[0] == 0
    # As if the process had died when its mail was queued.
    CampaignStore(world.state).move_report(first, (ReportState.APPROVED,), ReportState.DRAFT)
    assert world("report", "approve", second, "--by", WHO)[0] == 2
    assert [each.campaign for each in Outbox(world.state).all()] == [first]
    assert world("report", "show", first)[1]["state"] == "approved"


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


def test_a_mail_fetches_an_archive_that_is_there(world):
    name = world.campaign(rcu())
    world("report", "propose", name, "--by", WHO)
    (world.root / "www" / f"{name}.tar.gz").unlink()
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, "are not packed in" in told["error"]) == (2, True)
    assert "report bundle" in told["hint"]


def test_a_mail_links_a_page_that_is_there(world):
    name = world.campaign(rcu())
    made = world("report", "propose", name, "--by", WHO)[1]["eml"]
    address = f"https://lab.example.org/evidence/{name}/"
    assert [line for line in made.splitlines() if line.endswith(f" {address}")]
    (world.root / "www" / name / "index.html").unlink()
    code, told = world("report", "approve", name, "--by", WHO)
    assert (code, "have no page" in told["error"]) == (2, True)
    assert "report bundle" in told["hint"]
    world.public(name).write_text(made.replace(address, "nowhere"))
    assert world("report", "approve", name, "--by", WHO)[0] == 0


def test_a_mail_installs_what_the_site_names(world):
    program = "https://lab.example.org/rtbisect-0.1.0-py3-none-any.whl"
    world.mail["program"] = program
    name = world.campaign(rcu())
    assert f"pip install {program}" in world("report", "propose", name, "--by", WHO)[1]["eml"]
    assert world("report", "approve", name, "--by", WHO)[0] == 0


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
    made = world("report", "propose", name, "--by", WHO)[1]["eml"]
    assert "boot.sh" not in made
    assert "/evidence/" not in made
    assert world("report", "approve", name, "--by", WHO)[0] == 0


def test_an_editor_that_ends_lines_as_dos_does_changes_nothing(world):
    name = world.campaign(rcu())
    made = world("report", "propose", name, "--by", WHO)[1]["eml"]
    world.public(name).write_bytes(made.replace("\n", "\r\n").encode())
    assert world("report", "approve", name, "--by", WHO)[0] == 0
    (mail,) = Outbox(world.state).all()
    assert mail.text == made


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


def test_stable_is_asked_to_pick_what_ends_a_hang(world):
    name = world.campaign(backport())
    code, made = world("report", "propose", name, "--by", WHO)
    assert (code, made["findings"]) == (0, [])
    people = {each["address"]: each["header"] for each in made["recipients"]}
    assert people["stable@vger.kernel.org"] == "Cc"
    assert "regressions@lists.linux.dev" not in people
    assert f"mainline commit {world.sha}" in " ".join(made["eml"].split())
    assert "Reported-by" not in made["eml"]
    assert world("report", "approve", name, "--by", WHO)[0] == 0


def test_a_hang_is_a_regression_of_the_kernel(world):
    name = world.campaign(hang())
    code, made = world("report", "propose", name, "--by", WHO, "--use-case", USE)
    assert (code, made["findings"]) == (0, [])
    assert "Subject: [REGRESSION] eventpoll: Replace spinlock" in made["eml"]
    assert "8 of 12 boots" in made["eml"]
