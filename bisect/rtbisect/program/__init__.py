# SPDX-License-Identifier: GPL-2.0-or-later
"""Any command as what is measured: `rtbisect run`.

A revision and a command come in; a run with its figures goes out.
"""
