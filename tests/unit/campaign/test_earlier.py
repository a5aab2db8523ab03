# SPDX-License-Identifier: GPL-2.0-or-later
"""What earlier campaigns measured of a figure is told where their boots can be compared."""

from dataclasses import replace

from helpers.report_epoll import epoll
from helpers.report_parts import LOUD, QUIET, RES_LIMIT, RES_OFF, RES_ON, judged, sha
from rtbisect.campaign.earlier import earlier_figures
from rtbisect.campaign.fingerprint import MACHINE
from rtbisect.model.campaign import CampaignRequest
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import JournalStep, add_steps

FOUND = judged(RES_LIMIT, QUIET, LOUD)


def ended(store, number, machine="{}", judgements=(FOUND,), *, done=True):
    """A campaign on a machine of this fingerprint that compared sha(number) with the next."""
    request = CampaignRequest(
        kind="check", site="site.yaml", tree="rt", older=sha(number), newer=sha(number + 1)
    )
    text = codec.to_json(CampaignRequest, request)
    name = store.create("check", text, f"2026-01-{number:02}T00:00:00+00:00")
    step = JournalStep(
        key=MACHINE, seq=0, kind="Machine", value=machine, started_s=0.0, finished_s=0.0
    )
    add_steps(store.database, name, [step])
    if done:
        result = replace(epoll().result, judgement=None, judgements=judgements)
        store.finish(name, result, None)
    return name


def told(store, name, key=RES_ON):
    return [
        (each.campaign, each.revision, each.sample) for each in earlier_figures(store, name, key)
    ]


def test_both_ends_of_earlier_campaigns_on_the_same_machine_are_told(tmp_path):
    store = CampaignStore(tmp_path)
    first, second = ended(store, 1), ended(store, 2)
    ended(store, 3, machine='{"other": 1}')
    ended(store, 4, done=False)
    last = ended(store, 5)
    ended(store, 6)
    assert told(store, last) == [
        (first, sha(1), QUIET),
        (first, sha(2), LOUD),
        (second, sha(2), QUIET),
        (second, sha(3), LOUD),
    ]
    assert [each.date[:10] for each in earlier_figures(store, last, RES_ON)][::2] == [
        "2026-01-01",
        "2026-01-02",
    ]


def test_another_figure_or_a_part_of_it_is_not_the_same(tmp_path):
    store = CampaignStore(tmp_path)
    ended(store, 1, judgements=(replace(FOUND, figure=FOUND.reason),))
    ended(store, 2, judgements=())
    last = ended(store, 3)
    assert told(store, last) == []
    assert told(store, last, RES_OFF) == []
    assert told(store, last, None) == []
