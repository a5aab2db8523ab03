# SPDX-License-Identifier: GPL-2.0-or-later
"""The thread of a report whose campaign ran, as other people get it, against its golden files;
RTBISECT_UPDATE_GOLDEN=1 writes them anew. Whom the tree names is not recorded, and said here.
"""

from contextlib import closing

import pytest

from helpers.campaigns import StillClock
from helpers.findings import words
from helpers.golden import is_golden
from helpers.mail_server import Server
from helpers.mail_world import USE, WHO
from helpers.recorded import GOLDENS, MAILABLE, NO_REQUEST, recording, rewritten
from rtbisect.campaign import assemble
from rtbisect.kernel.maintainers import MaintainerLines
from rtbisect.mail import approve
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Obstacle
from rtbisect.report.input_file import read_input
from rtbisect.report.lint.rules import lint
from rtbisect.report.own import held_back

pytestmark = pytest.mark.words

NAMED = MaintainerLines(
    ("Keeper <keeper@kernel.example.org> (maintainer)", "fs@lists.example.org (open list)")
)
WHY = "the machine had another workload while the kernel with this commit was measured"


@pytest.fixture
def server(world, monkeypatch):
    """What gets the mails of the world."""
    monkeypatch.setattr(assemble.SystemClock, "now_iso", StillClock.now_iso)
    monkeypatch.setattr(approve, "_maintainers", lambda _tree, _commit: NAMED)
    with closing(Server(world.root / "server")) as running:
        smtp = {"host": "127.0.0.1", "port": running.port, "security": "none"}
        world.mail |= {"send": {"smtp": smtp}, "inbox": {"maildir": str(world.root / "in")}}
        # Where others get the program, so that a mail has all lines that they may run.
        world.mail["program"] = "https://lab.example.org/rtbisect-0.1.0-py3-none-any.whl"
        # As recorded campaigns call theirs.
        world.target = "demo"
        yield running


def report(world, *words):
    """Carry a command of `rtbisect report` out in the name of a person."""
    code, told = world("report", *words, "--by", WHO)
    assert code == 0, told


def left(world, server):
    """The mail that leaves now, as the server took it, behind who sent it and who gets it."""
    world("mail", "send", "--site", str(world.site))
    *_earlier, taken = server.taken()
    sender, recipients, text = taken.decode("ascii").replace("\r\n", "\n").split("\n", 2)
    assert sender == "rtbisect@lab.example.org"
    assert lint(text.encode()) == ()
    return recipients.split(), text


@pytest.mark.parametrize("name", MAILABLE)
def test_the_thread_of_a_recorded_campaign_is_in_its_golden_files(name, world, server, monkeypatch):
    document, _held = recording(name)
    published = world.mail["evidence"]["url"]
    found = rewritten(document, world.root, monkeypatch, site=str(world.site), evidence=published)
    campaign = found.campaign
    world.publish(campaign)
    report(world, "propose", campaign, "--use-case", USE)
    report(world, "approve", campaign)
    people, text = left(world, server)
    is_golden(GOLDENS / f"{name}.public.eml", text)
    for check in found.answers:
        report(world, "answer", campaign, check, "--send")
        _askers, text = left(world, server)
        is_golden(GOLDENS / f"{name}.{check}.public.eml", text)
    report(world, "withdraw", campaign, "--why", WHY, "--send")
    told, text = left(world, server)
    is_golden(GOLDENS / f"{name}.withdrawal.eml", text)
    assert told == people


def test_a_recorded_repair_that_no_series_is_known_to_lack_leaves_for_nobody(
    world, server, monkeypatch
):
    document, _held = recording(NO_REQUEST)
    found = rewritten(document, world.root, monkeypatch, site=str(world.site))
    world.publish(found.campaign)
    missing = Finding.of(Obstacle.NO_REQUEST, mainline="", lacking=())
    assert held_back(read_input(found.report.folder)) == missing
    for command in ("propose", "approve"):
        code, told = world("report", command, found.campaign, "--by", WHO)
        assert (code, told["error"]) == (2, words(missing))
    world("mail", "send", "--site", str(world.site))
    assert server.taken() == []
    assert not world.public(found.campaign).exists()
