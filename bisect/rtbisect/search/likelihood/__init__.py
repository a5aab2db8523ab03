# SPDX-License-Identifier: GPL-2.0-or-later
"""What boots say under each hypothesis about their noise. Pure.

Figures of boots come in; log likelihoods on grids over what is unknown go out.
"""
