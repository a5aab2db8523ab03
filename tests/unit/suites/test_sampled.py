# SPDX-License-Identifier: GPL-2.0-or-later
from helpers import lab_logs
from helpers.windows import select
from rtbisect.suites import ipi, sampled


def test_the_figures_are_those_of_the_suite_ipi_under_another_name():
    off, on = select(["sampled-off", "sampled-on"])
    assert (off.instrument, on.workload, on.synthetic) == ("", "none", True)
    files = {
        "before.txt": lab_logs.interrupts({}),
        "after.txt": lab_logs.interrupts({"RES": 250, "IWI": 500, "LOC": 2, "CAL": 1}),
        "window.txt": lab_logs.window_txt(dose=lab_logs.dose(6000)),
    }
    found = {m.name: m for m in sampled.SUITE.parse(files, on, (2, 3, 4)) if m.cpu is None}
    assert {m.suite for m in found.values()} == {"sampled"}
    assert found["res_per_iwi"].value == 0.5
    assert found["events_per_s"].value == 2400.0
    # Without the tool there is nothing to relate to.
    assert "res_per_iwi" not in {m.name for m in sampled.SUITE.parse(files, off, (2, 3, 4))}
    assert sampled.SUITE.counted_by == ipi.COUNTED_BY
