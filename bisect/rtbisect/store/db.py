# SPDX-License-Identifier: GPL-2.0-or-later
"""The database: SQLAlchemy Core on SQLite, one writer, every write one durable transaction."""

from __future__ import annotations

import errno
import json
import os
import stat
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, OperationalError

from rtbisect.errors import BusyError, ConfigError, InfrastructureError, RtbisectError
from rtbisect.model.finding import Finding
from rtbisect.process.command import is_text, printable
from rtbisect.store import codec, schema

BUSY_TIMEOUT_MS = 10_000

#: Hints that errors give: what to do next.
ANOTHER = "give a directory that can be written to with --state"
FREE = "free disk space or mend the file system, then run `rtbisect resume`"

#: What has drafts or mails in it, also where the directory itself cannot be closed.
_FOLDERS = ("reports", "outbox", "replies")

#: A file of SQLite and what it makes beside it, with the rights of the first.
_BESIDE = ("", "-wal", "-shm", "-journal")

#: Rights of anybody else.
_OTHERS = 0o077

metadata = sa.MetaData()


def text_column(name: str, **more: Any) -> sa.Column[str]:
    """A column of text that is always there."""
    return sa.Column(name, sa.Text, nullable=False, **more)


# Read by programs of the first schema alone, see migrations/versions/s0002_versions.py.
sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    text_column("value"),
)


def _indexed_text(name: str) -> sa.Column[str]:
    return text_column(name, server_default="", index=True)


# `request`, `result` and `report` are the documents. What is asked of all campaigns stands beside
# them in columns, so that no question reads and decodes ten thousand documents.
campaign = sa.Table(
    "campaign",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    text_column("kind"),
    text_column("request"),
    text_column("state", index=True),
    text_column("created"),
    sa.Column("result", sa.Text),
    sa.Column("report", sa.Text),
    text_column("note", server_default=""),
    # A digest of the request: see `campaigns.py`.
    _indexed_text("request_digest"),
    # The commit that the answer names.
    _indexed_text("culprit"),
    # Where its report stands, and the Message-ID of that without its brackets.
    _indexed_text("report_state"),
    _indexed_text("message_id"),
    # The title of the commit that an approved report is on, and what that is a backport of.
    _indexed_text("subject"),
    _indexed_text("upstream"),
    # When the last step of a campaign that is done has ended, and what it has cost.
    sa.Column("ended_s", sa.Float, index=True),
    sa.Column("summary", sa.Text),
)
step = sa.Table(
    "step",
    metadata,
    sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("seq", sa.Integer, nullable=False),
    text_column("kind"),
    text_column("state"),
    text_column("external_id", server_default=""),
    sa.Column("value", sa.Text),
    sa.Column("started_s", sa.Float, nullable=False),
    sa.Column("finished_s", sa.Float),
)

story = sa.Table(
    "story",
    metadata,
    sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True),
    text_column("line"),
)

session = sa.Table(
    "session",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), nullable=False, index=True),
    sa.Column("started_s", sa.Float, nullable=False),
    sa.Column("last_s", sa.Float, nullable=False),
    # CPU seconds of rtbisect itself, without its children: what the program costs.
    sa.Column("own_cpu_s", sa.Float, nullable=False, server_default="0"),
)

seen = sa.Table(
    "seen",
    metadata,
    sa.Column("build_config", sa.Text, primary_key=True),
    sa.Column("sha", sa.Text, primary_key=True),
    text_column("at"),
    text_column("level", server_default=""),
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


#: An option of connections that only read: they take no lock, and see one state of the store.
_READS = "rtbisect_reads"


def _begin(connection: sa.Connection) -> None:
    reads = connection.get_execution_options().get(_READS)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


class Database:
    """The store's database file, opened and brought to the current schema."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        with _refusals(path):
            _close_database(path)
        self.path = path
        # One connection is kept: a new one is four PRAGMAs. Boots of several devices note what they
        # do from threads, one after the other on it, or on another one meanwhile.
        self.engine = sa.create_engine(
            f"sqlite:///{path}",
            poolclass=sa.pool.QueuePool,
            pool_size=1,
            max_overflow=-1,
            connect_args={"check_same_thread": False},
        )
        weakref.finalize(self, self.engine.dispose)
        sa.event.listen(self.engine, "connect", _prepare)
        sa.event.listen(self.engine, "begin", _begin)
        self._reader = self.engine.execution_options(**{_READS: True})
        with self.read() as connection:
            current = schema.is_current(connection)
        if not current:
            with self.write() as connection:
                schema.lift(connection, path)

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """One durable transaction; database errors become ours."""
        with self._transaction(self.engine) as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """One look, which waits for nobody who writes; database errors become ours."""
        with self._transaction(self._reader) as connection:
            yield connection

    def execute(self, query: sa.UpdateBase) -> int:
        """One statement in a transaction of its own; gives how many rows it has changed."""
        with self.write() as connection:
            return connection.execute(query).rowcount

    def values(self, query: sa.Select[Any]) -> list[Any]:
        """The first column of what a query finds."""
        with self.read() as connection:
            return list(connection.execute(query).scalars())

    def fetch(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        """The rows that a query finds."""
        with self.read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def rows(self, table: sa.Table, condition: sa.ColumnElement[bool]) -> list[dict[str, Any]]:
        """The rows of a table for which that holds, in the order in which they were put there."""
        return self.fetch(sa.select(table).where(condition).order_by(sa.text("rowid")))

    @contextmanager
    def _transaction(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        try:
            with engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise _error_by_owner(self.path, error) from error


def insert_new(table: sa.Table, row: object) -> sa.Insert:
    """Puts the fields of an object with slots into a row of their names, tuples as JSON; nothing
    where one with its key is there.
    """
    fields = {name: getattr(row, name) for name in row.__slots__}  # type: ignore[attr-defined]
    return sa.insert(table).prefix_with("OR IGNORE").values(column_values(fields))


def column_values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as columns hold them; "" stands for a finding that is not there."""
    return {name: _column_value(value) for name, value in fields.items()}


def _column_value(value: Any) -> Any:
    if isinstance(value, tuple):
        plain = (
            codec.to_plain(Finding, each) if isinstance(each, Finding) else each for each in value
        )
        return json.dumps(list(plain))
    if isinstance(value, Finding):
        return codec.to_json(Finding, value)
    return "" if value is None else value


def finding_of(column: str, what: str) -> Finding | None:
    """The finding that a column holds; `what` names it in the InternalError."""
    return codec.from_stored(Finding, column, what) if column else None


def make_folder(state: Path) -> None:
    """Make the state directory, for its owner alone; the error says whether the place or the disk
    is at fault.
    """
    if not is_text(str(state)):
        raise ConfigError(f"{printable(str(state))}: its name is no UTF-8", ANOTHER)
    with _refusals(state):
        state.mkdir(0o700, parents=True, exist_ok=True)
        _close_folder(state)
    if not os.access(state, os.W_OK | os.X_OK):
        raise ConfigError(f"{state}: not writable", ANOTHER)


def _close_folder(state: Path) -> None:
    """Take a state directory that others can enter from them, with the drafts that are in it: they
    have not been approved, there are mails of other people, and sources that may be secret.
    OSError where that is refused.
    """
    status = state.stat()
    if status.st_uid != os.geteuid() or not status.st_mode & _OTHERS:
        return
    for path in _drafts(state):
        _close(path)
    # Last: a kill before this does it all again. A folder with the sticky bit is everybody's.
    if not status.st_mode & stat.S_ISVTX:
        _close(state)


def _close_database(path: Path) -> None:
    """Make a database, if it is not there, and take it from others, whatever the umask is."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    for end in _BESIDE:
        # Beside another process: what is there at one moment may be gone at the next.
        with suppress(FileNotFoundError):
            _close(path.with_name(path.name + end))


def _drafts(state: Path) -> Iterator[Path]:
    for name in _FOLDERS:
        folder = state / name
        if folder.is_dir() and not folder.is_symlink():
            yield folder
            yield from folder.rglob("*")


def _close(path: Path) -> None:
    status = path.lstat()
    mode = stat.S_IMODE(status.st_mode)
    # Never through a link, and a file of somebody else stays as its owner wants it.
    if not stat.S_ISLNK(status.st_mode) and mode & _OTHERS and status.st_uid == os.geteuid():
        path.chmod(mode & ~_OTHERS)


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """What the file system refuses, by who has to act."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise InfrastructureError(f"{path}: {error.strerror}", FREE) from error
        raise ConfigError(f"{path}: {error.strerror}", ANOTHER) from error


def _error_by_owner(path: Path, error: DBAPIError) -> RtbisectError:
    """The database's error by who has to act."""
    text = str(error.orig)
    if "locked" in text or "busy" in text:
        return BusyError(f"{path} is locked by another process", "try again when it has ended")
    if "unable to open" in text or "readonly" in text:
        return ConfigError(f"{path}: {text}", ANOTHER)
    if "no such" in text or "has no column" in text:
        return ConfigError(f"{path}: {text}", schema.OTHER_VERSION)
    if isinstance(error, OperationalError):
        return InfrastructureError(f"{path}: {text}", FREE)
    return InfrastructureError(
        f"{path}: {text}",
        "the file is damaged: put a copy back, or move it away to begin anew",
        retryable=False,
    )
