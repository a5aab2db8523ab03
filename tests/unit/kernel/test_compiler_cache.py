# SPDX-License-Identifier: GPL-2.0-or-later
"""Which files are compiled without a run of the preprocessor for the cache alone."""

import pytest

from rtbisect.kernel import compiler_cache
from rtbisect.process import command

DIRECTIVE = 'asm(".incbin \\"blob\\"");\n'


@pytest.fixture
def tree(tmp_path):
    def write(**files):
        command.run(["git", "init", "-q"], cwd=tmp_path, timeout_s=60, check=True)
        for name, text in ({"plain_c": "int x;\n"} | files).items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        command.run(["git", "add", "-A"], cwd=tmp_path, timeout_s=60, check=True)
        return compiler_cache.script(tmp_path)

    return write


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"configs_c": DIRECTIVE, "blob_S": ".incbin"},
        {"a_c": DIRECTIVE, "b_c": '#include "c.h"\n#include "aa.h"\n'},
    ],
)
def test_a_tree_whose_directives_are_in_files_of_their_own(tree, files):
    assert tree(**files) == compiler_cache.SPARING


@pytest.mark.parametrize(
    "files",
    [
        {"blob_h": DIRECTIVE},
        {"a_c": DIRECTIVE, "b_c": '#include "../x/a.c"\n'},
        {"a_c": DIRECTIVE, "b_h": "#include <a.c>\n"},
        {f"a{n}_c": DIRECTIVE for n in range(101)},
    ],
)
def test_a_tree_that_includes_them(tree, files):
    assert tree(**files) == compiler_cache.PLAIN


def test_what_is_no_work_tree_of_git_is_not_trusted(tmp_path):
    assert compiler_cache.script(tmp_path) == compiler_cache.PLAIN


@pytest.mark.parametrize(
    ("words", "depend"),
    [
        (["-c", "-o", "plain.o", "plain.c"], "1"),
        (["-c", "-o", "blob.o", "blob.c"], ""),
        (["-c", "-o", "asm.o", "asm.S"], ""),
        (["-c", "plain.c", "-o", "plain.o"], ""),
        (["--version"], ""),
    ],
)
def test_the_wrapper_spares_plain_c_files(tmp_path, words, depend):
    (tmp_path / "plain.c").write_text("int x;\n")
    (tmp_path / "blob.c").write_text(DIRECTIVE)
    (tmp_path / "asm.S").write_text("nop\n")
    for name, text in {
        "compile": compiler_cache.SPARING,
        "ccache": '#!/bin/sh\necho "<$CCACHE_DEPEND>" "$@"\n',
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    argv = [str(tmp_path / "compile"), "gcc", *words]
    done = command.run(argv, cwd=tmp_path, timeout_s=60, env=path, check=True)
    assert done.stdout.split() == [f"<{depend}>", "gcc", *words]
