# SPDX-License-Identifier: GPL-2.0-or-later
"""Mails from a draft to people and back: proposed, approved, sent, answered, withdrawn.

A draft or a mail of somebody comes in; a mail that a named person approved goes out, once.
"""
