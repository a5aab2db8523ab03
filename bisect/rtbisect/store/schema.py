# SPDX-License-Identifier: GPL-2.0-or-later
"""The version of a database's schema: looked at when it is opened, lifted where it is older.

A database is lifted in one transaction of SQLite: after a kill it is as it was, or as it should be.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rtbisect.errors import BusyError, ConfigError
from rtbisect.process import locks

if TYPE_CHECKING:
    import sqlalchemy as sa

#: The newest file of `migrations/versions/`.
HEAD = "0007"

#: Whoever runs a campaign of a store holds this file of its folder, whoever sends mails the other.
LOCK = "campaign.lock"
OUTBOX_LOCK = "outbox.lock"
_WRITERS = {LOCK: "a campaign runs", OUTBOX_LOCK: "mails are sent"}

#: What the first schema said of itself, before Alembic kept its version.
FIRST = "1"

MIGRATIONS = Path(__file__).parent / "migrations"

#: Hint that errors give for a database that is too new.
OTHER_VERSION = "use the version of rtbisect that made it, or another --state"


def is_current(connection: sa.Connection) -> bool:
    """Whether a database has the schema of this program already."""
    return _version(connection) == HEAD


def lift(connection: sa.Connection, path: Path) -> None:
    """Bring the database at `path` to the schema of this program, within the transaction of
    `connection`. ConfigError where a newer program made it, BusyError where an older one uses it.
    """
    version = _version(connection)
    if version == HEAD:
        return
    for lock, what in _WRITERS.items():
        # An older program would write on as if the schema were still the old one.
        if version and locks.is_held(path.parent / lock):
            raise BusyError(
                f"{what} in {path.parent}, by a program of before schema {HEAD}",
                "try again when that has ended; until then use the program that does it",
            )
    # Only here: its import takes longer than most commands.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script.base import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    steps = ScriptDirectory.from_config(config).walk_revisions()
    if version not in {"", FIRST, *(step.revision for step in steps)}:
        raise ConfigError(
            f"{path} has schema version {version}, this program knows up to {HEAD}", OTHER_VERSION
        )
    command.upgrade(config, HEAD)


def _version(connection: sa.Connection) -> str:
    """The version of a database, "" for a new one."""
    named = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
    tables = set(named.scalars())
    if "alembic_version" in tables:
        query = "SELECT version_num FROM alembic_version"
    elif "meta" in tables:
        query = "SELECT value FROM meta WHERE key = 'schema_version'"
    else:
        return ""
    return str(connection.exec_driver_sql(query).scalar() or "")
