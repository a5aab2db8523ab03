# SPDX-License-Identifier: GPL-2.0-or-later
"""Wheels without a package index: of this checkout, and of what is installed beside it."""

import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]

#: What a build of the wheel reads.
SOURCES = ("bisect", "lava-jobs", "thresholds", "reports", "playbooks", "pyproject.toml",
           "README.md", "LICENSE")  # fmt: skip
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def sources(place):
    """What of this checkout a build of the wheel reads, in the new folder `place`."""
    for name in SOURCES:
        if (ROOT / name).is_dir():
            left_out = shutil.ignore_patterns("*.egg-info", "__pycache__")
            shutil.copytree(ROOT / name, place / name, symlinks=True, ignore=left_out)
        else:
            shutil.copy(ROOT / name, place / name)


def of_checkout(place):
    """The wheel of this checkout, made in the folder `place`."""
    source = place / "source"
    sources(source)
    build = ("wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", place, "./source")
    subprocess.run([*PIP, *build], cwd=place, check=True)
    shutil.rmtree(source)
    (wheel,) = place.glob("*.whl")
    return wheel


def needed_by(name):
    """Names of the distributions that one stands on, with none of its extras."""
    found, left = set(), [(name, frozenset({""}))]
    while left:
        current, extras = left.pop()
        for text in metadata.requires(current) or ():
            needed = Requirement(text)
            marker = needed.marker
            wanted = marker is None or any(marker.evaluate({"extra": each}) for each in extras)
            if wanted and (needed.name, frozenset(needed.extras)) not in found:
                found.add((needed.name, frozenset(needed.extras)))
                left.append((needed.name, frozenset({"", *needed.extras})))
    return {canonicalize_name(each) for each, _extras in found}


def repacked(name, place):
    """The wheel that an installed distribution came from, but for its scripts."""
    installed = metadata.distribution(name)
    tags = [
        line.removeprefix("Tag: ")
        for line in installed.read_text("WHEEL").splitlines()
        if line.startswith("Tag: ")
    ]
    title = installed.metadata["Name"].replace("-", "_")
    wheel = place / f"{title}-{installed.version}-{tags[0]}.whl"
    names = []
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in installed.files or ():
            if ".." in file.parts or file.suffix == ".pyc":
                continue
            if file.name == "RECORD":
                record = str(file)
            elif file.name not in ("INSTALLER", "REQUESTED", "direct_url.json"):
                archive.write(file.locate(), str(file))
                names.append(str(file))
        archive.writestr(record, "".join(f"{each},,\n" for each in [*names, record]))
    return wheel


def packages(place):
    """The wheel of this checkout, and a folder with those that it needs."""
    needed = place / "needed"
    needed.mkdir()
    for name in needed_by("rtbisect"):
        repacked(name, needed)
    return of_checkout(place), needed
