# SPDX-License-Identifier: GPL-2.0-or-later
"""What the builder needs to know of the machine that it builds on."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from rtbisect.kernel.bounds import Bounds
from rtbisect.model.code import RELINKED, WITHOUT_RT, layout_variant

#: Part of every cache key: raise it when a change of ours changes what is built.
BUILDER_VERSION = "7"

#: User id (nobody) that foreign code has in the sandbox where rtbisect is not root.
BUILD_UID = 65534

#: Numeric users that it runs as where rtbisect is root: Debian and systemd give these to nobody.
_UIDS = range(70_000, 80_000)


def uid_of(root: Path) -> int:
    """The numeric user of foreign code in the folder `root`, where rtbisect is root: nobody else's
    processes count as its own, and no other state directory's code is that user.
    """
    return _UIDS[zlib.crc32(os.fsencode(root.resolve())) % len(_UIDS)]


#: Everything that would otherwise differ between two builds of the same source.
REPRODUCIBLE = {
    "KBUILD_BUILD_TIMESTAMP": "Sun Sep  9 01:46:40 UTC 2001",
    "KBUILD_BUILD_USER": "rtbisect",
    "KBUILD_BUILD_HOST": "rtbisect",
    "KBUILD_BUILD_VERSION": "1",
    "SOURCE_DATE_EPOCH": "1000000000",
}

#: Wins over every fragment: the revision must not enter the image, neither through the
#: release string nor through a configuration that the image carries inside.
OWN_FRAGMENT = """\
CONFIG_LOCALVERSION=""
CONFIG_LOCALVERSION_AUTO=n
CONFIG_IKCONFIG=n
"""

#: What a variant adds to the configuration. Full preemption is what is nearest to PREEMPT_RT.
_WITHOUT_RT = "CONFIG_PREEMPT_RT=n\nCONFIG_PREEMPT=y\n"
VARIANT_FRAGMENTS = {
    layout_variant(WITHOUT_RT): _WITHOUT_RT,
    RELINKED: "",
    f"{RELINKED}+{layout_variant(WITHOUT_RT)}": _WITHOUT_RT,
}

#: O= directories of a configuration whose kernels are linked anew: each keeps the objects of one
#: revision. Both ends of a range, and a commit beside its parent.
SLOTS = 4

#: Alignment of functions, in bytes, of the variants with another code layout: those of a search,
#: then those of the proof. x86 kernels are built with 16; CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B is
#: the same as the first. 64:17:16 aligns to 64 what is less than 17 bytes away from it, and the
#: rest to 16.
_SIZES = (
    *("64", "128", "256", "64:17:16", "64:49:16", "128:65:16", "128:97:16"),
    *("32", "64:33:16", "128:33:16", "256:65:16", "128:81:16", "256:129:16"),
    *("128:49:16", "256:193:16", "128:17:16", "256:97:16", "128:113:16", "256:33:16"),
)
ALIGNMENTS = {layout_variant(i): size for i, size in enumerate(_SIZES, start=1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSettings:
    """How this machine builds."""

    #: Holds O= directories, ccache and the records of finished builds.
    root: Path
    #: A measuring window holds it: no build runs meanwhile.
    machine_lock: Path
    #: Enters the signature: the same image with another command line is another kernel.
    boot_line: str = ""
    #: Seconds that one build may take.
    timeout_s: float = 3600.0
    #: Seconds to wait for the machine, and for the O= directory.
    lock_wait_s: float = 1800.0
    #: Parallel jobs of make; 0: one for each CPU.
    jobs: int = 0
    compiler: str = "gcc"
    #: Bounds of each command of a build.
    bounds: Bounds = field(default_factory=Bounds.of_machine)

    @property
    def make_jobs(self) -> int:
        return self.jobs or os.cpu_count() or 1
