# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a kernel was made from, as kbuild's own records name them."""

import pytest

from rtbisect.kernel import products as module
from rtbisect.kernel.products import closure
from rtbisect.kernel.sandbox import SRC
from rtbisect.kernel.workspace import NotPlainError


def test_files_of_the_tree_and_nothing_else_are_named(tmp_path):
    (tmp_path / "fs").mkdir()
    (tmp_path / "fs/.eventpoll.o.cmd").write_text(
        f"savedcmd_fs/eventpoll.o := gcc -I{SRC}/include -I{SRC}/. -I{SRC}/../other "
        f"-c -o fs/eventpoll.o {SRC}/fs/eventpoll.c\n"
        f"deps_fs/eventpoll.o := \\\n  {SRC}/include/linux/fs.h \\\n"
        f"  {SRC}/arch/x86/include/../include/asm/a.h \\\n  /usr/include/stdio.h \\\n"
    )
    (tmp_path / "fs/eventpoll.cmd").write_text(f"{SRC}/not/a/record.c\n")
    assert closure(tmp_path) == {
        "fs/eventpoll.c",
        "include",
        "include/linux/fs.h",
        "arch/x86/include/asm/a.h",
    }


def test_a_record_that_is_a_link_or_a_folder_is_passed_over(tmp_path):
    (tmp_path / ".folder.cmd").mkdir()
    (tmp_path / "elsewhere").write_text(f"{SRC}/secret.c\n")
    (tmp_path / ".link.cmd").symlink_to(tmp_path / "elsewhere")
    assert closure(tmp_path) == frozenset()


@pytest.mark.parametrize(
    ("bound", "said"), [("_MOST_NAMES", "name more"), ("_MOST_BYTES", "bytes")]
)
def test_records_without_end_are_the_tree_s_fault(tmp_path, monkeypatch, bound, said):
    for number in range(4):
        (tmp_path / f".{number}.cmd").write_text(f"{SRC}/{number}.c {SRC}/{number}.h\n")
    assert len(closure(tmp_path)) == 8
    monkeypatch.setattr(module, bound, 3)
    with pytest.raises(NotPlainError, match=said):
        closure(tmp_path)
