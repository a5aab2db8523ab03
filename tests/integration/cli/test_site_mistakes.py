# SPDX-License-Identifier: GPL-2.0-or-later
"""Mistakes in a site file, as the command line tells them."""

import pytest

from helpers.command_line import bisect, site_text


def test_no_site_file(cli):
    line = cli.refused(2, *bisect("a", "b"), "--site", str(cli.home / "gone\n.yaml"))
    assert "no site file" in line
    assert "--site" in line


def test_config_check_prints_what_it_found(cli):
    done = cli.run("config", "check", "--json")
    assert (done.code, done.err) == (0, "")
    assert [row["build_config"] for row in done.data["build_configs"]] == ["rt"]
    assert done.data["lab"] == "embedded"
    assert [row["effect"] for row in done.data["shows"]] == [1.0, 1.5, 2.0, 3.0]
    chances = [row["chance"] for row in done.data["shows"]]
    assert chances == sorted(chances)
    assert chances[0] < 0.8 < chances[-1]
    assert "max_boots: " in cli.run("config", "check").out


def wrong_lab(data):
    data["labs"]["embedded"]["url"] = "https://lava.example.org/"


def served(data, url, name="embedded"):
    data["labs"]["embedded"]["url"] = url
    data["rtbisect"]["labs"] = {name: {"serve": {"url": "http://build.example.org:8790"}}}


def plain_lab(data):
    served(data, "http://lava.example.org/")


def no_lab(data):
    served(data, "ftp://lava.example.org/")


def lab_of_nobody(data):
    served(data, "https://lava.example.org/", "nosuch")


def wrong_suite(data):
    data["test_plans"]["rt-latency"]["params"]["suites"][1] = "noise"


def wrong_reference(data):
    data["trees"]["other"] = {"url": "https://git.example.org/other.git"}
    data["build_configs"]["rt"]["tree"] = "other"


def wrong_branch(data):
    data["build_configs"]["rt"]["branch"] = "--upload-pack=x"


def wrong_template(data):
    data["device_types"]["qemu-smt"]["params"]["template"] = "nosuch"


def too_few_cpus(data):
    data["device_types"]["qemu-smt"]["params"]["cores"] = 2
    data["device_types"]["qemu-smt"]["params"]["threads"] = 1


@pytest.mark.parametrize(
    ("change", "needle", "said"),
    [
        (wrong_lab, "  lab: embedded", "rtbisect.labs does not say how it is used"),
        (plain_lab, "lava.example.org", "without TLS"),
        (no_lab, "ftp://lava", "is no LAVA server"),
        (lab_of_nobody, "  nosuch:", "unknown lab 'nosuch'"),
        (wrong_suite, "- noise", "unknown suite 'noise'"),
        (wrong_reference, "  rt:", "its reference of tree stable-rt"),
        (wrong_branch, "upload-pack", "branch"),
        (wrong_template, "nosuch", "unknown template"),
    ],
)
def test_a_mistake_in_the_site_is_named_by_file_and_line(cli, repo, change, needle, said):
    text = site_text(repo[0], change)
    cli.site.write_text(text)
    number = next(i for i, line in enumerate(text.splitlines(), 1) if needle in line)
    done = cli.run("config", "check", "--json")
    assert (done.code, done.data["exit_code"]) == (2, 2)
    assert done.data["error"].startswith(f"{cli.site}:{number}: ")
    assert said in done.data["error"]
    assert done.err.count("\n") == 1


def test_a_device_without_cpus_to_isolate_is_found_by_config_check(cli, repo):
    cli.site.write_text(site_text(repo[0], too_few_cpus))
    assert "CPUs to isolate" in cli.refused(2, "config", "check")


def test_a_tree_with_several_build_configs_must_be_named_by_one(cli, repo):
    def two(data):
        data["build_configs"]["rt2"] = {"tree": "stable-rt", "branch": "side"}

    cli.site.write_text(site_text(repo[0], two))
    line = cli.refused(2, "bisect", "stable-rt", "--good", "v1", "--bad", "main")
    assert "name one of rt, rt2" in line


def test_an_unknown_tree_names_the_known_ones(cli):
    line = cli.refused(2, "check", "nosuch")
    assert "unknown tree or build_config 'nosuch'" in line
    assert "has: rt" in line
