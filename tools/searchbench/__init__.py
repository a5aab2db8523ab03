# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of tools/bench_search.py."""
