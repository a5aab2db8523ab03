# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipe of a mail on real kernels: from its first line to the figures of both in QEMU, by
somebody who has nothing but the lines.
"""

import json
from dataclasses import replace

from helpers import wheels
from helpers.outsider import Outsider
from helpers.published import printed, publish, served
from helpers.report_cases import rcu
from helpers.report_parts import judged, vs_parent
from helpers.results import culprit_result
from rtbisect.campaign.plan import setup_of
from rtbisect.config.site_file import load_site
from rtbisect.model.campaign import CampaignRequest, MetricKey, Sample
from rtbisect.report.reproduce import Published, lines_of, recipe

GRACE = MetricKey("rcu", "p50_us", "rcu-off")


def test_an_outsider_builds_and_boots_both_kernels(
    road, history, site, kernel, newer, tmp_path, monkeypatch
):
    repo, refs, _truth = history
    wheel, needed = wheels.packages(tmp_path)
    outsider = Outsider(tmp_path / "outside", ("lab.example.org", "git.example.org"))
    (outsider.site("lab.example.org") / wheel.name).write_bytes(wheel.read_bytes())
    served(repo, refs.bad_ref, outsider.site("git.example.org") / "linux.git")
    loaded = load_site(site)
    request = CampaignRequest(
        kind="bisect", site=str(site), tree="demo", older=refs.good, newer=refs.bad
    )
    setup = setup_of(loaded, loaded.target("demo"), request)
    limit = next(each for each in setup.judged if each.key == GRACE)
    found = judged(limit, Sample((6000.0,) * 8), Sample((9000.0,) * 8))
    checks = (vs_parent(refs.good[:12], "pass", found),)
    result = culprit_result(refs.bad, metric=GRACE, judgement=found, verifications=checks)
    report = replace(
        rcu(),
        campaign="demo-1",
        repo="https://git.example.org/linux.git",
        device=setup.kernel.device,
    )
    folder = outsider.site("lab.example.org") / "evidence" / report.campaign
    publish(monkeypatch, road, setup, result, (kernel, newer), folder)
    published = Published(
        program=f"https://lab.example.org/{wheel.name}",
        evidence=f"https://lab.example.org/evidence/{report.campaign}/",
    )
    lines = printed(lines_of(recipe(report, published)))
    empty = tmp_path / "empty"
    empty.mkdir()
    done = outsider.run(lines, empty, needed, timeout_s=3000)
    place = empty / report.campaign
    for _try in range(2):
        # A dose that a busy host does not reach is a property of the host.
        told = outsider.run(["venv/bin/rtbisect figures . booted/*.log --json"], place, needed)
        answer = json.loads(told.stdout) if told.returncode == 0 else {"figures": []}
        key = (GRACE.suite, GRACE.name, GRACE.window)
        rows = [
            row for row in answer["figures"] if (row["suite"], row["name"], row["window"]) == key
        ]
        if {row["kernel"] for row in rows} == {refs.good[:12], refs.bad[:12]}:
            break
        done = outsider.run([lines[-1]], place, needed, timeout_s=600)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    assert {row["kernel"] for row in rows} == {refs.good[:12], refs.bad[:12]}
    assert {row["unit"] for row in rows} == {answer["unit"]} == {"us"}
    # What has booted was built from the source, and not what came with the data.
    for sha in (refs.good, refs.bad):
        built = place / "built" / sha[:12]
        assert (built / "bzImage").stat().st_size > 100_000
        release = (built / "include/config/kernel.release").read_text().strip()
        assert release.endswith(f"-{sha[:12]}")
