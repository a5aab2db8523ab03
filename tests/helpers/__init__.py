# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests of several rooms share."""
