# SPDX-License-Identifier: GPL-2.0-or-later
"""What a campaign does, as straight lines over its journal: compare, search, prove.

A set-up and ports come in, never an adapter; a result and the input of its report go out.
"""
