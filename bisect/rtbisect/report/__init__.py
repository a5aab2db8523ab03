# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails, campaign logs, tables and pages: what a person reads of a campaign.

The input of a report comes in; texts and files go out, and who may be mailed, in values.
"""
