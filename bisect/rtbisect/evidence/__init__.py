# SPDX-License-Identifier: GPL-2.0-or-later
"""What others judge again: the measurements of a campaign, and kernels that they boot themselves.

A finished campaign comes in and a folder goes out; or a folder comes in and an answer goes out.
"""
