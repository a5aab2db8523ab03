# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots through LAVA: on this machine by lava-run, or on a server of anybody by its REST API.

A request for a boot comes in; its log and what runs beside it go out, or whose fault it is.
"""
