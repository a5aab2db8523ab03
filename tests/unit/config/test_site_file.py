# SPDX-License-Identifier: GPL-2.0-or-later
"""Site files: what loads, and where a mistake is said to be."""

import re
from pathlib import Path

import kernelci.config
import pytest

from rtbisect.campaign.plan import check_target
from rtbisect.config import notes
from rtbisect.config.site_file import load_site
from rtbisect.errors import ConfigError
from rtbisect.kernel.config_check import most_cpus

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = (ROOT / "site.example.yaml").read_text()


def site(tmp_path, text):
    place = tmp_path / "site.yaml"
    place.write_text(text)
    return load_site(place)


def line_of(text, needle):
    return next(i for i, line in enumerate(text.splitlines(), 1) if needle in line)


def test_the_example_loads_through_kernelci_core():
    loaded = load_site(ROOT / "site.example.yaml")
    target = loaded.target("stable-rt_6.12")
    job = loaded.job(target)
    assert (target.tree, target.base, target.compiler) == ("stable-rt", "tinyconfig", "gcc-12")
    assert (job.device.cpus, job.device.emulated, job.plan) == (8, True, "rt-latency")
    assert "CONFIG_PREEMPT_RT=y" in loaded.fragment_texts(target)[0]


def test_a_tree_name_is_enough_where_it_has_one_build_config():
    assert load_site(ROOT / "site.example.yaml").target("stable-rt").name == "stable-rt_6.12"


@pytest.mark.parametrize(
    ("old", "new", "needle", "message"),
    [
        (
            "    tree: stable-rt\n    branch: linux-6.12.y-rt",
            "    tree: gone\n    branch: b",
            "tree: gone",
            "unknown tree 'gone'",
        ),
        ("fragments: [rt-smallest]", "fragments: [nope]", "[nope]", "unknown fragment 'nope'"),
        ("      cores: 4", "      cores: four", "cores: four", "cores"),
        ("  lab: embedded", "  lab: moon", "lab: moon", "unknown lab 'moon'"),
        (
            "    test_plans: [rt-latency]",
            "    test_plans: [x-plan]",
            "[x-plan]",
            "unknown test_plan",
        ),
        ("    confidence: 0.95", "    confidence: 1.5", "confidence: 1.5", "confidence"),
        ("    # max_boots: 200", "    maximum: 80", "maximum: 80", "Extra inputs"),
        ("trees:\n", "trees:\n  stable-rt: {url: a}\n", "stable-rt:", "stands here twice"),
        ("branch: linux-6.12.y-rt", "branch: '--upload-pack=x'", "upload-pack", "branch"),
        (
            "url: https://git.example.org/linux-stable-rt.git",
            "url: linux",
            "url: linux",
            "absolute",
        ),
        *(
            ("https://git.example.org/linux-stable-rt.git", url, "url:", "credential helper")
            for url in (
                "https://robot:s3cret@git.example.org/l.git",
                "https://s3cret@git.example.org/l.git",
                "ssh://robot:s3cret@git.example.org:22/l.git",
            )
        ),
        ("emulated: true", "emulated: false", "emulated: false", "never mailed"),
        (
            "        x86_64:\n          base",
            "        arm64:\n          base",
            "arm64:",
            "builds x86_64",
        ),
        *(
            (at, f"{at}{blanks}name: other\n", "name: other", "has another name here")
            for at, blanks in (
                ("  stable-rt:\n", "    "),
                ("  rt-smallest:\n", "    "),
                ("    cc_version: 12\n", "    "),
                ("  stable-rt_6.12:\n", "    "),
                ("  rt-latency:\n", "    "),
                ("        x86_64:\n", "          "),
                ("    gcc-12:\n", "      "),
            )
        ),
        ("cc: gcc\n", "cc: clang-17\n", "cc: clang-17", "builds with gcc"),
        ("# max_boots: 200", "max_boots: 12", "campaign:", "max_boots does not cover"),
        ("# max_boots: 200", "max_boots: 1000000000", "max_boots: 1000000000", "max_boots"),
        ("# max_boots: 200", "calibrate_min: 11", "campaign:", "larger than calibrate_max"),
        ("# max_boots: 200", "calibrate_max: 4", "calibrate_max: 4", "calibrate_max"),
        ("name: Lab Operator", "name: Lab, RT", "name: Lab, RT", "name"),
        ("operator@lab.example.org", "operator@lab..example", "operator@lab..", "address"),
        ("rcu_calls: 100", "rcu_calls: 5000", "rcu_calls: 5000", "rcu_calls"),
    ],
)
def test_a_mistake_is_named_by_file_and_line(tmp_path, old, new, needle, message):
    text = EXAMPLE.replace(old, new, 1)
    assert text != EXAMPLE
    with pytest.raises(ConfigError) as caught:
        site(tmp_path, text)
    line = line_of(text, needle)
    if "twice" in message:
        line = line_of(text.replace(needle, "-", 1), needle)
    assert f"site.yaml:{line}:" in caught.value.message
    assert message in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("suites", ["", "rcutorture"])
def test_a_plan_that_measures_nothing_is_refused(tmp_path, suites):
    """rcutorture may stand in a plan, and tells nothing where no figure is searched."""
    loaded = site(tmp_path, with_suites(suites))
    with pytest.raises(ConfigError, match="names no suite that measures"):
        check_target(loaded, loaded.target("stable-rt"))


def test_a_plan_may_ask_for_rcutorture(tmp_path):
    loaded = site(tmp_path, with_suites("rcu, rcutorture"))
    check_target(loaded, loaded.target("stable-rt"))
    assert loaded.job(loaded.target("stable-rt")).params.suites == ["rcu", "rcutorture"]


@pytest.mark.parametrize(
    ("cores", "extra", "said"),
    [
        (9, "", "18 CPUs, a kernel of tinyconfig+rt-smallest at most 16"),
        (8, "", None),
        (9, "CONFIG_NR_CPUS=32", None),
        (4, "# CONFIG_SMP is not set", "8 CPUs, a kernel of tinyconfig+rt-smallest+own at most 1"),
    ],
)
def test_a_topology_that_the_configuration_cannot_boot_is_refused(tmp_path, cores, extra, said):
    text = EXAMPLE.replace("cores: 4", f"cores: {cores}")
    if extra:
        text = text.replace("[rt-smallest]", "[rt-smallest, own]")
        own = f"fragments:\n  own: {{path: own.config, configs: ['{extra}']}}\n"
        text = text.replace("fragments:\n", own, 1)
    loaded = site(tmp_path, text)
    if said is None:
        check_target(loaded, loaded.target("stable-rt"))
        return
    with pytest.raises(ConfigError) as caught:
        check_target(loaded, loaded.target("stable-rt"))
    assert f"site.yaml:{line_of(text, f'cores: {cores}')}:" in caught.value.message
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("base", "fragments", "most"),
    [
        ("tinyconfig", [], 1),
        ("tinyconfig", ["CONFIG_SMP=y"], 64),
        ("defconfig", [], 64),
        ("defconfig", ["CONFIG_NR_CPUS=8", "CONFIG_NR_CPUS=512"], 512),
        ("defconfig", ["CONFIG_MAXSMP=y"], None),
        ("server_defconfig", [], None),
        ("server_defconfig", ["CONFIG_SMP=n"], 1),
    ],
)
def test_cpus_of_a_configuration(base, fragments, most):
    assert most_cpus(base, fragments) == most


ARCH = "          base_defconfig: tinyconfig\n"
SPARE = (
    "{template: qemu-smt.jinja2, sockets: 1, cores: 2, threads: 1, memory_mib: 256, emulated: true}"
)
#: What a site may say and nobody does: where in the example it is added, what, and what is said of
#: its line.
IGNORED = (
    ("    branch: linux-6.12.y-rt\n", "    trigger: 3\n", "trigger is not used: neither"),
    ("  rt-smallest:\n", "    defconfig: tiny\n", "defconfig is not used"),
    ("    cc_version: 12\n", "    cross_compile: {x86_64: x-}\n", "the compiler of this machine"),
    (ARCH, "          extra_configs: [allmodconfig]\n", "extra_configs is not used"),
    (ARCH, "        i386: {}\n", "architecture i386 is not built"),
    (
        ARCH,
        "    more:\n      build_environment: gcc-12\n      architectures: {x86_64: }\n",
        "variant more is not built",
    ),
    ("    test_plans: [rt-latency", ", rt-more", "rt-more on qemu-smt is not run"),
    (
        "device_types:\n",
        f"  spare: {{mach: x, arch: x86_64, boot_method: qemu, params: {SPARE}}}\n",
        "device_type spare is not used",
    ),
    (
        "\nlabs:\n",
        "  other: {lab_type: lava, url: 'https://lava.example.org'}\n",
        "lab other is not used",
    ),
    ("    boot_method: qemu\n", "    context: {a: b}\n", "context is not used"),
)


@pytest.mark.parametrize(("after", "added", "said"), IGNORED, ids=[row[2] for row in IGNORED])
def test_what_a_site_says_and_nobody_does_is_named(tmp_path, after, added, said):
    assert EXAMPLE.count(after)
    text = EXAMPLE.replace(after, after + added, 1)
    if "rt-more" in added:
        at = text.index("  rt-latency:\n    rootfs")
        plan = text[at : text.index("device_default_filters")].replace("rt-latency", "rt-more")
        text = text[:at] + plan + text[at:]
        text = text.replace("plan: [rt-latency]", "plan: [rt-latency, rt-more]")
    document = site(tmp_path, text).document
    found = [
        *notes.unused(document),
        *notes.not_run(document, {("qemu-smt", "rt-latency")}),
    ]
    told = [f"{document.where(place)}: {words}" for place, words in found]
    where = f"site.yaml:{line_of(text, added.splitlines()[0])}: "
    assert [line for line in told if where in line and said in line], told


def test_a_compiler_that_is_not_here_is_named():
    document = load_site(ROOT / "site.example.yaml").document
    for here in ("12.2.0", "12"):
        assert list(notes.compiler(document, "gcc-12", here)) == []
    for here in ("13.2.0", "1", "120.1", ""):
        ((place, said),) = notes.compiler(document, "gcc-12", here)
        assert (place[-1], "cc_version 12 is not what builds" in said) == ("cc_version", True)


#: Sections of a site file that kernelci-core reads.
KEYS = (
    "trees",
    "build_environments",
    "fragments",
    "build_configs_defaults",
    "build_configs",
    "file_system_types",
    "file_systems",
    "test_plan_default_filters",
    "test_plans",
    "device_default_filters",
    "device_types",
    "test_configs",
    "labs",
)


def test_every_key_that_kernelci_core_reads_is_used_or_named():
    """kernelci-core looks keys up by literal names in its loaders."""
    folder = Path(kernelci.config.__file__).parent
    lists, gets = r"_kw_from_yaml\(\s*\w+,\s*\[([^]]*)\]", r"\.get\('(\w+)'"
    asked = set()
    for name in ("build.py", "test.py", "lab.py"):
        text = (folder / name).read_text()
        asked |= {key for found in re.findall(lists, text) for key in re.findall(r"'(\w+)'", found)}
        asked |= set(re.findall(gets, text))
    assert len(asked) > 25
    known = {*KEYS, *notes._VARIANT, *notes._ARCHITECTURE, "extra_configs"}
    known |= {"device_type", "test_plans"}
    for section, used in notes._USED.items():
        known |= {*used, *notes._UNUSED[section]}
    assert asked - known == set()


def with_suites(names):
    text, count = re.subn(r"suites: \[.*\]", f"suites: [{names}]", EXAMPLE)
    assert count == 1
    return text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not YAML"),
        ("- 1", "a mapping is needed"),
        ("a: !!python/object:os.system x", "not plain YAML"),
        ("a: &x [*x]", "alias"),
        ("\xff", "not UTF-8"),
        ("a: 2026-13-77", "not plain YAML"),
    ],
)
def test_files_that_are_no_site(tmp_path, text, message):
    place = tmp_path / "site.yaml"
    place.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=message):
        load_site(place)


def test_an_alias_bomb_is_refused(tmp_path):
    rows = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    place = tmp_path / "site.yaml"
    place.write_text("\n".join(rows))
    with pytest.raises(ConfigError, match="more than"):
        load_site(place)


def test_an_unknown_tree_names_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown tree or build_config 'x'.*stable-rt_6\.12"):
        load_site(ROOT / "site.example.yaml").target("x")


def test_a_missing_fragment_file_is_named(tmp_path):
    loaded = site(tmp_path, EXAMPLE.replace("lava-jobs/kernel/rt-smallest.config", "gone.config"))
    with pytest.raises(ConfigError, match=r"site.yaml:\d+: fragment rt-smallest: no file gone"):
        loaded.fragment_texts(loaded.target("stable-rt"))


@pytest.mark.parametrize("bad", ["passlist: {plan: [3]}", "regex: {plan: '['}"])
def test_a_filter_that_kernelci_core_cannot_apply_is_a_mistake_of_the_site(tmp_path, bad):
    text = EXAMPLE.replace("passlist:\n          plan: [rt-latency]", bad)
    assert text != EXAMPLE

    def matched():
        loaded = site(tmp_path, text)
        return loaded.job(loaded.target("stable-rt"))

    with pytest.raises(ConfigError, match="kernelci-core"):
        matched()


def test_the_section_for_mail_in_the_example_is_one(tmp_path):
    lines = EXAMPLE.split("\n")
    begin = lines.index("  # mail:")
    end = next(n for n, line in enumerate(lines) if line.startswith("  # kcidb:"))
    for number in range(begin, end + 1):
        lines[number] = lines[number].replace("  # ", "  ", 1)
    place = tmp_path / "site.yaml"
    place.write_text("\n".join(lines))
    mail = load_site(place).ours.mail
    assert [each.name for each in mail.approvers] == ["A Person"]
    assert mail.send.smtp.security == "starttls"
    assert load_site(place).ours.kcidb.origin == "mylab"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("send: {files: out}", "send: {files: out, mbox: b}", "one of smtp"),
        ("send: {files: out}", "send: {}", "one of smtp"),
        ("send: {files: out}", "send: {smtp: {host: m.example.org, user: x}}", "go together"),
        (
            "send: {files: out}",
            "send: {smtp: {host: localhost, user: x, password: p, security: none}}",
            "needs security",
        ),
        ("send: {files: out}", "inbox: {maildir: a, imap: null, x: 1}", "x"),
        ("send: {files: out}", "deny: ['a b']", "deny"),
        ("send: {files: out}", "trees: {x: nothing}", "trees"),
        ("send: {files: out}", "trees: {linux: mainline}", "unknown tree 'linux'"),
    ],
)
def test_mistakes_in_the_section_for_mail_are_named(tmp_path, old, new, said):
    place = tmp_path / "site.yaml"
    whole = EXAMPLE.replace("  campaign:\n", f"  mail:\n    {old}\n  campaign:\n", 1)
    place.write_text(whole)
    assert load_site(place).ours.mail.send.files == "out"
    place.write_text(whole.replace(old, new))
    with pytest.raises(ConfigError, match=said):
        load_site(place)
