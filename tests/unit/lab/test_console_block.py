# SPDX-License-Identifier: GPL-2.0-or-later
import gzip
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.findings import Like
from helpers.lab_logs import block, block_of, tar_of
from rtbisect.lab import console_block
from rtbisect.lab.console_block import BlockError, files_of
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Blocks
from rtbisect.words.speak import speak

CONTENT = {
    "preflight/facts.txt": b"online=0-7\n",
    "pf-on/before.txt": bytes(range(256)) * 8,
    "order.txt": b"pf-on\n",
}


def test_the_files_come_back_to_the_byte():
    lines = ["noise before", *block(CONTENT), "RTBISECT-DONE", "noise after"]
    assert files_of(lines) == CONTENT


def test_folders_are_no_files():
    folder = tarfile.TarInfo("./pf-on")
    folder.type = tarfile.DIRTYPE
    here = tarfile.TarInfo(".")
    here.type = tarfile.DIRTYPE
    assert files_of(block(CONTENT, [here, folder])) == CONTENT


def refused(lines):
    with pytest.raises(BlockError) as caught:
        files_of(lines)
    assert str(speak(caught.value.found)).isprintable()
    return caught.value.found


def test_a_console_without_a_block():
    assert refused(["RTBISECT-DONE"]).kind == Blocks.NONE


def test_two_blocks_are_one_too_many():
    assert refused([*block(CONTENT), *block(CONTENT)]) == Like(Blocks.SEVERAL, blocks=2)


def test_a_block_without_end():
    assert refused(block(CONTENT)[:-1]).kind == Blocks.NO_END


def test_a_missing_line():
    lines = block(CONTENT)
    assert refused(lines[:2] + lines[3:]).kind == Blocks.SHORT


def test_swapped_lines():
    lines = block(CONTENT)
    lines[1], lines[2] = lines[2], lines[1]
    assert refused(lines).kind == Blocks.SHA256


def test_a_kernel_message_between_lines_and_inside_a_line():
    lines = block(CONTENT)
    message = "[   12.345678] hrtimer: interrupt took 1234 ns"
    found = refused([*lines[:3], message, *lines[3:]])
    assert found == Finding.of(Blocks.FOREIGN_TEXT, line=message)
    assert refused([*lines[:2], lines[2][:40] + message + lines[2][40:], *lines[3:]])
    assert refused([*lines[:2], lines[2][:40], message, lines[2][40:], *lines[3:]])


def test_a_damaged_first_line():
    lines = block(CONTENT)
    assert refused([lines[0][:-3] + "x", *lines[1:]]).kind == Blocks.FIRST_LINE


@given(st.data())
def test_one_changed_character_is_always_noticed(data):
    lines = block(CONTENT)
    row = data.draw(st.integers(0, len(lines) - 1))
    column = data.draw(st.integers(0, len(lines[row]) - 1))
    other = data.draw(st.sampled_from("AZaz09+/= []:.-"))
    changed = lines[row][:column] + other + lines[row][column + 1 :]
    if changed != lines[row]:
        with pytest.raises(BlockError):
            files_of([*lines[:row], changed, *lines[row + 1 :]])


def member(name, kind=tarfile.REGTYPE, size=0, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, size, link
    return info


@pytest.mark.parametrize(
    "bad",
    [
        member("../../etc/passwd"),
        member("/etc/passwd"),
        member("pf-on/../../x"),
        member("pf-on/.."),
        member("a/b/c/d"),
        member("with space"),
        member("order.txt"),
        member("link", tarfile.SYMTYPE, link="/etc/passwd"),
        member("hard", tarfile.LNKTYPE, link="order.txt"),
        member("device", tarfile.CHRTYPE),
        member("fifo", tarfile.FIFOTYPE),
        member("-rf\n"),
    ],
    ids=lambda info: info.name,
)
def test_members_that_no_window_writes_are_refused(bad):
    assert refused(block(CONTENT, [bad]))


def test_a_sparse_file_is_refused():
    """Of a few bytes it would make as many as it likes."""
    sparse = member("a", size=0)
    sparse.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 40)}
    assert refused(block(CONTENT, [sparse])) == Like(Blocks.NO_FILE, name="a")


def test_names_that_follow_each_other_without_end_are_refused():
    """Each is read one level deeper."""
    long = member("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    assert refused(block(CONTENT, [long] * 1500)).kind == Blocks.NO_TAR


def test_sizes_are_limited(monkeypatch):
    bomb = gzip.compress(bytes(console_block.LARGEST_TAR + 1))
    assert refused(block_of(bomb)).kind == Blocks.UNPACKS_LARGE
    monkeypatch.setattr(console_block, "LARGEST_FILE", 10)
    assert refused(block({"a": b"x" * 11})) == Like(Blocks.LARGE_FILE, name="a")
    monkeypatch.setattr(console_block, "MOST_FILES", 2)
    assert refused(block({"a": b"", "b": b"", "c": b""})) == Like(Blocks.LARGE_FILE, name="c")
    lines = block(CONTENT)
    monkeypatch.setattr(console_block, "LARGEST_BLOCK", 100)
    assert refused(lines) == Like(Blocks.LARGE, most_bytes=100)


def test_bytes_that_are_no_gzip_or_tar():
    assert refused(block_of(b"not gzip at all")).kind == Blocks.NO_GZIP
    assert refused(block_of(gzip.compress(b"x" * 2000)))
    cut_off = block_of(gzip.compress(tar_of(CONTENT))[:-9])
    assert refused(cut_off).kind == Blocks.UNPACKS_LARGE
