# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the first schema. Stores of that time have those that their commands needed."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _table(name: str, *columns: sa.Column[Any]) -> None:
    op.create_table(name, *columns, if_not_exists=True)


def _text(name: str, default: str | None = None) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, nullable=False, server_default=default)


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, primary_key=True)


def _campaign_column(*, key: bool) -> sa.Column[Any]:
    reference = sa.ForeignKey("campaign.id")
    return sa.Column("campaign", sa.Text, reference, primary_key=key, nullable=False)


def upgrade() -> None:
    _table("meta", _key("key"), _text("value"))
    _table(
        "campaign",
        _key("id"),
        *map(_text, ("kind", "request", "state", "created")),
        sa.Column("result", sa.Text),
        sa.Column("report", sa.Text),
        _text("note", ""),
    )
    _table(
        "step",
        _campaign_column(key=True),
        _key("key"),
        sa.Column("seq", sa.Integer, nullable=False),
        _text("kind"),
        _text("state"),
        _text("external_id", ""),
        sa.Column("value", sa.Text),
        sa.Column("started_s", sa.Float, nullable=False),
        sa.Column("finished_s", sa.Float),
    )
    _table(
        "story",
        _campaign_column(key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        _text("line"),
    )
    _table(
        "session",
        sa.Column("id", sa.Integer, primary_key=True),
        _campaign_column(key=False),
        sa.Column("started_s", sa.Float, nullable=False),
        sa.Column("last_s", sa.Float, nullable=False),
        sa.Column("own_cpu_s", sa.Float, nullable=False, server_default="0"),
    )
    _table("seen", _key("build_config"), _key("sha"), _text("at"), _text("level", ""))
    _mail_tables()


def _mail_tables() -> None:
    _table(
        "outbox",
        _key("message_id"),
        *map(_text, ("campaign", "kind", "sender", "recipients", "text")),
        *map(_text, ("approved_by", "approved_at", "state")),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("next_s", sa.Float, nullable=False),
        *map(_text, ("answer", "refused")),
        _text("trying", ""),
    )
    _table(
        "reply",
        _key("key"),
        *map(_text, ("message_id", "campaign", "sender", "subject", "at", "asked", "state", "why")),
    )
    _table("read", _key("name"))
