# SPDX-License-Identifier: GPL-2.0-or-later
"""How a program of a revision is started, and what is said of one that cannot be."""

import errno
import os
from pathlib import Path

import pytest

from rtbisect.errors import InfrastructureError
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.boot import Commands
from rtbisect.program.startable import as_started, refused, unstartable


def test_a_program_that_may_not_be_read_is_started(tmp_path, monkeypatch):
    (tmp_path / "bench").write_text("#!/opt/gone/sh\n")
    (tmp_path / "bench").chmod(0o755)
    assert unstartable("./bench", tmp_path).kind == Commands.NO_INTERPRETER

    def refused(*_words):
        raise PermissionError

    monkeypatch.setattr(Path, "open", refused)
    assert unstartable("./bench", tmp_path) is None


@pytest.mark.parametrize(
    ("content", "by_shell"),
    [
        (b"echo 1\n", True),
        (b"", True),
        (b"#!\necho 1\n", True),
        (b"#!/bin/sh\n", False),
        (b"\x7fELF\2\1\1\0", False),
    ],
)
def test_only_what_the_kernel_refuses_as_a_script_is_run_by_a_shell(
    tmp_path, monkeypatch, content, by_shell
):
    monkeypatch.setenv("PATH", str(tmp_path))
    bench = tmp_path / "bench"
    bench.write_bytes(content)
    assert as_started(("./bench", "a"), tmp_path) == ("./bench", "a")
    bench.chmod(0o755)
    shell = ("/bin/sh", "--") if by_shell else ()
    assert as_started(("./bench", "a"), tmp_path) == (*shell, "./bench", "a")
    name = str(bench) if by_shell else "bench"
    assert as_started(("bench", "a"), tmp_path / "tree") == (*shell, name, "a")


def test_a_file_of_the_tree_is_not_started_by_its_name_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    (tmp_path / "bench").write_text("echo 1\n")
    (tmp_path / "bench").chmod(0o755)
    assert as_started(("bench",), tmp_path) == ("bench",)


def refusal(number, file):
    error = InfrastructureError("it cannot be started")
    error.__cause__ = OSError(number, os.strerror(number), file)
    return error


def test_what_the_kernel_refuses_is_told_of_a_program_of_the_revision(tmp_path):
    error = refusal(errno.ENOEXEC, "./bench")
    found = Finding.of(Commands.NOT_STARTED, program="./bench", error=os.strerror(errno.ENOEXEC))
    assert refused(error, "./bench", tmp_path) == found


@pytest.mark.parametrize(
    ("error", "program"),
    [
        (refusal(errno.ENOMEM, "./bench"), "./bench"),
        # Its tree is gone, or what counts its instructions.
        (refusal(errno.ENOENT, "/tree"), "./bench"),
        (refusal(errno.ENOEXEC, "/bin/bench"), "/bin/bench"),
        (refusal(errno.ENOEXEC, "bench"), "bench"),
        (InfrastructureError("the disk is full"), "./bench"),
    ],
)
def test_any_other_error_is_none_of_the_revision(tmp_path, error, program):
    assert refused(error, program, tmp_path) is None
