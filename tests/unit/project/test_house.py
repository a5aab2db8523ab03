# SPDX-License-Identifier: GPL-2.0-or-later
"""The shape of the repository: rules that no linter knows."""

import ast
import os
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "bisect" / "rtbisect"
SPDX = "SPDX-License-Identifier: GPL-2.0-or-later"

#: Folders that hold no source of ours.
FOREIGN = {"__pycache__", "node_modules", "data", "golden"}
#: Files whose format has a comment, so that they can carry the SPDX line.
COMMENTED = {".py", ".sh", ".c", ".h", ".yml", ".yaml", ".cfg", ".toml", ".in", ".j2", ".config"}
COMMENTED_NAMES = {"Makefile", "Kbuild", "init", "run", ".yamllint", ".ansible-lint"}

#: A file is one thought, which may take this much; a function is about 40 lines.
MODULE_LINES = 500
FUNCTION_LINES = 50
#: A call with so many values without their names says nothing.
NAMED_FIELDS = 6
#: So much fits into one look; what is more is several things that are tested.
TEST_LINES = 400

#: Examples, the lists that the reports are for, and what only looks like an address
#: (units of systemd, `decorator@file.py`).
ALLOWED_HOSTS = re.compile(
    r"(.+\.)?(example\.(org|com|net)|vger\.kernel\.org|lists\.linux\.dev)|.+\.(service|py)"
)


def files() -> list[Path]:
    """Every file of the project, without what setup and the tools put beside it."""
    found = []
    for folder, below, names in os.walk(ROOT):
        below[:] = [
            name
            for name in below
            if name not in FOREIGN
            and not name.endswith(".egg-info")
            and (not name.startswith(".") or name == ".ci")
        ]
        found += [Path(folder) / name for name in names]
    return sorted(found)


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


FILES = files()
SOURCES = [f for f in FILES if f.suffix in COMMENTED or f.name in COMMENTED_NAMES]
MODULES = [f for f in FILES if f.suffix == ".py" and f.is_relative_to(PACKAGE.parent)]
TESTS = [f for f in FILES if f.suffix == ".py" and f.is_relative_to(ROOT / "tests")]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def imported(path: Path) -> set[str]:
    """Full names of the modules that a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def normal(requirement: str) -> str:
    """The distribution name of a requirement, as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s<>=!~\[;]", requirement)[0]).lower()


def locked(lock: Path) -> dict[str, str]:
    """Name to the rest of its entry: version and hashes."""
    entries = re.split(r"^(?=[A-Za-z0-9])", lock.read_text(), flags=re.MULTILINE)
    return {normal(e): e for e in entries if "==" in e.split("\n")[0]}


def test_bisect_is_no_package() -> None:
    assert not (ROOT / "bisect" / "__init__.py").exists(), "it would shadow Python's own bisect"


def test_bisect_of_python_is_still_found() -> None:
    import bisect  # the point is what this name finds, with pytest's paths in force

    assert bisect.bisect_left([1, 3], 2) == 1


def test_there_are_sources_to_look_at() -> None:
    assert {"Makefile", "pyproject.toml", ".ci/run", "bisect/rtbisect/process/command.py"} <= {
        relative(f) for f in SOURCES
    }


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_first_line_names_the_licence(path: Path) -> None:
    lines = path.read_text().splitlines()
    first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
    assert first
    assert SPDX in first[0]


def test_licence_is_the_one_that_the_sources_name() -> None:
    assert (ROOT / "LICENSE").read_text().split("\n")[1].strip() == "Version 2, June 1991"
    assert PROJECT["project"]["license"] == SPDX.split(": ")[1]


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_one_command_runner(path: Path) -> None:
    names = imported(path)
    if path != PACKAGE / "process/command.py":
        assert "subprocess" not in names
        assert not {"os.system", "os.popen", "pty"} & names
        assert "os.system(" not in path.read_text()


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_only_the_command_line_exits(path: Path) -> None:
    if not path.is_relative_to(PACKAGE / "cli"):
        assert "sys.exit" not in path.read_text()
        assert "os.chdir" not in path.read_text()


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_modules_and_functions_stay_small(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MODULE_LINES
    long = {
        node.name: node.end_lineno - node.lineno + 1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.body[0].lineno + 1 > FUNCTION_LINES
    }
    assert not long


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_values_of_many_fields_are_made_by_their_names(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.ClassDef):
            continue
        fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
        for each in map(ast.unparse, node.decorator_list):
            if each.startswith("dataclass") and len(fields) >= NAMED_FIELDS:
                assert "kw_only=True" in each, node.name


@pytest.mark.parametrize("path", TESTS, ids=relative)
def test_tests_stay_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= TEST_LINES


@pytest.mark.parametrize("path", TESTS, ids=relative)
def test_tests_use_fakes_not_patches(path: Path) -> None:
    assert not any(name.startswith("unittest.mock") for name in imported(path))


@pytest.mark.parametrize(
    "path", [f for f in SOURCES if not f.is_relative_to(ROOT / "tests")], ids=relative
)
def test_mail_addresses_are_examples(path: Path) -> None:
    found = re.findall(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)", path.read_text())
    assert [host for host in found if not ALLOWED_HOSTS.fullmatch(host)] == []


@pytest.mark.parametrize(
    "path", [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.txt")], ids=relative
)
def test_no_document_names_a_folder_of_somebody(path: Path) -> None:
    assert not re.findall(r"/(?:root|home|var/tmp)/[a-z.]\S+", path.read_text("utf-8"))


def test_scripts_can_be_started() -> None:
    scripts = [f for f in SOURCES if f.read_text().startswith("#!")]
    assert ROOT / ".ci" / "run" in scripts
    assert [relative(f) for f in scripts if not os.access(f, os.X_OK)] == []


#: Suites that tell where the figures of others come from, and have none of their own.
EXPLAINING = {"reach", "senders"}


def suites() -> list[str]:
    return sorted(
        folder.name
        for folder in (ROOT / "lava-jobs" / "suites").iterdir()
        if folder.is_dir() and folder.name not in FOREIGN
    )


@pytest.mark.parametrize("suite", suites())
def test_a_suite_is_three_small_files(suite: str) -> None:
    assert (ROOT / "thresholds" / f"{suite}.yaml").is_file() or suite in EXPLAINING
    assert (PACKAGE / "suites" / f"{suite}.py").is_file()


def test_every_threshold_belongs_to_a_suite() -> None:
    assert {f.stem for f in (ROOT / "thresholds").glob("*.yaml")} == set(suites()) - EXPLAINING


def test_each_tested_python_has_a_lock() -> None:
    assert {"python3.11.lock", "python3.13.lock", "build.lock"} <= {f.name for f in LOCKS}


@pytest.mark.parametrize("lock", LOCKS, ids=relative)
def test_locks_pin_versions_and_hashes(lock: Path) -> None:
    entries = locked(lock)
    assert entries
    assert [name for name, entry in entries.items() if "--hash=sha256:" not in entry] == []
    for trace in ("--find-links", "--index-url", "file:", "git+"):
        assert trace not in lock.read_text()


@pytest.mark.parametrize("lock", [f for f in LOCKS if f.name.startswith("python")], ids=relative)
def test_locks_hold_what_the_project_asks_for(lock: Path) -> None:
    project = PROJECT["project"]
    wanted = [*project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        wanted += extra
    assert {normal(w) for w in wanted} - set(locked(lock)) == set()


def test_the_project_asks_for_the_packages_that_it_imports() -> None:
    brings = packages_distributions()
    imported = set()
    for node in (node for path in MODULES for node in ast.walk(ast.parse(path.read_bytes()))):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    imported -= {"rtbisect", "rtbisect_labkit", *sys.stdlib_module_names}
    project = PROJECT["project"]
    extras = {normal(w) for extra in project["optional-dependencies"].values() for w in extra}
    found = {normal(brings[name][0]) for name in imported}
    assert found - extras == {normal(w) for w in project["dependencies"]}


def test_build_requirements_are_locked() -> None:
    wanted = {normal(w) for w in PROJECT["build-system"]["requires"]}
    assert wanted - set(locked(ROOT / "requirements" / "build.lock")) == set()


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.in")), ids=relative)
def test_each_source_of_a_lock_is_locked(path: Path) -> None:
    asked = [x for x in path.read_text().splitlines() if x and x[0] not in "#-"]
    assert {normal(x) for x in asked} <= set(locked(path.with_suffix(".lock")))


@pytest.mark.parametrize(
    "defaults", sorted((ROOT / "playbooks" / "roles").glob("*/defaults/main.yml")), ids=relative
)
def test_role_variables_are_documented(defaults: Path) -> None:
    lines = ["", *defaults.read_text().splitlines()]
    role = defaults.parents[1].name
    documented = False
    names = []
    for line in lines:
        match = re.match(r"([a-z_]\w*):", line)
        if match:
            names.append(match[1])
            assert documented, f"no comment above {match[1]}"
            assert match[1].startswith(f"{role}_")
        # One comment may stand above several variables that follow each other.
        documented = line.startswith("#") or (documented and bool(line))
    assert names


def test_targets_of_the_makefile_are_listed() -> None:
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    listed = set(re.findall(r"^## make ([\w-]+)", text, re.MULTILINE))
    rules = set(re.findall(r"^([a-z][\w-]*):(?!=)", text, re.MULTILINE))
    assert set(phony[1].split()) == listed | {"help"} == rules


def test_documents_name_only_targets_that_exist() -> None:
    rules = set(re.findall(r"^([a-z][\w-]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    documents = [f for f in FILES if f.suffix == ".md"]
    named = {
        (relative(f), target)
        for f in documents
        for target in re.findall(r"[`$&] ?make ([a-z][\w-]*)", f.read_text())
    }
    assert {(where, target) for where, target in named if target not in rules} == set()


def test_continuous_integration_runs_tests_and_gates() -> None:
    text = (ROOT / ".ci" / "run").read_text()
    stages = re.findall(r"^stage \w+ (make [\w= -]+\w)", text, re.MULTILINE)
    assert stages == ["make setup", "make --old-file=setup lint", "make test"]


def test_each_disabled_lint_rule_has_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    block = re.search(r"^ignore = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert block
    assert [
        line for line in block[1].splitlines() if not re.search(r'^  "\w+",\s*# \w', line)
    ] == []
