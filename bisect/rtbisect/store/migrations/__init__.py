# SPDX-License-Identifier: GPL-2.0-or-later
"""The schema of the database, a step a file in `versions/`; `schema.py` runs them.

A database of an older program comes in; one of this program goes out.
"""
