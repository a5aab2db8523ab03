# SPDX-License-Identifier: GPL-2.0-or-later
"""A campaign: what was asked becomes exact, its parts are assembled, its session runs.

A request comes in; a record with an answer goes out. The only room that knows all adapters.
"""
