# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of devices whose boots are no evidence."""

from datetime import UTC, datetime

import pytest

from rtbisect.errors import ConfigError
from rtbisect.lab.lava.quarantine import Entry, Quarantine

NOW = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=UTC)


def test_a_device_is_put_there_and_released(tmp_path):
    here = Quarantine(tmp_path / "lab/quarantine.json")
    assert here.all() == {}
    here.put("rt01", "fan 2 is \x1b[31mslow", NOW)
    here.put("rt01", "another reason", NOW)
    here.put("rt02", "no power", NOW)
    first = Entry("fan 2 is ?[31mslow", "2026-03-04T05:06:07+00:00")
    # Another campaign sees it, too.
    assert Quarantine(tmp_path / "lab/quarantine.json").all()["rt01"] == first
    assert here.release("rt01") is True
    assert here.release("rt01") is False
    assert list(here.all()) == ["rt02"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": {"reason": "x"}}'])
def test_a_list_that_is_none_is_refused(tmp_path, text):
    place = tmp_path / "quarantine.json"
    place.write_text(text)
    with pytest.raises(ConfigError, match="cannot be read"):
        Quarantine(place).all()
    assert place.read_text() == text
