# SPDX-License-Identifier: GPL-2.0-or-later
"""The search: a Bayesian, cost-aware walk on the commit graph. Pure: events in, proposals out."""
