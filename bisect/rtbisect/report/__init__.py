# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails, campaign logs and plots: what a person reads of a campaign."""
