# SPDX-License-Identifier: GPL-2.0-or-later
"""What a plain install leaves out is what pyproject.toml says, and who needs it says so."""

import tomllib
from pathlib import Path

import pytest

from rtbisect.errors import ConfigError
from rtbisect.process import extras

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("extra", extras.ALL, ids=lambda extra: extra.name)
def test_an_extra_is_one_of_the_package(extra):
    assert extra.requirement in PROJECT["optional-dependencies"][extra.name]
    assert extra.requirement not in PROJECT["dependencies"]
    assert extra.installed
    assert extras.bringing(f"{extra.module}.inner") is extra


def test_a_missing_module_is_an_error_of_one_line_that_names_the_extra():
    with pytest.raises(ConfigError) as caught, extras.LAB.needed_by("this"):
        import no_such_module_at_all  # noqa: F401
    assert f"rtbisect[{extras.LAB.name}]" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("module", [None, "", "kernelcis", "yaml"])
def test_other_modules_belong_to_no_extra(module):
    assert extras.bringing(module) is None
