# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that make a kernel, by what they say of themselves and by their bytes."""

import pytest

from rtbisect.errors import ConfigError
from rtbisect.kernel import toolchain


@pytest.fixture
def tools(tmp_path):
    def write(name, said):
        place = tmp_path / name
        place.write_text(f"#!/bin/sh\n{said}\n")
        place.chmod(0o755)

    for name in ("as", "ld", "flex", "pahole"):
        write(name, f"echo; echo {name} 1.0; echo more")
    write("cc1", "")
    write("gcc", f"case $1 in --version) echo gcc 12;; *) echo {tmp_path}/cc1;; esac")
    return write


def names(before, now):
    return [each.split(" ")[0] for each in toolchain.changed(before, now).split("; ") if each]


def test_a_version_and_the_bytes_of_what_writes_code_count(tools, tmp_path):
    before = toolchain.look("gcc", tmp_path)
    assert before.startswith("gcc: gcc 12\n")
    assert "flex: 1.0" not in before
    assert "flex: flex 1.0\n" in before
    assert "bison: none\n" in before
    assert toolchain.look("gcc", tmp_path) == before
    tools("flex", "echo flex 1.1")
    tools("bison", "echo bison 3")
    tools("as", "echo as 1.0 # mended")
    tools("cc1", "# mended")
    assert names(before, toolchain.look("gcc", tmp_path)) == ["as", "flex", "bison", "cc1"]


def test_a_missing_compiler_is_told(tmp_path):
    with pytest.raises(ConfigError, match="gcc is not there"):
        toolchain.look("gcc", tmp_path)
