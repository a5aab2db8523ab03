# SPDX-License-Identifier: GPL-2.0-or-later
import pytest

from rtbisect.kernel.config_check import config_key, dropped, inputs, parse, wanted_options

CONFIG = """\
# Automatically generated file; DO NOT EDIT.
CONFIG_SMP=y
CONFIG_NR_CPUS=16
CONFIG_RCU_SCALE_TEST=m
CONFIG_LOCALVERSION=""
# CONFIG_VT is not set
"""


def test_parse_reads_values_and_unset_options():
    assert parse(CONFIG) == {
        "CONFIG_SMP": "y",
        "CONFIG_NR_CPUS": "16",
        "CONFIG_RCU_SCALE_TEST": "m",
        "CONFIG_LOCALVERSION": '""',
        "CONFIG_VT": "n",
    }


def test_last_line_and_later_fragment_win():
    assert parse("CONFIG_A=y\nCONFIG_A=m\n")["CONFIG_A"] == "m"
    first, second = "CONFIG_A=y\nCONFIG_B=y\n", "# CONFIG_A is not set\n"
    assert wanted_options((first, second)) == {"CONFIG_A": "n", "CONFIG_B": "y"}


@pytest.mark.parametrize(
    "fragment",
    [
        "CONFIG_SMP=y",
        "  CONFIG_NR_CPUS=16  \r\n",
        "CONFIG_RCU_SCALE_TEST=m",
        'CONFIG_LOCALVERSION=""',
        "CONFIG_VT=n",
        "# CONFIG_VT is not set",
        "CONFIG_NEVER_HEARD_OF=n",
        "# CONFIG_NEVER_HEARD_OF is not set",
        'CONFIG_EMPTY_AND_ABSENT=""',
        "# CONFIG_SMP=n would be slower",
        "",
    ],
)
def test_nothing_is_dropped(fragment):
    assert dropped((fragment,), CONFIG) == ()


@pytest.mark.parametrize(
    ("fragment", "told"),
    [
        ("CONFIG_PREEMPT_RT=y", "CONFIG_PREEMPT_RT: asked y, found n"),
        ("CONFIG_SMP=n", "CONFIG_SMP: asked n, found y"),
        ("# CONFIG_SMP is not set", "CONFIG_SMP: asked n, found y"),
        ("CONFIG_NR_CPUS=8", "CONFIG_NR_CPUS: asked 8, found 16"),
        ("CONFIG_RCU_SCALE_TEST=y", "CONFIG_RCU_SCALE_TEST: asked y, found m"),
        ('CONFIG_LOCALVERSION="-rt"', 'CONFIG_LOCALVERSION: asked "-rt", found ""'),
        ("CONFIG_VT=y", "CONFIG_VT: asked y, found n"),
    ],
)
def test_each_dropped_option_tells_both_values(fragment, told):
    assert dropped((fragment,), CONFIG) == (told,)


def test_overridden_options_are_not_missed():
    assert dropped(("CONFIG_NR_CPUS=8", "CONFIG_NR_CPUS=16"), CONFIG) == ()
    assert len(dropped(("CONFIG_NR_CPUS=16", "CONFIG_NR_CPUS=8"), CONFIG)) == 1


def listing(*paths: str, blob: str = "a" * 40) -> str:
    return "".join(f"100644 blob {blob}\t{path}\0" for path in paths)


def test_inputs_are_what_kconfig_reads():
    relevant = (
        "Kconfig",
        "fs/Kconfig.binfmt",
        "scripts/kconfig/conf.c",
        "scripts/gcc-version.sh",
        "Makefile",
        "arch/x86/Makefile",
        "kernel/configs/tiny.config",
    )
    others = ("fs/eventpoll.c", "fs/Makefile", "Documentation/kbuild/kconfig.rst", "MyKconfigs.c")
    found = [line.partition("\t")[2] for line in inputs(listing(*relevant, *others))]
    assert found == list(relevant)


def test_key_changes_with_every_part():
    tree = listing("Kconfig", "fs/eventpoll.c")
    key = config_key("tinyconfig", ("CONFIG_A=y",), "gcc 12", tree)
    same = config_key("tinyconfig", ("CONFIG_A=y",), "gcc 12", listing("Kconfig", "fs/other.c"))
    others = {
        config_key("defconfig", ("CONFIG_A=y",), "gcc 12", tree),
        config_key("tinyconfig", ("CONFIG_A=m",), "gcc 12", tree),
        config_key("tinyconfig", ("CONFIG_A", "=y"), "gcc 12", tree),
        config_key("tinyconfig", ("CONFIG_A=y",), "gcc 13", tree),
        config_key("tinyconfig", ("CONFIG_A=y",), "gcc 12", listing("Kconfig", blob="b" * 40)),
    }
    assert same == key
    assert len(others) == 5
    assert key not in others
