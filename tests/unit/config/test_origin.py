# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the program came from, and what a site may say of that."""

import json
from importlib import metadata
from types import SimpleNamespace

import pytest
from pydantic import TypeAdapter, ValidationError

from rtbisect.config.origin import installed_from
from rtbisect.config.schema import ProgramUrl

WHEEL = "https://lab.example.org/rtbisect-0.1.0-py3-none-any.whl"
REPO = "https://git.example.org/rtbisect.git"


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (json.dumps({"url": WHEEL, "archive_info": {}}), WHEEL),
        (
            json.dumps({"url": REPO, "vcs_info": {"vcs": "git", "commit_id": "a" * 40}}),
            f"git+{REPO}@{'a' * 40}",
        ),
        (json.dumps({"url": "file:///srv/rtbisect", "dir_info": {"editable": True}}), ""),
        (json.dumps({"url": "https://me:secret@lab.example.org/x.whl"}), ""),
        (json.dumps({"url": REPO, "vcs_info": {"vcs": "git"}}), ""),
        ("[]", ""),
        ("{", ""),
        (None, ""),
    ],
    ids=["wheel", "git", "checkout", "password", "torn", "list", "no JSON", "index"],
)
def test_the_program_knows_what_it_was_installed_from(monkeypatch, record, wanted):
    installed = SimpleNamespace(read_text=lambda _name: record)
    monkeypatch.setattr(metadata, "distribution", lambda _name: installed)
    assert installed_from() == wanted


def test_a_program_that_is_not_installed_is_from_nowhere(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert installed_from() == ""


@pytest.mark.parametrize("url", [WHEEL, f"git+{REPO}", f"git+{REPO}@v0.1.0", "http://[::1]:8/x"])
def test_a_site_says_where_the_program_is(url):
    assert TypeAdapter(ProgramUrl).validate_python(url) == url


@pytest.mark.parametrize(
    "url",
    ["rtbisect", "/srv/x.whl", "file:///x.whl", "https://u:p@lab.example.org/x", f"{WHEEL} --pre",
     f"{WHEEL}\n", f"{WHEEL}';id", "https://lab.example.org", "ssh://git.example.org/x"],
)  # fmt: skip
def test_what_a_reader_cannot_install_is_refused(url):
    with pytest.raises(ValidationError):
        TypeAdapter(ProgramUrl).validate_python(url)
