# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line as a child process: bad input, a hostile environment, broken stores.

Real git repositories and site files, no kernels and no QEMU.
"""

import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
import yaml

from helpers.signals import hears_signals
from rtbisect.campaign import resolve
from rtbisect.cli import app
from rtbisect.config.site_file import load_site
from rtbisect.errors import ConfigError
from rtbisect.mail import commands as asked_by_mail
from rtbisect.model.campaign import (
    CampaignRequest,
    Cause,
    Judgement,
    Level,
    MetricKey,
    Outcome,
    Result,
    Sample,
    TableRow,
)
from rtbisect.model.command import GIVEN
from rtbisect.model.report import Report, ReportState
from rtbisect.process import locks
from rtbisect.store import codec
from rtbisect.store.campaigns import CampaignStore
from rtbisect.store.journal import StoreJournal
from rtbisect_labkit.demo import truth

ROOT = Path(__file__).resolve().parents[3]
RTBISECT = Path(sys.executable).with_name("rtbisect")
EXAMPLE = (ROOT / "site.example.yaml").read_text()
GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def data(self):
        """The one JSON object on stdout."""
        lines = self.out.splitlines()
        assert len(lines) == 1, self.out
        return json.loads(lines[0])


@dataclass
class Cli:
    """The installed program with a state directory and a site."""

    home: Path
    site: Path

    @property
    def state(self):
        return self.home / "state"

    @property
    def store(self):
        return CampaignStore(self.state)

    def env(self, extra):
        found = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        found |= {"RTBISECT_STATE": str(self.state), "RTBISECT_SITE": str(self.site)}
        return found | extra

    def run(self, *words, env=(), cwd=None, **kw):
        done = subprocess.run(
            [RTBISECT, *words],
            cwd=cwd or self.home,
            env=self.env(dict(env)),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=120,
            check=False,
            **kw,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def refused(self, code, *words, **kw):
        """The line of an error, told in both forms: for a person and for a program."""
        done = self.run(*words, "--json", **kw)
        assert done.code == code, (done.out, done.err)
        assert set(done.data) == {"error", "hint", "exit_code"}
        lines = done.err.splitlines()
        assert len(lines) == 1, done.err
        assert lines[0].startswith("rtbisect: ")
        assert lines[0].isprintable()
        assert done.data["hint"], "what to do next"
        assert lines[0] == f"rtbisect: {done.data['error']}; {done.data['hint']}"
        return lines[0]


def git(where, *words):
    done = subprocess.run(
        ["git", *words], cwd=where, env=os.environ | GIT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(repo, subject):
    git(repo, "commit", "--quiet", "--allow-empty", "-m", subject)
    return git(repo, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def repo(tmp_path_factory):
    """main: a b c d; start: a; side: b s; alone: an orphan."""
    where = tmp_path_factory.mktemp("tree") / "linux"
    where.mkdir()
    git(where, "init", "--quiet", "--initial-branch=main")
    shas = {"a": commit(where, "a")}
    git(where, "branch", "start")
    shas["b"] = commit(where, "b")
    git(where, "tag", "-a", "-m", "v1", "v1")
    git(where, "checkout", "--quiet", "-b", "side")
    shas["s"] = commit(where, "s")
    git(where, "checkout", "--quiet", "main")
    shas |= {name: commit(where, name) for name in "cd"}
    git(where, "checkout", "--quiet", "--orphan", "alone")
    shas["u"] = commit(where, "u")
    git(where, "checkout", "--quiet", "main")
    return where, shas


def site_text(url, change=None):
    """The example site on a tree at `url`; `change` gets its data."""
    data = yaml.safe_load(EXAMPLE)
    data["trees"]["stable-rt"]["url"] = str(url)
    data["build_configs_defaults"]["reference"]["branch"] = "start"
    data["build_configs"] = {"rt": {"tree": "stable-rt", "branch": "main"}}
    if change:
        change(data)
    return yaml.safe_dump(data, sort_keys=False)


@pytest.fixture
def cli(tmp_path, repo):
    place = tmp_path / "site.yaml"
    place.write_text(site_text(f"file://{repo[0]}"))
    return Cli(tmp_path, place)


def bisect(good, bad):
    return ("bisect", "rt", "--good", good, "--bad", bad)


# Words on the command line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nosuch",), "No such command 'nosuch'"),
        (("nosuch\x1b[2J\nx",), "No such command"),
        (("status", "--nosuch"), "No such option '--nosuch'"),
        (("bisect", "rt", "--good", "a"), "Missing option '--bad'"),
        (("bisect", "rt", "--good", "a", "--bad", "b", "--seed", "x"), "--seed"),
        (("try", "--tree", "rt"), "Missing argument 'REVISION'"),
    ],
)
def test_wrong_words_are_one_line_with_the_help_to_read(cli, words, said):
    code = 130 if words[:1] == ("try",) else 2
    line = cli.refused(code, *words)
    assert said in line
    assert "--help`" in line


@pytest.mark.parametrize("words", [(), ("config",), ("report",)], ids=" ".join)
def test_a_group_alone_asks_for_a_command(cli, words):
    done = cli.run(*words)
    help_of = " ".join(("rtbisect", *words, "--help"))
    assert (done.code, done.out) == (2, "")
    assert done.err == f"rtbisect: Missing command; see `{help_of}`\n"


def commands():
    """Every command as words, groups too."""
    found = [()]
    for name, one in app.main.commands.items():
        found.append((name,))
        if isinstance(one, click.Group):
            found += [(name, inner) for inner in one.commands]
    return found


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_help_has_an_example_and_fits_a_terminal(cli, words):
    done = cli.run(*words, "--help", env={"COLUMNS": "300"})
    assert (done.code, done.err) == (0, "")
    assert re.search(r"Example: rtbisect|Example: git bisect run rtbisect", done.out)
    assert max(len(line) for line in done.out.splitlines()) <= 100


# Sites


def test_no_site_file(cli):
    line = cli.refused(2, *bisect("a", "b"), "--site", str(cli.home / "gone\n.yaml"))
    assert "no site file" in line
    assert "--site" in line


def test_config_check_prints_what_it_found(cli):
    done = cli.run("config", "check", "--json")
    assert (done.code, done.err) == (0, "")
    assert [row["build_config"] for row in done.data["build_configs"]] == ["rt"]
    assert done.data["lab"] == "embedded"


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
        (wrong_lab, "  lab: embedded", "rtbisect.campaign.labs does not say how it is used"),
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


# Revisions, suites, metrics


@pytest.mark.parametrize(
    "revision",
    ["nosuch", "-x", "--upload-pack=x", "a\nb", "\x1b[2Jx", b"\xff\xfe", "v1..main", "", " "],
)
def test_a_revision_that_is_none(cli, revision):
    text = revision if isinstance(revision, str) else os.fsdecode(revision)
    line = cli.refused(2, "bisect", "rt", f"--good={text}", "--bad=main")
    assert "is no commit in" in line or "is not a revision" in line


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("v1", "v1", "good and bad are the same commit"),
        ("main", "v1", "is older than"),
        ("alone", "main", "have no common history"),
    ],
)
def test_ends_that_are_no_range(cli, good, bad, said):
    line = cli.refused(2, *bisect(good, bad))
    assert said in line
    if good == "main":
        assert "exchange --good and --bad" in line
    assert cli.run("status", "--json").data == {"campaigns": []}


def test_check_of_a_tip_against_itself(cli):
    assert "same commit" in cli.refused(2, "check", "rt", "--base", "main")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--suite", "noise"), "unknown suite 'noise'; there are: ipi, osnoise, rcu"),
        (("--suite", "rcu", "--metric", "p51"), "unknown metric 'p51' of suite rcu; there are:"),
        (("--metric", "p50_us"), "--metric needs --suite; give both"),
    ],
)
def test_a_suite_or_metric_that_is_none(cli, words, said):
    assert said in cli.refused(2, *bisect("v1", "main"), *words)
    assert said in cli.refused(130, "try", "main", "--tree", "rt", *words)


def test_a_shallow_clone_is_refused(cli, repo, tmp_path):
    git(tmp_path, "clone", "--quiet", "--depth=2", "--branch=main", f"file://{repo[0]}", "cut")
    cli.site.write_text(site_text(tmp_path / "cut"))
    line = cli.refused(2, *bisect("HEAD~1", "main"))
    assert "shallow" in line
    assert "--unshallow" in line


def test_a_repository_that_is_gone(cli, tmp_path):
    cli.site.write_text(site_text(tmp_path / "gone"))
    assert "is not there" in cli.refused(2, *bisect("v1", "main"))


def test_head_of_a_url_means_nothing(tmp_path):
    place = tmp_path / "site.yaml"
    place.write_text(site_text("https://git.example.org/linux.git"))
    with pytest.raises(ConfigError, match="says nothing about"):
        resolve.good_and_bad(tmp_path, load_site(place), "rt", "HEAD~3", "v1", None, None)


def test_a_good_end_beside_the_bad_one_gives_way_to_their_merge_base(cli, repo):
    """As `run` does; the newer end stays what it is."""
    _where, shas = repo
    site = load_site(cli.site)
    for good, given in (("side", shas["s"]), ("v1", "")):
        found = resolve.good_and_bad(cli.state, site, "rt", good, "main", None, None)
        assert found == (shas["b"], shas["d"], given)


def test_a_search_that_a_reply_asks_for_has_the_merge_base_of_its_own_ends(cli, repo):
    _where, shas = repo
    reported = CampaignRequest("bisect", str(cli.site), "rt", "a", "b", extra=((GIVEN, "f" * 40),))
    for ends, extra in (("side main", ((GIVEN, shas["s"]),)), ("v1 main", ())):
        found = asked_by_mail._bisection(cli.state, load_site(cli.site), reported, ends)
        assert (found.good, found.bad, found.extra) == (shas["b"], shas["d"], extra)


def test_head_of_try_is_that_of_the_checkout(cli, repo, tmp_path, monkeypatch):
    where, shas = repo
    git(where, "worktree", "add", "--quiet", "--detach", str(tmp_path / "w"), shas["s"])
    try:
        monkeypatch.chdir(tmp_path / "w")
        site = load_site(cli.site)
        found = [
            resolve.one_revision(cli.state, site, "rt", name, None, None)
            for name in ("HEAD", "HEAD~1", "main")
        ]
        assert found == [shas["s"], shas["b"], shas["d"]]
        monkeypatch.chdir(tmp_path)
        assert resolve.one_revision(cli.state, site, "rt", "HEAD", None, None) == shas["d"]
    finally:
        git(where, "worktree", "remove", "--force", str(tmp_path / "w"))


# git bisect run


def test_try_maps_errors_so_that_git_stops(cli):
    assert "no commit" in cli.refused(130, "try", "nosuch", "--tree", "rt")
    assert "No such option" in cli.refused(130, "--nosuch", "try", "main")
    assert "--limit nan" in cli.refused(130, "try", "main", "--tree", "rt", "--limit", "nan")
    with cli.store.writer():
        line = cli.refused(133, "try", "main", "--tree", "rt", "--limit", "0.2")
        assert "in use" in line


def test_try_without_any_limit_is_refused_before_it_costs(cli):
    line = cli.refused(130, "try", "main", "--tree", "rt", "--suite", "rcu")
    assert "has no limit; give one with --limit" in line


def test_a_tree_that_is_called_try_is_no_try(cli):
    assert "unknown tree" in cli.refused(2, "check", "try")


# The state directory


def test_a_state_directory_that_cannot_be(cli):
    (cli.home / "file").write_text("")
    for place in (cli.home / "file", cli.home / "file" / "below", Path("/proc/rtbisect")):
        for words in (("status",), bisect("v1", "main")):
            line = cli.refused(2, "--state", str(place), *words)
            assert str(place.parent if place.name == "below" else place) in line
            assert "--state" in line


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def test_a_full_disk_is_a_fault_of_the_lab(cli):
    line = cli.refused(3, "status", preexec_fn=limit_files)
    assert "rtbisect.sqlite3" in line
    assert "free disk space" in line


def test_a_full_standard_output_is_told(cli):
    done = subprocess.run(
        f"exec {RTBISECT} status >/dev/full", shell=True, env=cli.env({}), capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.startswith("rtbisect: standard output: No space left")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("how", [">&-", "2>&-", "<&-"])
def test_closed_streams_do_no_harm(cli, how):
    done = subprocess.run(
        f"exec {RTBISECT} status {how}", shell=True, env=cli.env({}), capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_store_of_another_schema(cli):
    assert cli.run("status").code == 0
    with sqlite3.connect(cli.state / "rtbisect.sqlite3") as database:
        database.execute("UPDATE alembic_version SET version_num = '99'")
    line = cli.refused(2, "status")
    assert "schema version 99" in line
    assert "--state" in line


def test_a_store_that_lacks_a_column(cli):
    assert cli.run("status").code == 0
    with sqlite3.connect(cli.state / "rtbisect.sqlite3") as database:
        database.execute("ALTER TABLE campaign DROP COLUMN note")
    assert "no such column" in cli.refused(2, "status")


@pytest.mark.parametrize("keep", [0, 4096])
def test_a_damaged_store(cli, keep):
    assert cli.run("status").code == 0
    place = cli.state / "rtbisect.sqlite3"
    data = place.read_bytes()
    place.write_bytes(data[:keep] + b"\xa5" * (len(data) - keep))
    line = cli.refused(3, "status")
    assert str(place) in line
    assert "damaged" in line


def test_a_second_campaign_waits_its_turn(cli):
    with cli.store.writer():
        line = cli.refused(5, *bisect("v1", "main"))
        assert f"in use by process {os.getpid()}" in line
        assert "in use" in cli.refused(5, "resume")
        assert cli.run("status").code == 0
    assert not cli.store.names()


def test_without_lava_nothing_is_begun(cli):
    line = cli.refused(2, *bisect("v1", "main"))
    assert f"{cli.state}/lava/root/usr/bin/lava-run is not there" in line
    assert "run `make setup`" in line
    assert not cli.store.names()


def test_without_a_compiler_nothing_is_begun(cli, tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "git").symlink_to("/usr/bin/git")
    line = cli.refused(2, *bisect("v1", "main"), env={"PATH": str(tools)})
    assert "kernels cannot be built here" in line
    assert "apt-get install" in line
    assert not cli.store.names()


# A hostile environment

HOSTILE = {
    "MAKEFLAGS": "-n --warn",
    "GIT_DIR": "/nonexistent",
    "GIT_WORK_TREE": "/nonexistent",
    "GIT_INDEX_FILE": "/nonexistent",
    "GIT_OBJECT_DIRECTORY": "/nonexistent",
    "GIT_CONFIG_PARAMETERS": "'core.bare=x'",
    "GIT_TRACE": "1",
    "ARCH": "arm64",
    "PYTHONSTARTUP": "/nonexistent",
    "PYTHONOPTIMIZE": "2",
    "PYTHONWARNINGS": "error",
    "PYTHONIOENCODING": "ascii",
    "LC_ALL": "tr_TR.UTF-8",
    "LANG": "C",
    "COLUMNS": "7",
    "XDG_STATE_HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "XDG_CACHE_HOME": "/nonexistent",
    "CDPATH": "/",
    "TERM": "nosuch",
}


def test_a_hostile_environment_changes_nothing(cli):
    shadow = cli.home / "shadow"
    shadow.mkdir()
    for name in ("bisect", "click", "yaml", "random", "sqlalchemy", "statistics", "kernelci"):
        (shadow / f"{name}.py").write_text(f"raise SystemExit('{name} is shadowed')\n")
    env = HOSTILE | {"PYTHONPATH": str(shadow)}
    filled(cli)
    for words in (("config", "check"), ("status", "--json"), ("resume", "check-2", "--json")):
        assert cli.run(*words, env=env) == cli.run(*words), words
    for words in (bisect("side", "main"), bisect("v1", "main")):
        assert cli.refused(2, *words, env=env) == cli.refused(2, *words)


def test_modules_in_the_current_directory_are_not_taken(cli):
    (cli.home / "yaml.py").write_text("raise SystemExit('shadowed')\n")
    assert cli.run("config", "check").code == 0


# Campaigns of a store that is filled here

KEY = MetricKey("ipi", "res_per_iwi", "pf-on")
JUDGEMENT = Judgement(
    KEY, Level.REGRESSED, Sample((1.0,)), Sample((9.0,)), 9.0, (2.0, 20.0), 0.001, "nine times"
)


FIGURES = tuple(
    TableRow(
        kernel,
        "epoll-throughput",
        "none",
        MetricKey("epoll", name, "epoll-throughput"),
        "1/ms",
        Sample(values),
        mean=name == "frozen",
    )
    for name, kernel, values in (
        ("events_per_ms_1", "base", (30.0, 20.0, 60.0)),
        ("events_per_ms_1", "tip", (24.0, 21.0, 40.0)),
        ("events_per_ms_8", "base", (0.0,)),
        ("events_per_ms_8", "tip", (2.0,)),
        ("frozen", "base", (0.0, 0.0, 0.0)),
        ("frozen", "tip", (0.0, 0.0, 1.0)),
    )
    for key in (MetricKey("epoll", name, "epoll-throughput"),)
)


def result(outcome=Outcome.CULPRIT, culprit="c" * 40, table=FIGURES):
    return Result(
        outcome, Cause.KERNEL, culprit, ((culprit, 0.99),), 0.99, KEY, JUDGEMENT,
        reasons=("it is so",), judgements=(JUDGEMENT,), table=table,
    )  # fmt: skip


def record(cli, kind, extra=(), report=None, answer=None):
    request = CampaignRequest(
        kind, str(cli.site), "rt", "a" * 40, "b" * 40, extra=extra, repo="/srv/linux"
    )
    text = codec.to_json(CampaignRequest, request)
    name = cli.store.create(kind, text, "2026-01-02T03:04:05+00:00")
    cli.store.finish(name, answer or result(), report)
    return name


def filled(cli):
    """bisect-1, check-2, try-3, demo-4, each with an answer."""
    draft = cli.home / "draft.eml"
    draft.write_text("Subject: x\n\nbody\n")
    report = Report("bisect-1", ReportState.DRAFT, "<m@x>", "", str(draft), "", "")
    record(cli, "bisect", report=report)
    record(cli, "check", answer=result(Outcome.CULPRIT_SET))
    record(cli, "try", answer=result(Outcome.CULPRIT_SET))
    place = cli.home / "truth.json"
    sha = "c" * 40
    truth.save(
        place,
        truth.Truth(
            "rcu-latency",
            7,
            4,
            hard=False,
            good=sha,
            bad=sha,
            culprit=sha,
            culprit_set=(sha,),
            build_failures=(),
            boot_failures=(),
        ),
    )
    record(cli, "demo", extra=(("truth", str(place)),))


def documented(command):
    """Names in backquotes of what docs/json.md says about a command."""
    text = (ROOT / "docs/json.md").read_text()
    if command == "campaign":
        rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        return re.findall(r"`(\w+)`", " ".join(rows))
    found = re.search(
        rf"^`{command}` (?:adds|prints) (.*?)(?=^`|\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, command
    return re.findall(r"`(\w+)`", found[1])


def test_json_has_the_documented_keys(cli):
    filled(cli)
    common = set(documented("campaign"))
    assert len(common) == 18
    status = cli.run("status", "--json").data
    rows, *more = documented("status")
    assert set(status) == {rows}
    assert [set(row) for row in status[rows]] == [common | set(more)] * 4
    assert set(cli.run("resume", "bisect-1", "--json").data) == common | {"commits"}
    check = cli.run("resume", "check-2", "--json")
    level, inner, *names = documented("check")
    figures = names.index("figures")
    assert (check.code, set(check.data)) == (1, common | {level, inner, "figures"})
    assert set(check.data[inner][0]) == set(names[:figures]) - {"pass"}
    assert set(check.data["figures"][0]) == set(names[figures + 1 :])
    tried = cli.run("resume", "try-3", "--json")
    assert (tried.code, tried.data["verdict"]) == (1, "bad")
    assert set(tried.data) == common | set(documented("try"))
    demo = cli.run("resume", "demo-4", "--json")
    assert (demo.code, demo.data["correct"]) == (0, True)
    assert set(demo.data) == common | set(documented("demo"))
    show = cli.run("report", "show", "bisect-1", "--json")
    assert set(show.data) == set(documented("report show"))
    assert show.data["eml"] == "Subject: x\n\nbody\n"
    assert set(cli.run("config", "check", "--json").data) == set(documented("config check"))


def test_a_check_has_a_row_for_each_figure(cli):
    filled(cli)
    done = cli.run("resume", "check-2")
    rows = [line.split() for line in done.out.splitlines() if "events_per_ms" in line]
    assert [(row[0].split("@")[0], row[-1]) for row in rows] == [
        ("epoll.events_per_ms_1", "-20%"),
        ("epoll.events_per_ms_8", "-"),
    ]
    assert "0 [0..0] 0.333 [0..1.00]" in " ".join(done.out.split())
    assert "30 [20..60] 24 [21..40] -20%" in " ".join(done.out.split())
    found = cli.run("resume", "check-2", "--json").data["figures"]
    assert [found[0][name] for name in ("base", "tip", "n")] == [[30, 20, 60], [24, 21, 40], [3, 3]]


def test_status_needs_no_site(cli):
    filled(cli)
    before = cli.run("status", "--json")
    cli.site.unlink()
    after = cli.run("status", "--json")
    assert after == before
    assert after.data["campaigns"][0]["repo"] == "/srv/linux"


def test_numbers_that_json_does_not_know_are_null(cli):
    odd = Judgement(
        KEY, Level.UNDECIDED, Sample(()), Sample(()), float("inf"), (0.0, float("nan")), 1.0, "odd"
    )
    answer = Result(Outcome.INCONCLUSIVE, Cause.NONE, None, (), 0.0, None, None, judgements=(odd,))
    record(cli, "check", answer=answer)
    done = cli.run("resume", "check-1", "--json")
    assert done.code == 4
    assert done.data["judgements"][0]["effect"] is None
    assert done.data["judgements"][0]["interval"] == [0.0, None]


def test_nothing_to_resume_and_nothing_to_show(cli):
    assert "there is no unfinished campaign; see `rtbisect status`" in cli.refused(2, "resume")
    assert "no campaign 'nosuch'" in cli.refused(2, "resume", "nosuch")
    assert "no campaign ''" in cli.refused(2, "resume", "")
    assert "no campaign 'nosuch'" in cli.refused(2, "report", "show", "nosuch")
    filled(cli)
    assert "there is no unfinished campaign" in cli.refused(2, "resume")
    assert "campaign check-2 has no draft" in cli.refused(2, "report", "show", "check-2")
    (cli.home / "draft.eml").unlink()
    assert "No such file" in cli.refused(2, "report", "show", "bisect-1")


def test_an_internal_error_is_a_line_and_a_log(cli):
    name = cli.store.create("bisect", '{"of": "another shape"}', "now")
    line = cli.refused(70, "--state", str(cli.state), "resume", name, env={"RTBISECT_STATE": "/x"})
    assert "made by another version" in line
    log = (cli.state / "internal-error.log").read_text()
    assert "Traceback" in log
    assert "ValidationError" in log


def test_one_unreadable_campaign_hides_no_other(cli):
    cli.store.create("bisect", '{"of": "another shape"}', "now")
    name = record(cli, "check", answer=result(Outcome.CULPRIT_SET))
    broken = record(cli, "check")
    with sqlite3.connect(cli.state / "rtbisect.sqlite3") as database:
        database.execute("UPDATE campaign SET result = '[1]' WHERE id = ?", (broken,))
    done = cli.run("status", "--json")
    rows = done.data["campaigns"]
    assert (done.code, [row["state"] for row in rows]) == (0, ["unreadable", "done", "unreadable"])
    assert len({frozenset(row) for row in rows}) == 1
    assert cli.run("resume", name).code == 1
    assert "cannot be read" in cli.refused(70, "report", "show", broken)


# Signals and pipes


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_with_130_and_one_line(cli, repo, number):
    cli.store.mark_seen("rt", repo[1]["d"], "pass", "now")
    child = subprocess.Popen(
        [RTBISECT, "watch"], env=cli.env({}), cwd=cli.home, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=hears_signals,  # noqa: PLW1509
    )  # fmt: skip
    assert "unchanged" in child.stdout.readline()
    child.send_signal(number)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out) == (130, "")
    assert err.startswith("rtbisect: interrupted; ")
    assert err.count("\n") == 1


def test_a_signal_while_modules_are_loaded_leaves_no_traceback(cli):
    script = (
        "import os, signal, sys\n"
        "class Kill:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'sqlalchemy': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Kill())\n"
        "from rtbisect.cli.main import entry\n"
        "sys.argv = ['rtbisect', 'status']\n"
        "entry()\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], env=cli.env({}), capture_output=True, text=True,
        timeout=60, check=False, preexec_fn=hears_signals,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize("words", [("--help",), ("status", "--json"), ("nosuch", "--json")])
def test_a_reader_that_went_away_gets_no_traceback(cli, words):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [RTBISECT, *words], env=cli.env({}), stdout=pipe, stderr=subprocess.PIPE, text=True,
            timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == (2 if "nosuch" in words else 130)
    assert done.stderr.count("\n") == (1 if "nosuch" in words else 0)


# watch


def test_watch_goes_on_when_a_branch_has_vanished(cli, repo):
    def more(data):
        data["build_configs"] = {
            "gone": {"tree": "stable-rt", "branch": "vanished"},
            "rt": {"tree": "stable-rt", "branch": "main"},
            "still": {"tree": "stable-rt", "branch": "start"},
        }

    cli.site.write_text(site_text(f"file://{repo[0]}", more))
    cli.store.mark_seen("rt", repo[1]["d"], "regressed", "now")
    done = cli.run("watch", "--once", "--json")
    (name,) = set(done.data)
    inner, *keys = documented("watch")
    assert name == inner
    rows = {row["build_config"]: row for row in done.data[name]}
    assert [set(row) for row in rows.values()] == [set(keys)] * 3
    assert (done.code, rows["gone"]["exit"], rows["gone"]["level"]) == (2, 2, "error")
    assert "no branch 'vanished'" in rows["gone"]["note"]
    assert (rows["rt"]["level"], rows["rt"]["exit"]) == ("unchanged", 0)
    assert (rows["still"]["level"], rows["still"]["good"]) == ("unchanged", repo[1]["a"])
    assert done.err.count("\n") == 1
    assert done.err.startswith("rtbisect: gone: no branch 'vanished'")
    assert not cli.store.names()


@pytest.mark.parametrize(
    ("seen", "good"),
    [
        ((), "a"),
        ((("b", "pass"),), "b"),
        ((("b", "pass"), ("c", "regressed")), "c"),
        ((("b", "pass"), ("c", "undecided")), "b"),
        ((("s", "pass"),), "b"),
        ((("b", "pass"), ("gone", "pass")), "b"),
    ],
    ids=["first sight", "last pass", "told already", "undecided", "rebased", "commit is gone"],
)
def test_what_watch_compares_a_new_tip_with(cli, repo, seen, good):
    shas = repo[1] | {"gone": "1" * 40}
    for name, level in seen:
        cli.store.mark_seen("rt", shas[name], level, "now")
    (row,) = cli.run("watch", "--once", "--json").data["trees"]
    # There is no lab here: the look ends where a campaign would begin.
    assert (row["good"], row["bad"], row["exit"]) == (shas[good], shas["d"], 2)
    assert "make setup" in row["note"]
    assert shas["d"] not in cli.store.seen("rt")


def test_an_unfinished_campaign_runs_or_is_paused(cli):
    request = CampaignRequest("bisect", "s", "rt", "a" * 40, "b" * 40)
    name = cli.store.create("bisect", codec.to_json(CampaignRequest, request), "now")
    StoreJournal(cli.store.database, name)
    assert cli.run("status", "--json").data["campaigns"][0]["state"] == "paused"
    with cli.store.writer():
        StoreJournal(cli.store.database, name)
        assert cli.run("status", "--json").data["campaigns"][0]["state"] == "running"


def test_a_lock_of_ours_is_what_the_program_waits_for(cli):
    cli.state.mkdir()
    with locks.hold(cli.state / "campaign.lock", what="test"):
        (row,) = cli.run("watch", "--once", "--json").data["trees"]
        assert row["exit"] == 5


def test_a_server_is_asked_by_its_url_alone(cli):
    done = cli.run("lab", "check", "https://lava.example.org x")
    assert (done.code, "is no address of a server" in done.err) == (2, True)
    done = cli.run("lab", "check", "http://127.0.0.1:9", "--json")
    assert (done.code, done.data["usable"]) == (3, False)
    assert set(done.data["claims"][0]) == {"claim", "holds", "said"}
