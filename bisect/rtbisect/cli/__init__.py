# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: the only place that prints or exits.

Words of a person come in; lines, or one JSON object, and an exit code go out.
"""
