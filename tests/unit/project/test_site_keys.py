# SPDX-License-Identifier: GPL-2.0-or-later
"""Part `rtbisect` of a site file: what a sentence names of it is there."""

import ast
import re
from pathlib import Path

from helpers.source_texts import texts
from rtbisect.config.schema import Ours
from rtbisect.process import plugins

PACKAGE = Path(__file__).resolve().parents[3] / "bisect/rtbisect"
#: Where suites are looked for, and the file of a store.
OTHERS = {"rtbisect.suites", "rtbisect.sqlite3"}
GROUPS = {plugins.COMMANDS, plugins.CAMPAIGNS, plugins.LABS, plugins.NEEDS}


def test_a_key_that_a_sentence_names_is_one_of_the_site_file():
    """A move of modules once renamed keys with them."""
    known = {f"rtbisect.{name}" for name in Ours.model_fields} | GROUPS | OTHERS
    named = {
        (path.name, key)
        for path in PACKAGE.rglob("*.py")
        for text in texts(ast.parse(path.read_text()))
        for key in re.findall(r"\brtbisect(?:\.[a-z_0-9]+)+", text)
    }
    assert ("checks.py", "rtbisect.labs") in named
    assert {each for each in named if each[1] not in known} == set()
