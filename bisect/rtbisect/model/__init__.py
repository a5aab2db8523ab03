# SPDX-License-Identifier: GPL-2.0-or-later
"""Values that the stages hand to each other: frozen, plain, without behaviour that does I/O."""
