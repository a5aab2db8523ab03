# SPDX-License-Identifier: GPL-2.0-or-later
"""Texts that the program writes, against files that were read."""

import os


def is_golden(place, text, encoding="ascii"):
    """Assert that the file has this text; RTBISECT_UPDATE_GOLDEN=1 writes it anew."""
    if os.environ.get("RTBISECT_UPDATE_GOLDEN") == "1":
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, encoding)
    assert text == place.read_text(encoding)
