# SPDX-License-Identifier: GPL-2.0-or-later
"""How deep a finding may be."""

import json

import pytest

from rtbisect.model.finding import Finding, Kept
from rtbisect.store import codec
from rtbisect.words.documents import found
from rtbisect.words.speak import speak


def nested(levels):
    """The same as a value and as a document, in a tuple where it is in one."""
    value, document = "x", "x"
    for _ in range(levels):
        value = Finding(Kept.AS_SAID, {"text": (value,)})
        document = {"kind": "kept.as-said", "data": {"text": [document]}}
    return value, document


def test_findings_in_findings_are_told_kept_and_read():
    value, document = nested(32)
    assert found(value) == document
    assert str(speak(value))
    assert codec.from_json(Finding, codec.to_json(Finding, value)) == value


@pytest.mark.parametrize("levels", [33, 100, 150, 250, 1000, 100_000])
def test_one_that_is_nested_too_deep_is_refused_where_it_is_read(levels):
    text = '{"kind":"a.b","data":{"why":' * levels + "null" + "}}" * levels
    with pytest.raises(ValueError, match=r"nested too deep|recursion|Recursion"):
        codec.from_json(Finding, text)


@pytest.mark.parametrize("levels", [33, 150, 250])
def test_nor_is_one_made(levels):
    with pytest.raises(ValueError, match="nested too deep"):
        nested(levels)
    document = json.loads('{"kind":"a.b","data":{"why":' * levels + "null" + "}}" * levels)
    with pytest.raises(ValueError, match="nested too deep"):
        codec.from_plain(Finding, document)
