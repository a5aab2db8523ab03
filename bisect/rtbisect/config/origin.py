# SPDX-License-Identifier: GPL-2.0-or-later
"""Where this program came from."""

from __future__ import annotations

import json
from importlib import metadata

from pydantic import TypeAdapter

from rtbisect.config.schema import ProgramUrl


def installed_from() -> str:
    """What others can install this program from too: the address that pip recorded (PEP 610); ""
    for a checkout, a file, and an index.
    """
    try:
        text = metadata.distribution("rtbisect").read_text("direct_url.json") or "{}"
        record = json.loads(text)
        vcs = record.get("vcs_info", {})
        url = f"{vcs['vcs']}+{record['url']}@{vcs['commit_id']}" if vcs else record.get("url", "")
        return TypeAdapter(ProgramUrl).validate_python(url)
    except (metadata.PackageNotFoundError, ValueError, LookupError, TypeError, AttributeError):
        return ""
