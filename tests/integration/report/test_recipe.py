# SPDX-License-Identifier: GPL-2.0-or-later
"""The section "Reproduce" of a mail, run as it is printed by somebody who has nothing but the mail.
The program, the data and the tree come over https, kernels from make; what boots is recorded.
"""

import html
import io
import json
import re
import tarfile
from dataclasses import replace

import pytest

from helpers import wheels
from helpers.campaigns import FakeLab, World, boots, line_of
from helpers.outsider import Outsider
from helpers.published import ROOT, console, printed, publish, served
from helpers.report_cases import rcu
from helpers.report_parts import judged, vs_parent
from helpers.results import culprit_result
from helpers.toy_kernel import FRAGMENT, MODULE, Toy
from rtbisect.lab import qemu_script
from rtbisect.model.campaign import MetricKey, Sample
from rtbisect.model.code import Build, BuildStatus
from rtbisect.store.artefacts import ArtefactStore

MAIL = ROOT / "tests/golden/mails/public_regression.eml"
CAMPAIGN = "rcu-0002"
GRACE = MetricKey("rcu", "p50_us", "rcu-off")
#: Recorded boots before a change that makes grace periods longer, and since.
GOOD, BAD = "demo-1-r1.log.gz", "demo-1-r2.log.gz"

#: In the place of QEMU: the console of the kernel whose image it is given.
QEMU = """#!/bin/sh
while [ "$1" != -kernel ]; do shift; done
folder=${2%/bzImage}
[ -s "$folder/initramfs.cpio.gz" ] && cat "CONSOLES/${folder##*/}"
"""


def section(mail):
    """The lines below "To reproduce it"."""
    return mail.partition("\nTo reproduce it:\n")[2].partition("\n\n")[0].splitlines()


def archive(files):
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return plain.getvalue()


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The program as a wheel, and a folder with all that it stands on."""
    return wheels.packages(tmp_path_factory.mktemp("packages"))


@pytest.fixture
def tree(tmp_path):
    """A tree of two commits: parent and culprit."""
    toy = Toy(tmp_path)
    return toy, toy.first, toy.change("kernel/rcu.c", "\n", "\n/* slower */\n")


@pytest.fixture
def outsider(tmp_path, tree, packages, monkeypatch):
    """An empty machine in a network with what the mail names, and the consoles of both kernels."""
    toy, parent, culprit = tree
    made = Outsider(tmp_path / "outside", ("lab.example.org", "git.example.org"))
    wheel, _needed = packages
    (made.site("lab.example.org") / wheel.name).write_bytes(wheel.read_bytes())
    served(toy.path, "main", made.site("git.example.org") / "linux.git")
    setup = setup_between(tmp_path / "world", parent, culprit)
    order = " ".join(window.name for window in setup.kernel.windows)
    consoles = made.root / "consoles"
    consoles.mkdir()
    store = ArtefactStore(tmp_path / "state/artefacts")
    builds = []
    for sha, recorded in ((parent, GOOD), (culprit, BAD)):
        (consoles / sha[:12]).write_text(console(recorded, order))
        # Another machine than that of the campaign, with CPUs of its own.
        own = console(
            recorded, order, online="0-5", isolated="2-5", nohz_full="2-5", isolated_asked="2-5",
            housekeeping_asked="0-1", watch_asked=setup.kernel.profile.watch,
        )  # fmt: skip
        builds.append(stored(store, sha, own))
    # What is measured on a machine is recorded, too: it comes with the modules of a kernel.
    monkeypatch.setattr(qemu_script, "command_of", lambda _: "cat /opt/rtbisect/modules/console")
    limit = next(each for each in setup.judged if each.key == GRACE)
    found = judged(limit, Sample((6000.0,) * 8), Sample((9000.0,) * 8))
    result = culprit_result(
        culprit, metric=GRACE, judgement=found,
        verifications=(vs_parent(parent[:12], "pass", found),),
    )  # fmt: skip
    folder = made.site("lab.example.org") / "evidence" / CAMPAIGN
    publish(monkeypatch, tmp_path / "state", setup, result, tuple(builds), folder, rcu())
    made.has_program("qemu-system-x86_64", QEMU.replace("CONSOLES", str(consoles)))
    return made


def setup_between(state, parent, culprit):
    """A campaign on a real machine between two commits of the tree, with a module of a suite."""
    setup = World(state, line_of(2), FakeLab(boots(2), None)).open()[0]
    kernel = setup.kernel
    return replace(
        setup,
        request=replace(setup.request, older=parent, newer=culprit),
        kernel=replace(
            kernel,
            build=replace(kernel.build, modules=MODULE),
            device=replace(kernel.device, emulated=False),
            window_ms=2000,
        ),
    )


def stored(store, sha, own):
    """A build whose image says nothing; its modules bring the console of somebody's machine."""
    return Build(
        revision=sha,
        config_name="toy",
        status=BuildStatus.OK,
        kernel=store.put_bytes(b"a kernel of the campaign"),
        config=store.put_bytes(FRAGMENT.encode()),
        modules=store.put_bytes(archive({"opt/rtbisect/modules/console": own})),
    )


def runs(outsider, sha):
    """The machine has booted what was built of a commit."""
    outsider.has_program("uname", f"#!/bin/sh\necho 6.12.0-toy-{sha[:12]}\n")


def figures(outsider, packages, folder, kind):
    """What the program says of the consoles that a script kept."""
    line = f"venv/bin/rtbisect figures . {kind}/*.log --json"
    done = outsider.run([line], folder, packages[1])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["invalid"] == []
    key = (GRACE.suite, GRACE.name, GRACE.window)
    rows = [row for row in found["figures"] if (row["suite"], row["name"], row["window"]) == key]
    return found["limit"], {row["kernel"]: row["value"] for row in rows}


@pytest.mark.words
def test_the_page_that_a_mail_links_is_there_and_begins_as_the_mail(outsider, packages, tmp_path):
    mail = MAIL.read_text().partition("\n\n")[2]
    (address,) = re.findall(rf"^[A-Z][a-z, ]+: (https://\S+/{CAMPAIGN}/)$", mail, re.MULTILINE)
    # By any answer but 200 wget fails.
    done = outsider.run([f"wget -q -O page.html {address}"], tmp_path, packages[1])
    assert done.returncode == 0, done.stderr
    # Names may break behind an underscore.
    page = html.unescape((tmp_path / "page.html").read_text("utf-8").replace("<wbr>", ""))
    first_sentence = " ".join(mail.partition("\n\n")[0].split()).partition(" The boots")[0]
    assert first_sentence.endswith("isolated.")
    assert first_sentence in page


def test_the_lines_of_a_mail_run_as_they_are_printed(outsider, packages, tree, tmp_path):
    _toy, parent, culprit = tree
    lines, empty = printed(section(MAIL.read_text())), tmp_path / "empty"
    assert len(lines) <= 14
    empty.mkdir()
    runs(outsider, parent)
    done = outsider.run(lines, empty, packages[1])
    assert done.returncode == 0, done.stdout + done.stderr
    folder = empty / CAMPAIGN
    # Each make line is shown, and the kernels are those of make.
    assert "+ make" in done.stderr
    for sha in (parent, culprit):
        built = folder / "built" / sha[:12]
        assert (built / "bzImage").read_bytes() != b"a kernel of the campaign"
        assert (built / "suite/probe.ko").is_file()
        release = (built / "include/config/kernel.release").read_text().strip()
        assert release.endswith(f"-{sha[:12]}")
        assert sha[:12] in done.stdout
    limit, booted = figures(outsider, packages, folder, "booted")
    assert booted[parent[:12]] < limit < booted[culprit[:12]]
    # The machine boots the other kernel, and its owner measures again, in a new shell.
    runs(outsider, culprit)
    done = outsider.run([line for line in lines if "measure.sh" in line], folder, packages[1])
    assert done.returncode == 0, done.stdout + done.stderr
    limit, measured = figures(outsider, packages, folder, "measured")
    assert measured[parent[:12]] < limit < measured[culprit[:12]]
    assert not list((outsider.root / "home").iterdir())


def test_a_machine_with_another_kernel_is_not_measured(outsider, packages, tree, tmp_path):
    _toy, parent, _culprit = tree
    folder = outsider.site("lab.example.org") / "evidence" / CAMPAIGN
    done = outsider.run(["sh measure.sh"], folder, packages[1])
    assert done.returncode == 2
    assert parent[:12] in done.stderr
    assert len(done.stderr.splitlines()) == 1
