# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples of YAML in documents can be read: who copies one into a site file gets what it shows."""

import re
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

#: A block between fences, and what it is called.
_FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
#: Lines behind an empty one that are indented as code, in a list too.
_INDENTED = re.compile(r"(?<=\n\n)(?: {4,}[^\n]*(?:\n|\Z))+")
#: What those begin with that are of a site file, an inventory or the like.
_KEY = re.compile(r"(\s*#.*\n)*\s*[a-z_]+:(\s|$)")


def examples(text):
    """Each example of YAML, as somebody copies it."""
    for found in _FENCED.finditer(text):
        if found[2] == "yaml":
            yield dedent(found[3])
    for found in _INDENTED.finditer(_FENCED.sub("", text)):
        if _KEY.match(found[0]):
            yield dedent(found[0])


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_yaml_of_a_page_can_be_read(path):
    for example in examples(path.read_text()):
        assert isinstance(yaml.safe_load(example), (dict, list)), example


def test_a_key_that_is_a_blank_short_is_found():
    (example,) = examples(
        "Text:\n\n    a:\n      b:\n       c: 1\n      d: 2\n      e:\n     f: 3\n\n"
    )
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(example)


def test_examples_are_found_with_fences_and_without():
    shown = [yaml.safe_load(each) for each in examples((ROOT / "docs/operations.md").read_text())]
    keys = {key for each in shown for key in each}
    assert {"rtbisect", "labs", "device_types"} <= keys
    assert {"hosts", "labs", "build"} <= {key for each in shown for key in each.get("rtbisect", ())}
