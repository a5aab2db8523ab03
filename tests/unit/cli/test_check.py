# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer of a comparison on a screen."""

from types import SimpleNamespace

from helpers.filled_store import result
from rtbisect.cli.check import text_of_check
from rtbisect.model.campaign import CampaignKind, CampaignRequest, MetricKey, Sample
from rtbisect.model.result import ENDS, TableRow

KEYS = {
    MetricKey("rcu", "p50_us", "rcu-off"): ("us", (6010.0, 6030.0, 6120.0), (6007.0, 9010.0)),
    MetricKey("osnoise", "max_single_us", "osnoise-off"): ("us", (12.0,), (1400.0,)),
    MetricKey("ours", "late", "off"): ("", (1.0,), (2.0,)),
    MetricKey("stall", "frozen_periods", "stall"): ("1", (0.0, 0.0, 1.0), (1.0, 1.0)),
}


def row(key, kernel, unit, values):
    return TableRow(
        kernel=kernel, window=key.window, workload="none", metric=key, unit=unit,
        sample=Sample(values), mean=False,
    )  # fmt: skip


def test_figures_have_their_names_and_the_units_that_read_best():
    table = tuple(
        row(key, kernel, unit, values)
        for key, (unit, *sides) in KEYS.items()
        for kernel, values in zip(ENDS, sides, strict=True)
    )
    request = CampaignRequest(
        kind=CampaignKind.CHECK, site="s", tree="t", older="a" * 40, newer="b" * 40
    )
    record = SimpleNamespace(
        id="check-1", kind=request.kind, request=request, result=result(table=table)
    )
    lines = [line.split("  ") for line in text_of_check(None, record).splitlines()[-4:]]
    assert [[cell.strip() for cell in line if cell] for line in lines] == [
        ["synchronize_rcu()", "rcu-off", "6.03 [6.01..6.12] ms", "7.51 [6.01..9.01] ms", "+25%"],
        ["longest noise", "osnoise-off", "12 [12..12] us", "1400 [1400..1400] us", "+11567%"],
        ["ours.late", "off", "1 [1..1]", "2 [2..2]", "+100%"],
        ["timer stops", "stall", "1 of 3 boots", "2 of 2 boots", "-"],
    ]
