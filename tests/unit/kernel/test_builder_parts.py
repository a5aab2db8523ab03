# SPDX-License-Identifier: GPL-2.0-or-later
"""Build records, preflight, the sandbox's command line, and the fake builder."""

import dataclasses
import json
from pathlib import Path

import pytest

from rtbisect.errors import ConfigError, InfrastructureError
from rtbisect.kernel.cache import BuildCache, cache_key
from rtbisect.kernel.fake import FakeBuilder
from rtbisect.kernel.preflight import HEADERS, TOOLS, BuildHost, judge, look
from rtbisect.kernel.sandbox import Sandbox
from rtbisect.model.code import Build, BuildRequest, BuildStatus
from rtbisect.store.artefacts import ArtefactStore

REQUEST = BuildRequest(
    revision="r1",
    config_name="rt",
    base="tinyconfig",
    fragments=("CONFIG_A=y",),
    modules=(("a.c", "int a;"),),
    variant="v",
)


class TestCache:
    def key(self, **fields) -> str:
        return cache_key("t" * 40, dataclasses.replace(REQUEST, **fields), "gcc 12", "quiet")

    def test_key_has_no_revision_and_no_freshness(self):
        assert self.key() == self.key(revision="r2", fresh=True)

    def test_key_has_everything_else(self):
        keys = {
            self.key(),
            self.key(config_name="x"),
            self.key(base="x"),
            self.key(fragments=("CONFIG_A=y", "")),
            self.key(modules=()),
            self.key(variant=""),
            cache_key("u" * 40, REQUEST, "gcc 12", "quiet"),
            cache_key("t" * 40, REQUEST, "gcc 13", "quiet"),
            cache_key("t" * 40, REQUEST, "gcc 12", ""),
        }
        assert len(keys) == 9

    @pytest.fixture
    def store(self, tmp_path: Path) -> ArtefactStore:
        return ArtefactStore(tmp_path / "artefacts")

    def build(self, store: ArtefactStore) -> Build:
        kernel, config = store.put_bytes(b"kernel"), store.put_bytes(b"config")
        return Build(
            revision="r1",
            config_name="rt",
            status=BuildStatus.OK,
            signature="s",
            kernel=kernel,
            modules="",
            config=config,
            seconds=9.0,
        )

    def test_gives_the_record_to_another_revision(self, tmp_path, store):
        cache, build = BuildCache(tmp_path / "records", store), self.build(store)
        cache.put("k", build)
        assert cache.get("k", "r2") == dataclasses.replace(
            build, revision="r2", reused=True, seconds=0.0
        )
        assert cache.get("other", "r2") is None

    def test_a_record_without_its_artefacts_is_none(self, tmp_path, store):
        cache, build = BuildCache(tmp_path / "records", store), self.build(store)
        cache.put("k", build)
        store.path(build.config).unlink()
        assert cache.get("k", "r1") is None

    def test_a_build_whose_id_was_not_looked_for_is_built_again(self, tmp_path, store):
        cache, build = BuildCache(tmp_path / "records", store), self.build(store)
        cache.put("k", build)
        place = tmp_path / "records/k.json"
        fields = json.loads(place.read_text())
        del fields["build_id"]
        place.write_text(json.dumps(fields))
        assert cache.get("k", "r1") is None

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"status": "odd"}', '{"status": "ok"}'])
    def test_a_broken_record_is_none(self, tmp_path, store, text):
        (tmp_path / "records").mkdir()
        (tmp_path / "records" / "k.json").write_text(text)
        assert BuildCache(tmp_path / "records", store).get("k", "r1") is None

    def test_a_disk_that_refuses(self, tmp_path, store):
        (tmp_path / "records").write_text("a file")
        with pytest.raises(InfrastructureError, match="cannot keep a build record"):
            BuildCache(tmp_path / "records", store).put("k", self.build(store))


class TestPreflight:
    ABLE = BuildHost(frozenset(TOOLS), frozenset(HEADERS[:1]), 9 * 10**9, 3 * 2**30)

    def test_an_able_host(self, tmp_path):
        judge(self.ABLE, tmp_path)

    def test_missing_packages_are_named_at_once(self, tmp_path):
        tools = frozenset(TOOLS) - {"flex", "bwrap"}
        host = dataclasses.replace(self.ABLE, tools=tools, headers=frozenset())
        with pytest.raises(ConfigError, match=r"flex, bwrap, libelf\.h not installed") as caught:
            judge(host, tmp_path)
        assert caught.value.hint == "run `apt-get install flex bubblewrap libelf-dev`"

    def test_disk_and_memory(self, tmp_path):
        with pytest.raises(InfrastructureError, match=r"7\.0 GB are free"):
            judge(dataclasses.replace(self.ABLE, disk_bytes=7 * 10**9), tmp_path)
        with pytest.raises(InfrastructureError, match=r"1\.5 GiB of memory"):
            judge(dataclasses.replace(self.ABLE, memory_bytes=3 * 2**29), tmp_path)

    def test_looks_at_this_host(self, tmp_path):
        def which(tool: str) -> str | None:
            return None if tool == "flex" else tool

        host = look(tmp_path / "not" / "yet", which)
        assert host.tools == frozenset(TOOLS) - {"flex"}
        assert host.disk_bytes > 0
        assert host.memory_bytes > 2**20


class TestSandbox:
    def argv(self, tmp_path: Path, *, as_root: bool) -> list[str]:
        names = ("source", "out", "modules", "fragments", "ccache")
        (tmp_path / "source" / ".git").mkdir(parents=True)
        folders = {name: tmp_path / name for name in names}
        return Sandbox(**folders, env={"A": "b"}, as_root=as_root, uid=70001).argv(
            ["make", "all"], rules=9, counted=False
        )

    def test_root_becomes_somebody_else_without_a_user_namespace(self, tmp_path):
        argv = self.argv(tmp_path, as_root=True)
        assert "--unshare-user" not in argv
        inside = argv[argv.index("--") :]
        assert "--reuid=70001" in inside
        assert inside.index("setpriv") < inside.index("make")

    def test_a_service_user_gets_a_user_namespace(self, tmp_path):
        argv = self.argv(tmp_path, as_root=False)
        assert "--unshare-user" in argv
        assert "setpriv" not in argv

    @pytest.mark.parametrize("as_root", [True, False])
    def test_what_is_shared(self, tmp_path, as_root):
        argv = self.argv(tmp_path, as_root=as_root)
        assert {"--unshare-net", "--unshare-pid", "--clearenv", "--as-pid-1"} <= set(argv)
        writable = [argv[at + 2] for at, word in enumerate(argv) if word == "--bind"]
        assert writable == ["/build/out", "/build/mod", "/build/ccache"]
        readable = [argv[at + 1] for at, word in enumerate(argv) if word == "--ro-bind"]
        assert readable == ["/usr", str(tmp_path / "source"), str(tmp_path / "fragments")]
        assert argv[argv.index("/build/src/.git") - 1] == "--tmpfs"
        assert argv[argv.index("A") - 1 : argv.index("A") + 2] == ["--setenv", "A", "b"]
        assert argv[-2:] == ["make", "all"]

    def test_a_work_tree_hides_its_pointer(self, tmp_path):
        (tmp_path / ".git").write_text("gitdir: /elsewhere\n")
        box = Sandbox(
            source=tmp_path, out=tmp_path, modules=tmp_path, fragments=tmp_path, ccache=tmp_path
        )
        argv = box.argv(["true"], rules=9, counted=True)
        assert argv[argv.index("/build/src/.git") - 2 :][:2] == ["--ro-bind", "/dev/null"]


class TestFakeBuilder:
    def build(self, fake: FakeBuilder, revision: str, **fields) -> Build:
        wanted = dataclasses.replace(REQUEST, revision=revision, **fields)
        return fake.build(Path("unused"), wanted, lambda _: None)

    def test_fails_and_shares_signatures_as_told(self):
        fake = FakeBuilder(failing={"c": "a.c:1: error"}, same_as={"b": "a"})
        a, b, c, d = (self.build(fake, name) for name in "abcd")
        assert a.signature == b.signature != d.signature
        assert (c.status, c.first_error, c.kernel) == (BuildStatus.FAILED, "a.c:1: error", "")
        assert [wanted.revision for wanted in fake.requests] == list("abcd")

    def test_reuses_unless_fresh(self):
        fake = FakeBuilder()
        builds = [self.build(fake, "a", fresh=fresh) for fresh in (False, False, True)]
        assert [build.reused for build in builds] == [False, True, False]
        assert len({build.signature for build in builds}) == 1

    def test_raises_once(self):
        fake = FakeBuilder(raising={"a": InfrastructureError("no power")})
        with pytest.raises(InfrastructureError, match="no power"):
            self.build(fake, "a")
        assert self.build(fake, "a").ok

    def test_keeps_artefacts_in_a_store(self, tmp_path):
        build = self.build(FakeBuilder(store=ArtefactStore(tmp_path)), "a")
        assert b"kernel" in ArtefactStore(tmp_path).path(build.kernel).read_bytes()
