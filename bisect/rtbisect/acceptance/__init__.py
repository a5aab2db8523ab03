# SPDX-License-Identifier: GPL-2.0-or-later
"""Is this machine fit to measure? A lab and its hosts, tried before campaigns use them.

A site and a host come in; claims with what was seen go out.
"""
