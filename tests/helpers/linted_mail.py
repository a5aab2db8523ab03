# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail in which nothing is wrong, and what is found in changed ones."""

from rtbisect.report.lint.rules import lint

HEADERS = """\
From: rtbisect <rtbisect@lab.example.org>
To: An Author <author@kernel.example.org>
Cc: regressions@lists.linux.dev
Subject: [REGRESSION] epoll: Take another lock: ipi.res_per_s 8.55 -> 59.8/s
Date: Sat, 31 Jan 2026 10:20:30 +0000
Message-ID: <epoll-1@lab.example.org>
In-Reply-To: <patch-1@kernel.example.org>
References: <cover@kernel.example.org> <patch-1@kernel.example.org>
X-rtbisect-Outcome: culprit; cause=kernel
X-rtbisect-Reviewed-By: A Person <person@lab.example.org>
Content-Type: text/plain; charset="us-ascii"
Content-Transfer-Encoding: 7bit
"""


BODY = """\
Since 0123456789ab ("epoll: Take another lock") the rate of reschedule
IPIs rises from 8.55/s to 59.8/s on isolated CPUs.

#regzbot introduced: 0123456789ab
#regzbot title: epoll: IPIs on isolated CPUs

Found in v6.12..v6.13-rc1, 8 boots each, still bad on the tip.

  kernel   RES/s [min..max]
  -------  ----------------
  parent   8.55 [3.30..13.1]
  culprit  59.8 [40.7..82.6]

Without the workload nothing changes. A revert was tested.
SMT is on. The machine is a Xeon, boot line
nohz_full=2-7; gcc 12, config rt. Data:
https://lab.example.org/epoll-1/ with SHA256SUMS.

  Reported-by: rtbisect <rtbisect@lab.example.org>
  Closes: https://lists.example.org/r/epoll-1@lab.example.org
  Fixes: 0123456789ab ("epoll: Take another lock")
"""


def mail(headers=HEADERS, body=BODY):
    return f"{headers}\n{body}".encode()


def rules(data):
    return [finding.rule for finding in lint(data)]
