# SPDX-License-Identifier: GPL-2.0-or-later
"""What a boot tells of its machine: facts of the guest (lava-jobs/suites/health.sh), and what the
lab noted beside them. They are kept as pairs of texts, and read here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rtbisect.model.lab import Run

#: Names of what the lab notes: a digest of all raw files of the windows, and before the name of a
#: window the JSON of the finding why it explains nothing (of older programs its sentence).
RAW, UNEXPLAINED = "raw_sha256", "unexplained_"
#: Of a kernel that was linked anew for the boot: the seed of the order of its functions, what it
#: was linked by, and seconds of that.
LAYOUT_SEED, LINKER, LINK_S = "layout_seed", "linker", "link_s"
_COUNT = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of one boot."""

    by_name: Mapping[str, str]

    @classmethod
    def of(cls, run: Run) -> Facts:
        return cls(dict(run.facts))

    def text(self, name: str) -> str:
        """The value of a fact as it was told; "" where nobody tells."""
        return self.by_name.get(name, "")

    def around(self, counter: str) -> tuple[str, str]:
        """What a counter said before and after the windows; "" where nobody counts."""
        return self.text(f"{counter}_before"), self.text(f"{counter}_after")

    def counts(self, counter: str) -> tuple[int, int] | None:
        """The same as numbers; None unless both are."""
        before, after = self.around(counter)
        if not _COUNT.fullmatch(before) or not _COUNT.fullmatch(after):
            return None
        return int(before), int(after)

    @property
    def virtual(self) -> bool:
        """The CPU says that it is no real one."""
        return self.text("hypervisor") == "1"

    @property
    def vendor(self) -> str:
        """Who made the machine, as its firmware says."""
        return self.text("dmi_vendor")

    @property
    def clock_after(self) -> str:
        """The clock source behind the windows where it is another than before, else ""."""
        after = self.text("clocksource_after")
        return after if after != self.by_name.get("clocksource", "tsc") else ""

    @property
    def raw_sha256(self) -> str:
        """Of what the windows left; "" of a boot that hung."""
        return self.text(RAW)

    @property
    def linker(self) -> str:
        """What linked the kernel for this boot alone; "" where all boots have one."""
        return self.text(LINKER)

    @property
    def unexplained(self) -> frozenset[str]:
        """Windows that explain nothing, because they did not run to their end."""
        noted = (name for name in self.by_name if name.startswith(UNEXPLAINED))
        return frozenset(name.removeprefix(UNEXPLAINED) for name in noted)
