# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts for shells, and what the program answers them."""

import shutil
import subprocess

import pytest

from rtbisect.cli import app
from rtbisect.cli.completion import VARIABLE

#: How each shell asks for what may follow `rtbisect sta`.
ASKED = {"bash": "bash_complete", "zsh": "zsh_complete", "fish": "fish_complete"}


@pytest.mark.parametrize("shell", ASKED)
def test_a_script_asks_what_the_program_answers(shell, capsys, monkeypatch):
    assert app.run(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert f"{VARIABLE}={ASKED[shell]}" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True)
    monkeypatch.setenv(VARIABLE, ASKED[shell])
    monkeypatch.setenv("COMP_WORDS", "rtbisect stat")
    monkeypatch.setenv("COMP_CWORD", "stat" if shell == "fish" else "1")
    assert app.run([]) == 0
    told = capsys.readouterr().out
    assert "status" in told
    assert "bisect" not in told


def test_the_script_of_bash_asks_and_takes_the_answer(tmp_path, capsys):
    """With the real shell; what it calls is a program that says what it was asked."""
    app.run(["completion", "bash"])
    script = capsys.readouterr().out
    program = tmp_path / "rtbisect"
    program.write_text('#!/bin/sh\necho "plain,word-$COMP_CWORD-of-$_RTBISECT_COMPLETE"\n')
    program.chmod(0o755)
    ask = (
        'COMP_WORDS=(rtbisect run); COMP_CWORD=1; _rtbisect_completion "$0"; echo "${COMPREPLY[0]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script + ask, program], check=True, capture_output=True, text=True
    )
    assert done.stdout == "word-1-of-bash_complete\n"
    assert not done.stderr


def test_another_shell_is_refused_and_a_strange_question_has_no_answer(capsys, monkeypatch):
    assert app.run(["completion", "tcsh"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    monkeypatch.setenv(VARIABLE, "tcsh_complete")
    assert app.run([]) == 1


@pytest.mark.parametrize(
    "told",
    [{}, {"COMP_WORDS": "rtbisect"}, {"COMP_WORDS": "rtbisect", "COMP_CWORD": "x"}],
)
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_question_about_no_line_has_no_answer(shell, told, capsys, monkeypatch):
    monkeypatch.setenv(VARIABLE, ASKED[shell])
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    assert app.run([]) == 1
    assert capsys.readouterr().out == ""
