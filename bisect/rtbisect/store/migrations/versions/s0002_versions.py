# SPDX-License-Identifier: GPL-2.0-or-later
"""From here on Alembic keeps the version, and fingerprints have a version of their own."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    # Programs of the first schema look here alone. They would take new fingerprints for a site
    # file that was changed; so they shall say that the store is too new.
    op.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema_version', '2')")
