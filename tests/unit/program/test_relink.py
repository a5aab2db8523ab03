# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a build step heeds the seed of a code layout, seen by what it writes."""

import pytest

from helpers.findings import words
from rtbisect.errors import MisaskedError
from rtbisect.model.code import HIGHEST_SEED, seed_of
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.program.relink import check_seed


def linker(tree, *contents):
    """A build step that writes these files, by the seed and the number of the link."""
    (tree / ".git").mkdir()
    links = []

    def link(seed):
        links.append(seed)
        (tree / ".git" / "index").write_text(str(len(links)))
        for number, content in enumerate(contents):
            text = content(seed, len(links))
            if text is not None:
                (tree / f"file{number}").write_text(text)
        return True

    return link


def heeds(seed, _link):
    return f"program {seed}"


def ignores(_seed, _link):
    return "program"


def spares(seed, link):
    """As a tool that knows what it has made."""
    return None if link == 2 else heeds(seed, link)


def once(_seed, link):
    return "program" if link == 1 else None


def dates(_seed, link):
    return f"built at {link}"


@pytest.mark.parametrize("files", [(heeds,), (ignores, heeds), (dates, heeds), (spares,)])
def test_a_build_that_heeds_the_seed_is_taken(tmp_path, files):
    assert check_seed(tmp_path, linker(tmp_path, *files)) is None


@pytest.mark.parametrize("files", [(), (ignores,), (ignores, ignores), (once,)])
def test_one_that_makes_the_same_files_is_refused(tmp_path, files):
    with pytest.raises(MisaskedError):
        check_seed(tmp_path, linker(tmp_path, *files))


@pytest.mark.parametrize("files", [(dates,), (dates, ignores)])
def test_files_that_never_repeat_leave_it_open(tmp_path, files):
    found = check_seed(tmp_path, linker(tmp_path, *files))
    assert found == Finding.of(Commands.LINKS_DIFFER)


def test_options_that_hold_the_seed_are_no_layout(tmp_path):
    """As in a file that a linker is told to read, and does not."""
    step = linker(tmp_path, heeds, ignores)
    (tmp_path / "file1").touch()
    (tmp_path / "file1").chmod(0o755)
    with pytest.raises(MisaskedError):
        check_seed(tmp_path, step)


def test_two_seeds_may_make_one_layout(tmp_path):
    """With few functions there are few orders."""
    assert check_seed(tmp_path, linker(tmp_path, lambda seed, _link: f"{seed > 3}")) is None


def test_a_link_that_fails_is_left_to_the_run(tmp_path):
    assert check_seed(tmp_path, lambda _seed: False) is None


def test_seeds_are_numbers_that_a_linker_takes():
    seeds = {seed_of(f"run-1-r{number}") for number in range(1000)}
    assert len(seeds) == 1000
    assert 0 < min(seeds) <= max(seeds) <= HIGHEST_SEED


def elf(kind):
    """The head of an ELF file of that type (elf(5)): 1 an object, 2 a program, 3 a library."""
    return b"\x7fELF\2\1" + bytes(10) + bytes((kind, 0))


@pytest.mark.parametrize("kind", [2, 3])
def test_a_step_that_writes_the_seed_and_links_no_program_is_refused(tmp_path, kind):
    """As a build tool that does not know that a file of options has changed."""
    (tmp_path / "bench").write_bytes(elf(kind))
    with pytest.raises(MisaskedError) as error:
        check_seed(tmp_path, linker(tmp_path, heeds))
    assert words(Finding.of(Commands.NOTHING_LINKED)) in error.value.message


def test_what_is_no_linked_program_may_be_moved_by_the_seed(tmp_path):
    (tmp_path / "part.o").write_bytes(elf(1))
    assert check_seed(tmp_path, linker(tmp_path, heeds)) is None


def test_a_program_that_moves_is_enough_whatever_else_is_not_linked(tmp_path):
    (tmp_path / "tool").write_bytes(elf(2))
    (tmp_path / "file1").touch()
    (tmp_path / "file1").chmod(0o755)
    assert check_seed(tmp_path, linker(tmp_path, ignores, heeds)) is None
