# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept is read by later programs, whatever its classes are called by then."""

import json
from dataclasses import dataclass, replace

import pytest

from helpers.campaigns import ROOT
from helpers.kept_samples import WORDS, added, at_default, enumerations, filled, recorded
from rtbisect.cli.app import COMMANDS
from rtbisect.errors import InternalError
from rtbisect.model import formats
from rtbisect.model.campaign import Better, Sought
from rtbisect.model.formats import format_of, kept_as
from rtbisect.model.report import ReportInput
from rtbisect.model.setup import Setup
from rtbisect.store import codec

#: All that is kept is known once these are imported.
IMPORTED = list(COMMANDS.values())
SAMPLES = ROOT / "tests/data/formats"
#: All of the program; other tests have kinds of their own.
KEPT = sorted(
    (
        kept
        for kept in formats.known().items()
        if kept[0].__module__.startswith(("rtbisect", "builtins"))
    ),
    key=lambda kept: kept[1].name,
)
NAMES = [form.name for _, form in KEPT]
each_kind = pytest.mark.parametrize(("kind", "form"), KEPT, ids=NAMES)


def sample(form, version):
    return recorded(SAMPLES / f"{form.name}-{version}.json")


@each_kind
def test_a_value_of_every_version_reads_as_one_of_today(kind, form):
    wanted = codec.from_json(kind, sample(form, form.version))
    for version in range(form.version, 0, -1):
        assert codec.from_json(kind, sample(form, version)) == wanted
        for field in added(form.name, version):
            wanted = at_default(wanted, field)


@each_kind
def test_nothing_of_a_sample_is_lost_and_nothing_is_missing_in_it(kind, form):
    """A field that was renamed without an upgrade reads as its default, and one that a sample lacks
    could be renamed unseen.
    """
    told = json.loads(sample(form, form.version))
    assert codec.to_plain(kind, codec.from_plain(kind, told)) == told
    assert shape(told, but="format") == shape(filled(kind))


def shape(document, but=""):
    """The names in a document, without what stands there."""
    if isinstance(document, dict):
        return {name: shape(part) for name, part in document.items() if name != but}
    return [shape(part) for part in document] if isinstance(document, list) else None


def test_no_value_of_an_enumeration_is_gone():
    told = json.loads((SAMPLES / "enumerations.json").read_text(encoding="utf-8"))
    now = {each.value for kind, _ in KEPT for found in enumerations(kind) for each in found}
    assert {value for values in told.values() for value in values} <= now


@pytest.mark.parametrize(
    ("name", "version", "place", "words"),
    [
        ("Result", 2, "verifications[0].status", ["pass", "fail", "undecided", "n/a"]),
        ("Setup", 2, "thresholds[0].statistic", ["median", "fraction", "count"]),
        ("Setup", 2, "thresholds[0].role", ["primary", "guard", "shown"]),
    ],
)
def test_what_was_text_is_written_as_it_was(name, version, place, words):
    """An enumeration took its place without a new version."""
    kind, form = next(kept for kept in KEPT if kept[1].name == name)
    text = (SAMPLES / f"{name}-{version}.json").read_text(encoding="utf-8")
    for other in WORDS.keys() - {place}:
        text = text.replace(f'"it.{other}"', f'"{WORDS[other]}"')
    for word in words:
        told = text.replace(f'"it.{place}"', f'"{word}"')
        assert told != text
        written = codec.to_json(kind, codec.from_json(kind, told))
        assert f'"{word}"' in written
        if version == form.version:
            assert written == compact(told)
    with pytest.raises(ValueError, match="Input should be"):
        codec.from_json(kind, text)


def compact(text):
    return json.dumps(json.loads(text), separators=(",", ":"))


def test_every_format_has_a_name_of_its_own():
    assert len(set(NAMES)) == len(NAMES)


@dataclass(frozen=True, slots=True)
class Plain:
    size: int


@pytest.fixture
def thing(monkeypatch):
    """A class whose value was a number, then an object, whose field was then renamed."""
    monkeypatch.setattr(formats, "_FORMATS", {})

    @kept_as("thing", lambda size: {"width": size}, lambda told: {"size": told["width"]})
    @dataclass(frozen=True, slots=True)
    class Thing:
        size: int

    return Thing


@pytest.mark.parametrize(
    "text",
    ["3", '{"format":2,"width":3}', ' {\n "format": 3, "size": 3}', b'{"format":3,"size":3}'],
)
def test_an_older_document_goes_through_all_upgrades_from_its_version(thing, text):
    assert codec.from_json(thing, text) == thing(3)


def test_what_is_written_says_its_version_first(thing):
    kept_as("plain")(Plain)
    assert codec.to_json(thing, thing(3)) == '{"format":3,"size":3}'
    assert codec.to_json(Plain, Plain(3)) == '{"size":3}'


@pytest.mark.parametrize(
    "text",
    [
        '{"format":4,"size":3}', '{"format":0,"size":3}', '{"format":2,"size":3}',
        '{"format":2}', '{"format":"x"}', "[", "{}", "null", '{"format":3,"size":"much"}',
    ],
)  # fmt: skip
def test_a_newer_document_and_one_that_is_none_are_value_errors(thing, text):
    with pytest.raises(ValueError, match=r"."):
        codec.from_json(thing, text)


def test_a_document_that_is_nested_too_deep_is_a_value_error(thing):
    for text in ("[" * 10**5, '{"format":2,"x":' + "[" * 10**5):
        with pytest.raises(ValueError, match=r"."):
            codec.from_json(thing, text)


def test_a_document_of_a_newer_program_is_never_read_as_the_first_version(thing):
    kept_as("plain")(Plain)
    with pytest.raises(ValueError, match="version 2"):
        codec.from_json(Plain, '{"format":2,"size":3,"width":4}')


def test_a_class_that_is_not_marked_has_no_format(thing):
    with pytest.raises(InternalError):
        format_of(Plain)
    with pytest.raises(InternalError):
        codec.to_json(Plain, Plain(1))


@pytest.mark.parametrize("sought", Sought)
def test_a_first_set_up_of_a_repair_had_its_thresholds_turned(sought):
    told = json.loads(recorded(SAMPLES / "Setup-1.json"))
    if sought is Sought.REPAIR:
        told["request"]["extra"].append(["find_fix", "1"])
    (kept,) = told["thresholds"]
    found = codec.from_plain(Setup, told)
    assert found.request.sought is sought
    assert [found.judged[0].better.value, kept["better"]] == ["higher", "higher"]
    assert found.thresholds[0].better is sought.ends(Better.HIGHER, Better.LOWER)[0]


def test_a_command_of_the_first_version_has_no_part_for_kernels():
    """It was dressed as a device without a template."""
    told = json.loads(recorded(SAMPLES / "Setup-1.json"))
    whole = codec.from_plain(Setup, told)
    told["device"]["template"] = ""
    assert codec.from_plain(Setup, told) == replace(whole, kernel=None)


@pytest.mark.parametrize("name", ["Result", "ReportInput"])
def test_of_a_check_of_the_first_version_its_name_tells_the_parent(name):
    kind = next(kind for kind, form in KEPT if form.name == name)
    told = json.loads(recorded(SAMPLES / f"{name}-1.json"))
    checks = told.get("result", told)["verifications"]
    checks[:] = [
        checks[0] | {"name": each} for each in ("culprit vs parent 0a1b2c3d4e5f", "layout")
    ]
    read = codec.from_plain(kind, told)
    found = getattr(read, "result", read).verifications
    assert [each.parent for each in found] == ["0a1b2c3d4e5f", ""]


@pytest.mark.parametrize("said", [3, [], {"kind": "x", "data": {}}, None])
def test_what_was_a_sentence_is_text_or_cannot_be_read(said):
    for name, place in (("Run-1", ()), ("Result-2", ("gates", 0)), ("Result-2", ("reasons",))):
        document = json.loads(recorded(SAMPLES / f"{name}.json"))
        kind = next(kind for kind, form in KEPT if form.name == name[:-2])
        part = document
        for step in place:
            part = part[step]
        part[0 if isinstance(part, list) else "reason"] = said
        with pytest.raises(ValueError, match=r"."):
            codec.from_json(kind, json.dumps(document))


@pytest.mark.parametrize(("gone", "measured"), [((), "kernel"), (("device", "profile"), "command")])
def test_a_report_of_before_tells_by_its_device_what_was_measured(gone, measured):
    told = json.loads(recorded(SAMPLES / "ReportInput-6.json")) | dict.fromkeys(gone)
    assert codec.from_plain(ReportInput, told).measured == measured
