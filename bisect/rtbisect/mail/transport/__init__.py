# SPDX-License-Identifier: GPL-2.0-or-later
"""How mails leave and come in: SMTP, sendmail, files; IMAP, Maildir, archives.

Bytes and an envelope come in; how the delivery ended goes out, and bytes of mails that arrived.
"""
