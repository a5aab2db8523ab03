# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of one mail are told by their digest; of older replies it is not known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("reply", sa.Column("digest", sa.Text, nullable=False, server_default=""))
