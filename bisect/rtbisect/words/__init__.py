# SPDX-License-Identifier: GPL-2.0-or-later
"""Sentences: the one place where what was found gets words.

A finding comes in with the voice in which it is told; a sentence goes out, and no other room makes
one, reads one or changes one. The tables have a sentence for each kind.
"""
