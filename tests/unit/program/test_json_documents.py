# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON objects in outputs of any size: what is found, and how often the text is read for it."""

import json

import pytest

from rtbisect.program import json_documents
from rtbisect.program.json_documents import UnreadableError, documents, last_documents

#: Each line could begin an object that none of them ends.
OPEN = '{"a": [\n'


def values(found):
    return [each.value for each in found]


def test_objects_between_other_lines_are_found_and_those_in_others_are_not():
    text = 'a {"no": 1}\n{"one": {"in": 1}}\n{ brace\n  {\n"two": 2}, x\n{"cut": '
    assert values(documents(text)) == [{"one": {"in": 1}}, {"two": 2}]


def test_the_last_ones_are_those_with_nothing_between_them():
    assert values(last_documents('{"a": 1}\nx\n{"b": 2}\n\n {"c": 3}\ny')) == [{"b": 2}, {"c": 3}]
    assert last_documents("") == []


class Counting:
    """A decoder that counts the characters that it is asked to read."""

    def __init__(self):
        self.read = 0

    def raw_decode(self, text, begin):
        try:
            value, end = json.JSONDecoder().raw_decode(text, begin)
        except json.JSONDecodeError as error:
            self.read += error.pos - begin
            raise
        self.read += end - begin
        return value, end


@pytest.mark.parametrize(
    "text",
    [
        OPEN * 400 + "1," * 1_000_000,
        '{"log": 1} x\n' * 100_000,
        '{"no object\n' * 100_000,
        "{\n" * 300_000,
    ],
    ids=["open", "many", "broken", "braces"],
)
def test_a_long_output_is_read_a_few_times_at_most(monkeypatch, text):
    decoder = Counting()
    monkeypatch.setattr(json_documents, "_DECODER", decoder)
    for _ in documents(text):
        pass
    assert decoder.read <= 12 * len(text)


@pytest.mark.parametrize("rest", ['{"a":' * 100_000, OPEN * 4000], ids=["deep", "broken"])
def test_an_earlier_object_is_not_the_last_one(rest):
    """What follows it cannot be read; who takes all objects gets those that can."""
    text = '{"a": 1}\n' + rest
    assert values(documents(text)) == [{"a": 1}]
    with pytest.raises(UnreadableError):
        last_documents(text)
