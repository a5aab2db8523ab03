# SPDX-License-Identifier: GPL-2.0-or-later
"""Gates: what has to hold before a culprit is named to anybody (docs/trust.md).

Boots, windows and facts of machines come in; gates that pass, fail or could see nothing go out.
"""
