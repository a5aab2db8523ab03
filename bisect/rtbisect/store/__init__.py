# SPDX-License-Identifier: GPL-2.0-or-later
"""What survives a kill: campaigns, their journal, mails and replies, artefacts.

Values and bytes come in; the same go out again, and answers on all campaigns.
"""
