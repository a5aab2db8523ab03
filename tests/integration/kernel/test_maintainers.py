# SPDX-License-Identifier: GPL-2.0-or-later
"""get_maintainer.pl of a tree: a program of somebody else, in the real sandbox."""

import shutil

import pytest

from rtbisect.kernel import maintainers as asked
from rtbisect.kernel.maintainers import SCRIPT, maintainers
from rtbisect.model.kinds.mail import NoMaintainers

pytestmark = pytest.mark.skipif(
    not all(shutil.which(tool) for tool in ("bwrap", "perl")), reason="needs bwrap and perl"
)


@pytest.fixture
def tree(tmp_path):
    """A tree whose script is the Perl program that a test gives."""

    def make(program):
        source = tmp_path / "tree"
        (source / "scripts").mkdir(parents=True)
        (source / "fs").mkdir()
        (source / "fs/eventpoll.c").write_text("int x;\n")
        (source / "fs/-f").write_text("int y;\n")
        if program is not None:
            (source / SCRIPT).write_text(program)
        for path in (tmp_path, *source.rglob("*"), source):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return source

    return make


def test_it_is_asked_for_the_files(tree):
    found = maintainers(
        tree('print "A B <a\\@example.org> (maintainer:X)\\n"; print STDERR "w\\n"; '
             'print "$_\\@example.org (args)\\n" for @ARGV;'),
        ("fs/eventpoll.c", "fs/-f", "fs/gone.c"),
    )  # fmt: skip
    assert found.why_not is None
    assert found.lines[0] == "A B <a@example.org> (maintainer:X)"
    assert found.lines[-3:] == (
        "--@example.org (args)",
        "./fs/eventpoll.c@example.org (args)",
        "./fs/-f@example.org (args)",
    )


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        (None, NoMaintainers.NO_SCRIPT),
        ("die qq(no\\e[31m tree\\n);", NoMaintainers.FAILED),
        ("print qq(x\\@example.org (y)\\n) while 1;", NoMaintainers.FAILED),
        ("kill 9, $$;", NoMaintainers.FAILED),
        ("this is no Perl", NoMaintainers.FAILED),
    ],
)
def test_one_that_does_not_work_gives_none(tree, program, kind):
    found = maintainers(tree(program), ("fs/eventpoll.c",))
    assert found.lines == ()
    assert (found.why_not.kind, found.why_not.data["script"]) == (kind, SCRIPT)
    assert found.why_not.data.get("said", "").isprintable()


def test_one_that_does_not_end_is_ended(tree, monkeypatch):
    monkeypatch.setattr(asked, "_TIMEOUT_S", 1.0)
    found = maintainers(tree("sleep 1000;"), ("fs/eventpoll.c",))
    assert found.lines == ()
    assert found.why_not.kind == NoMaintainers.FAILED


def test_a_hostile_one_reaches_nothing(tree, tmp_path):
    source = tree(
        'use IO::Socket; my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:25") ? "net" : "no";'
        'open(F, ">/build/src/x") and $s .= "tree"; open(F, "</etc/passwd") and $s .= "passwd";'
        f'open(F, ">{tmp_path}/x") and $s .= "home"; print "$s\\@example.org (x)\\n";'
        'print "\\e[2J\\x{202e}\\@example.org (esc)\\n";'
    )
    found = maintainers(source, ("fs/eventpoll.c",))
    assert found.lines[0] == "no@example.org (x)"
    assert all(line.isprintable() for line in found.lines)


def test_files_that_are_gone_are_not_asked_for(tree):
    found = maintainers(tree("1;"), ("fs/gone.c",))
    assert found.why_not.kind == NoMaintainers.NO_FILES
