# SPDX-License-Identifier: GPL-2.0-or-later
import os
import subprocess

import pytest

from rtbisect.errors import ConfigError
from rtbisect.kernel.elf import NotElfError
from rtbisect.kernel.program_hash import program_hash
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.program.products import MOST_BYTES, NoProductError, Products, product_paths

SOURCE = "{comment}\nconst char *here = __FILE__; int main(void) {{ return {code}; }}\n"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A program in a tree of its own; the same text twice is compiled twice."""

    def compile_(name, *flags, code=0, comment=""):
        tree = tmp_path_factory.mktemp(name)
        (tree / "bench.c").write_text(SOURCE.format(code=code, comment=comment))
        words = ["gcc", "-g", *flags, "-o", "bench", str(tree / "bench.c")]
        subprocess.run(words, cwd=tree, check=True)
        return tree

    return compile_


def signature(tree, *paths):
    return Products(paths or ("bench",), program_hash).signature(tree)


def test_a_build_id_a_comment_and_the_place_of_a_tree_make_no_other_product(compiled):
    one = compiled("a", "-Wl,--build-id=0x1111")
    # Lines of the debug information move, and so does the id; the path of the tree is in both.
    two = compiled("b", "-Wl,--build-id=0x2222", comment="/* more */\n")
    assert str(one).encode() in (one / "bench").read_bytes()
    assert (one / "bench").read_bytes() != (two / "bench").read_bytes()
    assert signature(one) == signature(two)
    assert signature(one) != signature(compiled("c", code=1))


NAMED = "struct {name} {{ int x; }}; static int f_{name}(struct {name} s) {{ return s.x; }}\n"
CALLED = "{more}int main(void) {{ struct {name} s = {{ 0 }}; return f_{name}(s); }}\n"


@pytest.mark.parametrize("flags", [("-gz=none",), ("-gz",)])
def test_debug_information_and_symbols_of_any_size_make_no_other_product(tmp_path, flags):
    """Up to eight bytes more: so many are between sections at most."""
    hashes = set()
    for length in range(1, 9):
        text = (NAMED + CALLED).format(name="n" * length, more="\n" * length)
        (tmp_path / "bench.c").write_text(text)
        subprocess.run(["gcc", "-g", *flags, "bench.c", "-o", "bench"], cwd=tmp_path, check=True)
        hashes.add(program_hash(tmp_path / "bench"))
    assert len(hashes) == 1


DESCRIBING = (
    ".gdb_index", ".gnu_debugaltlink", ".gnu_debugdata", ".gnu.build.attributes",
    ".gnu.build.attributes.hot",
)  # fmt: skip


@pytest.mark.parametrize("name", DESCRIBING)
def test_what_debuggers_and_packagers_add_makes_no_other_product(compiled, tmp_path, name):
    tree, hashes = compiled("h"), set()
    for content in ("short", "of another length"):
        (tmp_path / "added").write_text(content)
        added = ["--add-section", f"{name}={tmp_path / 'added'}"]
        subprocess.run(["objcopy", *added, "bench", "moved"], cwd=tree, check=True)
        hashes.add(program_hash(tree / "moved"))
    assert len(hashes) == 1


def test_a_section_that_nobody_knows_counts(compiled, tmp_path):
    tree, hashes = compiled("i"), set()
    for content in (b"mine", b"mine too", b"\0mine"):
        (tmp_path / "added").write_bytes(content)
        added = ["--add-section", f".mine={tmp_path / 'added'}"]
        subprocess.run(["objcopy", *added, "bench", "moved"], cwd=tree, check=True)
        hashes.add(program_hash(tree / "moved"))
    assert len(hashes) == 3


LOADED = """
__attribute__((section(".debug_k"), used)) const int k = VALUE;
int main(void) { return *(const volatile int *)&k; }
"""


def test_data_that_is_loaded_counts_whatever_its_section_is_called(tmp_path):
    for value in "12":
        (tmp_path / f"{value}.c").write_text(LOADED.replace("VALUE", value))
        subprocess.run(["gcc", "-o", value, f"{value}.c"], cwd=tmp_path, check=True)
    assert program_hash(tmp_path / "1") != program_hash(tmp_path / "2")


def test_a_product_that_is_too_large_is_refused(tmp_path):
    with (tmp_path / "bench").open("wb") as sparse:
        sparse.truncate(MOST_BYTES + 1)
    with pytest.raises(NoProductError) as error:
        signature(tmp_path)
    assert error.value.found == Finding.of(Commands.LARGE_PRODUCT, path="bench", most=MOST_BYTES)


def test_what_is_appended_to_a_program_counts(compiled):
    one = compiled("d")
    before = signature(one)
    with (one / "bench").open("ab") as stream:
        stream.write(b"an archive that the program reads of itself")
    assert signature(one) != before


def test_objects_and_what_is_no_elf_count_as_they_are(compiled, tmp_path):
    objects = [compiled("e", "-c"), compiled("f", "-c", comment="/* more */\n")]
    assert len({signature(each) for each in objects}) == 2
    for text in (b"\x7fELF, it says", b"#!/bin/sh\necho 1\n"):
        (tmp_path / "bench").write_bytes(text)
        first = signature(tmp_path)
        (tmp_path / "bench").write_bytes(text + b" ")
        assert signature(tmp_path) != first
    (tmp_path / "bench").write_bytes(b"\x7fELF, it says")
    with pytest.raises(NotElfError):
        program_hash(tmp_path / "bench")


def test_a_folder_is_all_of_its_files_by_their_names(tmp_path):
    for name in ("lib/a.so", "lib/deep/b.so"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    first = signature(tmp_path, "lib")
    (tmp_path / "lib/deep/b.so").rename(tmp_path / "lib/deep/c.so")
    assert signature(tmp_path, "lib") != first
    assert signature(tmp_path, "lib", "lib/a.so") != signature(tmp_path, "lib")


def test_where_a_link_in_a_folder_leads_counts(tmp_path):
    """Those to folders, and those that lead nowhere, too; in whatever tree they lie."""
    signatures = []
    for name, target in (("a", "fast"), ("b", "slow"), ("c", "fast"), ("d", "nowhere")):
        tree = tmp_path / name
        for folder in ("out", "fast", "slow"):
            (tree / folder).mkdir(parents=True)
        (tree / "out/bench").write_text("the same")
        (tree / "out/lib").symlink_to(tree / target)
        signatures.append(signature(tree, "out"))
    assert signatures[0] == signatures[2]
    assert len(set(signatures)) == 3


def test_a_product_that_nobody_may_start_is_another_one(tmp_path):
    (tmp_path / "bench").write_text("#!/bin/sh\n")
    before = signature(tmp_path)
    (tmp_path / "bench").chmod(0o755)
    assert signature(tmp_path) != before


def test_what_is_not_there_or_cannot_be_read_is_named(tmp_path):
    (tmp_path / "empty").mkdir()
    for path in ("bench", "empty"):
        with pytest.raises(NoProductError) as error:
            signature(tmp_path, path)
        assert error.value.found.data["path"] == path
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NoProductError):
        signature(tmp_path, "pipe")


@pytest.mark.parametrize("path", ["", "/usr/bin/env", "../bench", "a/../../b"])
def test_a_path_out_of_the_worktree_is_refused(path):
    with pytest.raises(ConfigError):
        product_paths(("./bench", path))


def test_paths_are_kept_in_a_plain_form():
    assert product_paths(("./bench", "a/../b/")) == ("bench", "b")
