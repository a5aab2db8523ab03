# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds kernels: foreign code in a sandbox, a verified configuration, a signature."""
