# SPDX-License-Identifier: GPL-2.0-or-later
"""What other packages add to the program, by entry points (packaging.python.org, "Entry points").

| group | name | what it is |
|---|---|---|
| `rtbisect.commands` | the command, as `demo`; `lab.host` for one of a group | a click command |
| `rtbisect.campaigns` | a kind of campaign | `conclude(output, record)`, an exit code |
| `rtbisect.needs` | any | `check()`, which raises what a demo lacks, for `rtbisect doctor` |
| `rtbisect.labs` | any | `bmc_of(state, device)`: the BMC of a device that it made, or None |
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from rtbisect.errors import ConfigError
from rtbisect.process import extras

COMMANDS = "rtbisect.commands"
CAMPAIGNS = "rtbisect.campaigns"
NEEDS = "rtbisect.needs"
LABS = "rtbisect.labs"


def plugins(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, by name; two installations of one package count once."""
    by_name = {entry.name: entry for entry in reversed(tuple(entry_points(group=group)))}
    return tuple(by_name[name] for name in sorted(by_name))


def load(entry: EntryPoint) -> Any:
    """What an entry point names; ConfigError, in one line, where it cannot be loaded."""
    try:
        return entry.load()
    except Exception as error:  # whatever somebody else's module does while it is imported
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        extra = extras.bringing(missing)
        why = str(error).partition("\n")[0] or type(error).__name__
        raise ConfigError(
            f"{entry.name.replace('.', ' ')}: {entry.module} cannot be loaded ({why})",
            extra.hint if extra else "install the package that brings it again",
        ) from error
