# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites: what a boot measures. Each suite is one module, found by name, with a `SUITE` that says
whatever the program knows of it. Pure.

Files that a window left on the device come in; figures go out.

A new suite is a file here, a folder in `lava-jobs/suites/` and a file in `thresholds/`;
no list of imports is kept anywhere.
"""
