# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds kernels: foreign code in a sandbox, a verified configuration, a signature.

A checkout and a request come in; a kernel and its modules go out, or its first error.
"""
