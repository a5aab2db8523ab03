# SPDX-License-Identifier: GPL-2.0-or-later
"""The rules of the field for a regression mail.

Bytes of any mail come in; findings go out.
"""
