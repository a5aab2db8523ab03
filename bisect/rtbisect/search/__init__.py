# SPDX-License-Identifier: GPL-2.0-or-later
"""The search: a Bayesian, cost-aware walk on the commit graph. Pure.

Events come in, what was built and booted; the next trials go out, or an answer.
"""
