# SPDX-License-Identifier: GPL-2.0-or-later
"""Alembic runs this file: the migrations go through the connection, and the transaction, of
`schema.lift`.
"""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
