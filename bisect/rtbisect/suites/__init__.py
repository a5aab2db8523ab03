# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites: what a boot measures. Each suite is one module with a `parse`, found by name.

A new suite is a file here, a folder in `lava-jobs/suites/` and a file in `thresholds/`;
no list of imports is kept anywhere.
"""
