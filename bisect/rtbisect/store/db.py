# SPDX-License-Identifier: GPL-2.0-or-later
"""The database: SQLAlchemy Core on SQLite, one writer, every write one durable transaction."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError

from rtbisect.errors import BusyError, ConfigError, InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA_VERSION = 1
BUSY_TIMEOUT_MS = 10_000

metadata = sa.MetaData()

meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

campaign = sa.Table(
    "campaign",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("created", sa.Text, nullable=False),
    sa.Column("result", sa.Text),
    sa.Column("report", sa.Text),
    sa.Column("note", sa.Text, nullable=False, server_default=""),
)

step = sa.Table(
    "step",
    metadata,
    sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("seq", sa.Integer, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("external_id", sa.Text, nullable=False, server_default=""),
    sa.Column("value", sa.Text),
    sa.Column("started_s", sa.Float, nullable=False),
    sa.Column("finished_s", sa.Float),
)

story = sa.Table(
    "story",
    metadata,
    sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("line", sa.Text, nullable=False),
)

session = sa.Table(
    "session",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), nullable=False),
    sa.Column("started_s", sa.Float, nullable=False),
    sa.Column("last_s", sa.Float, nullable=False),
)

seen = sa.Table(
    "seen",
    metadata,
    sa.Column("build_config", sa.Text, primary_key=True),
    sa.Column("sha", sa.Text, primary_key=True),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("level", sa.Text, nullable=False, server_default=""),
)


def _prepare(connection: Any, _record: object) -> None:
    # The driver's own transaction handling would begin deferred transactions, which can
    # fail half-way with "database is locked"; ours begin IMMEDIATE, see `write`.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_immediate(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


class Database:
    """The store's database file, opened and, when new, made with the current schema."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.engine = sa.create_engine(f"sqlite:///{path}", poolclass=sa.pool.NullPool)
        sa.event.listen(self.engine, "connect", _prepare)
        sa.event.listen(self.engine, "begin", _begin_immediate)
        with self.write() as connection:
            metadata.create_all(connection)
            version = connection.execute(
                sa.select(meta.c.value).where(meta.c.key == "schema_version")
            ).scalar()
            if version is None:
                connection.execute(
                    sa.insert(meta).values(key="schema_version", value=str(SCHEMA_VERSION))
                )
            elif int(version) != SCHEMA_VERSION:
                raise ConfigError(
                    f"{path} has schema version {version}, this program needs {SCHEMA_VERSION}",
                    "use the version of rtbisect that made it, or another --state",
                )

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """One durable transaction; database errors become ours."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except OperationalError as error:
            text = str(error.orig)
            if "locked" in text or "busy" in text:
                raise BusyError(f"{self.path} is locked by another process") from error
            raise InfrastructureError(
                f"{self.path}: {text}",
                "free disk space or mend the file system, then run `rtbisect resume`",
            ) from error
        except DBAPIError as error:
            raise InfrastructureError(
                f"{self.path}: {error.orig}", "the file may be damaged", retryable=False
            ) from error
