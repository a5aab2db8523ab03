# SPDX-License-Identifier: GPL-2.0-or-later
"""What the figures of a campaign depend on, as it is kept with the campaign.

A fingerprint is canonical JSON. A campaign keeps the one that it began with, and a program that
knows more fields compares those that the kept one has: what it lacks counts as unchanged.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rtbisect.campaign import first_fingerprint
from rtbisect.errors import ConfigError, InternalError
from rtbisect.model.campaign import GROWN_BOOTS, Limits, first_rules
from rtbisect.model.command import NO_KERNEL
from rtbisect.model.formats import kept_as

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rtbisect.model.ports import Journal
    from rtbisect.model.setup import Setup

#: Version of the documents written today. Raise it where a name or a meaning changes, and lift
#: older ones; a field that is only added needs nothing.
VERSION = 2

#: Name of the step that keeps what boots depend on.
MACHINE = "machine"

#: Defaults that changed, and what they are now: a site that does not say them has not changed by
#: that.
FIRST_DEFAULTS: Mapping[str, int] = {"max_boots": 80, "max_builds": 60, "grows_to": 0}
_DEFAULTS = Limits(grows_to=GROWN_BOOTS)

#: Fields of a set-up that are for readers of reports alone.
FOR_READERS = frozenset({"reason", "title"})


@kept_as("Fingerprint")
@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the figures of a campaign depend on."""

    #: The parts that version 1 knew.
    first_parts: ClassVar[tuple[str, ...]] = first_fingerprint.SETUP
    #: Hash of Python's own notation, in hex: all that version 1 kept; "" in later ones.
    sha256: str = ""
    #: Version of the fingerprint when the campaign began.
    version: int = 1
    #: Canonical JSON; "" in version 1 until `with_document` has proved what it stands for.
    document: str = ""

    def fits(self, parts: Mapping[str, Any]) -> bool:
        """Whether these parts are those that it was made of, as far as it knows them."""
        if self.document:
            return _unchanged(json.loads(self.document), json.loads(document(parts)))
        text = first_fingerprint.text(self.first_parts, parts)
        return self.sha256 == hashlib.sha256(text.encode()).hexdigest()


@kept_as("Machine")
@dataclass(frozen=True, slots=True)
class MachineFingerprint(Fingerprint):
    """What boots of two campaigns have to have in common to be compared."""

    first_parts: ClassVar[tuple[str, ...]] = first_fingerprint.MACHINE


T = TypeVar("T", bound=Fingerprint)


def new_fingerprint(kind: type[T], parts: Mapping[str, Any]) -> T:
    """The fingerprint of a campaign that begins now."""
    return kind(version=VERSION, document=document(parts))


def with_document(kept: T, parts: Mapping[str, Any]) -> T:
    """A kept fingerprint with its document. InternalError when it is not of these parts, of which
    it would get one.
    """
    if kept.document:
        return kept
    if not kept.fits(parts):
        raise InternalError("a fingerprint is lifted only where it fits")
    known = first_fingerprint.known(kept.first_parts, parts)
    return replace(kept, document=_canonical(known))


def document(parts: Mapping[str, Any]) -> str:
    """Canonical JSON of all parts."""
    return _canonical(_to_json(dict(parts)))


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _to_json(value: Any) -> Any:
    """A value in the types of JSON, without what is for readers alone."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        value = {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, dict):
        return {name: _to_json(part) for name, part in value.items() if name not in FOR_READERS}
    if isinstance(value, tuple | list):
        return [_to_json(part) for part in value]
    if isinstance(value, str | int | float | None):
        return value
    # Any other type might be written differently tomorrow.
    raise InternalError(f"a fingerprint cannot hold a {type(value).__name__}")


def _unchanged(kept: Any, now: Any) -> bool:
    """Whether all that was kept is there and the same."""
    if isinstance(kept, dict) and isinstance(now, dict):
        return all(name in now and _unchanged(part, now[name]) for name, part in kept.items())
    if isinstance(kept, list) and isinstance(now, list):
        return len(kept) == len(now) and all(map(_unchanged, kept, now))
    return bool(kept == now)


class SetupChangedError(ConfigError):
    """A campaign cannot go on: it was begun with another set-up."""


def keep_setup(setup: Setup, journal: Journal) -> Setup:
    """Remember what a campaign runs with; SetupChangedError when a resumed one would run with
    something else: figures of two set-ups do not mix. Returns the set-up as of its beginning.
    """
    setup = as_begun(setup, journal)
    for key, kind, parts in (
        ("setup", Fingerprint, setup_parts(setup)),
        (MACHINE, MachineFingerprint, machine_parts(setup)),
    ):
        kept = _kept_or_new(journal, key, kind, parts)
        if not kept.fits(parts):
            raise SetupChangedError(
                "the site file, its fragments or thresholds/ changed since"
                f" {journal.campaign} began",
                "put them back as they were, or start a new campaign",
            )
        if not kept.document:
            journal.rewrite(key, kind, with_document(kept, parts))
    return setup


def as_begun(setup: Setup, journal: Journal) -> Setup:
    """The set-up with the rules that its campaign, which is kept, began with, and with the limits
    that no site has to say, as they were then.
    """
    kept = _kept_or_new(journal, "setup", Fingerprint, setup_parts(setup))
    known = json.loads(kept.document)["limits"] if kept.document else {}
    setup = replace(setup, limits=replace(setup.limits, **first_rules(known)))
    for limits in _with_first_defaults(setup.limits):
        before = replace(setup, limits=limits)
        if kept.fits(setup_parts(before)):
            return before
    return setup


def _with_first_defaults(limits: Limits) -> Iterator[Limits]:
    """These limits, then with each choice of defaults that were others once."""
    choices = [
        ((name, now), (name, FIRST_DEFAULTS[name]))
        if now == getattr(_DEFAULTS, name)
        else ((name, now),)
        for name in FIRST_DEFAULTS
        for now in (getattr(limits, name),)
    ]
    for chosen in itertools.product(*choices):
        yield replace(limits, **dict(chosen))


def _kept_or_new(journal: Journal, key: str, kind: type[T], parts: Mapping[str, Any]) -> T:
    return journal.step(key, kind, lambda _note: new_fingerprint(kind, parts))


def setup_parts(setup: Setup) -> dict[str, Any]:
    """What the figures and the answer of a campaign depend on."""
    return {**_kernel_parts(setup), "thresholds": setup.judged, "limits": setup.limits}


def machine_parts(setup: Setup) -> dict[str, Any]:
    """What boots depend on. Thresholds and limits judge them, and change nothing of them."""
    parts = _kernel_parts(setup)
    device = parts["device"]
    patient = device | {"boot_s": 0} if setup.kernel is None else replace(device, boot_s=0)
    del parts["explaining"]
    return parts | {"device": patient}


def _kernel_parts(setup: Setup) -> dict[str, Any]:
    """What a figure depends on; for any command what has always stood there."""
    if setup.kernel is None:
        return dict(NO_KERNEL)
    return {each.name: getattr(setup.kernel, each.name) for each in fields(setup.kernel)}
