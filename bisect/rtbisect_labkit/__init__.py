# SPDX-License-Identifier: GPL-2.0-or-later
"""What only a demo or a lab on one machine needs: kernel histories with a known answer, virtual
hosts behind BMCs that ipmi_sim simulates, a LAVA server of our own. It plugs into rtbisect by
entry points.
"""
