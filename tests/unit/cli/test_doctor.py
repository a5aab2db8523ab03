# SPDX-License-Identifier: GPL-2.0-or-later
"""`rtbisect doctor`: what a machine lacks, by part."""

import json
import sys
from pathlib import Path

import pytest

from rtbisect.cli import app
from rtbisect.cli.doctor import PARTS
from rtbisect.process import extras

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def doctor(tmp_path, monkeypatch, capsys):
    """Exit code and missing things by part, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RTBISECT_SITE", raising=False)

    def ask(*words):
        code = app.run(["--state", str(tmp_path / "state"), "doctor", *words, "--json"])
        rows = json.loads(capsys.readouterr().out)["parts"]
        assert all(row["works"] is not bool(row["missing"]) for row in rows)
        return code, {row["part"]: row["missing"] for row in rows}

    return ask


def site(folder, mail):
    text = (ROOT / "site.example.yaml").read_text()
    (folder / "site.yaml").write_text(text.replace("  # mail:\n", f"  mail: {mail}\n  # mail:\n"))


def test_all_parts_are_told_and_nothing_is_made(doctor, tmp_path):
    code, parts = doctor()
    assert code == 0
    assert list(parts) == list(PARTS)
    assert parts["run"] == []
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_was_named_and_does_not_work_is_an_error(doctor, tmp_path, monkeypatch):
    assert doctor("run") == (0, {"run": []})
    monkeypatch.setenv("PATH", str(tmp_path))
    code, parts = doctor("run")
    assert code == 2
    assert [each["hint"] for each in parts["run"]] == ["install the package git"]
    assert doctor()[0] == 0


def test_a_state_folder_below_a_file_is_told(doctor, tmp_path):
    (tmp_path / "state").write_text("")
    assert [each["what"] for each in doctor("run")[1]["run"]] == [f"{tmp_path}/state: not writable"]


@pytest.mark.parametrize("part", ["demo", "lab", "mail"])
def test_a_plain_install_lacks_the_extra_of_kernels(doctor, monkeypatch, part):
    monkeypatch.setitem(sys.modules, extras.LAB.module, None)
    hints = [each["hint"] for each in doctor(part)[1][part]]
    assert hints.count(extras.LAB.hint) == 1


def test_without_a_tree_or_its_extra_there_is_no_demo(doctor, monkeypatch):
    from rtbisect_labkit.commands import demo

    monkeypatch.setattr(demo, "SOURCE", Path("/nowhere/linux.tar.xz"))
    missing = doctor("demo")[1]["demo"]
    assert [each["what"] for each in missing if "linux.tar.xz" in each["what"]]


@pytest.mark.parametrize(
    ("mail", "lacks"),
    [("{send: {files: out}}", 0), ("{send: {sendmail: nowhere}}", 1), ("{approvers: []}", 1)],
)
def test_mail_needs_a_way_to_leave(doctor, tmp_path, mail, lacks):
    site(tmp_path, mail)
    code, parts = doctor("mail")
    assert (code, len(parts["mail"])) == (2 if lacks else 0, lacks)


def test_a_mistake_in_the_site_is_told(doctor, tmp_path):
    (tmp_path / "site.yaml").write_text("trees: 3\n")
    code, parts = doctor("mail")
    assert code == 2
    assert "site.yaml" in parts["mail"][0]["what"]
