# SPDX-License-Identifier: GPL-2.0-or-later
"""The ground of all that touches the world: commands, locks, process groups, folders, secrets, HTTP
bodies.

An argv, a path or an answer comes in; bytes within a bound go out, or an error that says who acts.
"""
