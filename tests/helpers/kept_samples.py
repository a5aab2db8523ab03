# SPDX-License-Identifier: GPL-2.0-or-later
"""A value of every kind that is kept, with no field at its default: what `tests/data/formats/` has.

    PYTHONPATH=tests:bisect python -m helpers.kept_samples FOLDER

writes `<name>-<version>.json` for each kind whose present version FOLDER lacks. A file that is
there is never written again: it stands for what programs of that version have left.
"""

import dataclasses
import enum
import json
import re
import sys
import types
import typing
import zlib
from pathlib import Path

from rtbisect.model.finding import Finding, kept_sentence
from rtbisect.store import codec

#: Written instead of the value that a field has by itself.
SMALL = 1000


def number(path):
    """A number of its own for each place in a document."""
    return 1 + zlib.crc32(path.encode()) % SMALL


def filled(kind, path="it", default=None):
    """A value of a type in the types of JSON; every text names its place."""
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return filled(next(each for each in inside if each is not type(None)), path, default)
    if origin in (tuple, list):
        several = [each for each in inside if each is not ...]
        return [filled(each, f"{path}[{n}]") for n, each in enumerate(several)]
    if origin is dict:
        return {f"{path} key": filled(inside[1], f"{path}{{}}")}
    if kind is Finding:
        # Its data have the names of its kind.
        return kept_sentence(path)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return {
            each.name: filled(hints[each.name], f"{path}.{each.name}", each.default)
            for each in dataclasses.fields(kind)
        }
    return plain(kind, path, default)


def plain(kind, path, default):
    """A value without parts."""
    if issubclass(kind, enum.Enum):
        return next(each.value for each in reversed(kind) if each is not default)
    if kind is bool:
        return default is not True
    if issubclass(kind, int | float):
        return kind(number(path) + 0.5)
    return f"/{path}" if issubclass(kind, Path) else path


#: What was plain text when the first samples were written and is a word of an enumeration today, by
#: the end of its place: a word that programs of then had there, too.
WORDS = {
    "verifications[0].name": "layout",
    "verifications[0].status": "undecided",
    "thresholds[0].statistic": "count",
    "thresholds[0].role": "guard",
    "table[0].kernel": "tip",
}


#: Fields that came later than their format, and with which version of it; what is older has them at
#: their default. One within another stands behind it.
ADDED = {
    ("ReportInput", "series"): 5,
    ("ReportInput", "names"): 6,
    ("ReportInput", "measured"): 7,
    ("ReportInput", "result.difference"): 8,
    ("Result", "difference"): 4,
    ("Run", "window_s"): 3,
}


def added(name, version):
    """The fields that came with a version of a format."""
    return [field for (of, field), since in ADDED.items() if (of, since) == (name, version)]


def at_default(value, field):
    """A value that has a field, and the same with it at its default."""
    first, _, rest = field.partition(".")
    inner = getattr(value, first)
    if rest:
        return dataclasses.replace(value, **{first: at_default(inner, rest)})
    (default,) = (each.default for each in dataclasses.fields(value) if each.name == first)
    assert inner != default
    return dataclasses.replace(value, **{first: default})


def put(document, whole, field):
    """Fill a field of a document with what the whole one has."""
    first, _, rest = field.partition(".")
    if rest:
        put(document[first], whole[first], rest)
    else:
        document[first] = whole[first]


def recorded(place):
    """The text of a sample, with a word where the text of a field of words stands."""
    text = place.read_text(encoding="utf-8")
    for end, word in WORDS.items():
        text = re.sub(rf'"it[^"]*{re.escape(end)}"', f'"{word}"', text)
    return text


def enumerations(kind):
    """Every enumeration that a value of a type may have in it, with its values; kinds of findings
    are kept as plain words.
    """
    if kind is Finding:
        return
    if dataclasses.is_dataclass(kind):
        for hint in typing.get_type_hints(kind).values():
            yield from enumerations(hint)
    elif isinstance(kind, type) and issubclass(kind, enum.Enum):
        yield kind
    for inside in typing.get_args(kind):
        yield from enumerations(inside)


def write(folder, kinds):
    """`kinds`: (name, version) of a kind: its type. A later version begins with what the one before
    becomes by its upgrade, so that both read as one value, but for what was added.
    """
    for (name, version), kind in sorted(kinds.items()):
        place, before = folder / f"{name}-{version}.json", folder / f"{name}-{version - 1}.json"
        if place.exists():
            continue
        if before.exists():
            told = codec.to_plain(kind, codec.from_json(kind, recorded(before)))
            for field in added(name, version):
                put(told, filled(kind), field)
        else:
            told = filled(kind)
        place.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def main():
    from rtbisect.cli.app import COMMANDS
    from rtbisect.model import formats

    # All that is kept is known once these are imported.
    list(COMMANDS.values())
    kinds = {(found.name, found.version): kind for kind, found in formats.known().items()}
    write(Path(sys.argv[1]), kinds)


if __name__ == "__main__":
    main()
