# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of the field for a regression mail.

Bytes of any mail come in, ours or a person's; faults go out. No rule knows how we word ours.
"""
