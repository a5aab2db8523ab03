# SPDX-License-Identifier: GPL-2.0-or-later
import gzip
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.lab_logs import request
from helpers.windows import select
from rtbisect.errors import ConfigError
from rtbisect.lab import initramfs
from rtbisect.lab.initramfs import Inputs, Member
from rtbisect.store.artefacts import ArtefactStore

LAVA_JOBS = Path(__file__).parents[3] / "lava-jobs"


def read_newc(data):
    """An independent reader: name -> (mode, data), after the kernel's buffer-format.rst."""
    found, at = {}, 0
    while True:
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = data[at + 110 : at + 110 + name_size - 1].decode()
        at = (at + 110 + name_size + 3) & ~3
        if name == "TRAILER!!!":
            return found
        found[name] = (mode, data[at : at + size])
        assert fields[2:4] == [0, 0]
        assert fields[5] == 0
        at = (at + size + 3) & ~3


@pytest.fixture
def inputs(tmp_path):
    jobs = tmp_path / "lava-jobs"
    for name, text in {
        "initramfs/init": "#!/bin/sh\n",
        "suites/lib.sh": "# lib\n",
        "suites/ipi/ipi.sh": "# ipi\n",
        "suites/ipi/count.c": "int main(void) { return 0; }\n",
        "suites/rcu/Kbuild": "obj-m := m.o\n",
        "suites/rcu/m.c": "#error built against a kernel, not here\n",
    }.items():
        path = jobs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    busybox = tmp_path / "busybox"
    busybox.write_text("#!/bin/sh\nprintf 'busybox\\nsh\\ncat\\n['\n")
    busybox.chmod(0o755)
    return Inputs(jobs, busybox)


def build(inputs, tmp_path):
    artefacts = ArtefactStore(tmp_path / "artefacts")
    sha256 = initramfs.base(inputs, artefacts, tmp_path / "index")
    return sha256, read_newc(gzip.decompress(artefacts.path(sha256).read_bytes()))


def test_names_sizes_and_padding_survive():
    members = [Member("a", stat.S_IFREG | 0o644, b"x" * n) for n in range(1)]
    members += [Member(f"d/{'n' * n}", stat.S_IFREG | 0o755, b"y" * n) for n in range(1, 9)]
    data = initramfs.newc(members)
    assert len(data) % 512 == 0
    assert read_newc(data) == {m.path: (m.mode, m.data) for m in members}


def test_the_ramdisk_has_everything(inputs, tmp_path):
    _, found = build(inputs, tmp_path)
    assert found["init"] == (stat.S_IFREG | 0o755, b"#!/bin/sh\n")
    assert found["bin/cat"] == (stat.S_IFLNK | 0o777, b"busybox")
    assert stat.S_ISREG(found["bin/busybox"][0])
    assert found["opt/rtbisect/suites/ipi.sh"][1] == b"# ipi\n"
    values = initramfs.device_values().encode()
    assert found["opt/rtbisect/values.sh"] == (stat.S_IFREG | 0o644, values)
    assert found["opt/rtbisect/bin/count"][1].startswith(b"\x7fELF")
    assert "opt/rtbisect/bin/m" not in found
    for folder in ("proc", "sys", "dev", "tmp", "opt/rtbisect/modules"):
        assert stat.S_ISDIR(found[folder][0])
    order = list(found)
    assert all(
        order.index(str(Path(name).parent)) < order.index(name) for name in order if "/" in name
    )


def test_the_same_inputs_give_the_same_bytes(inputs, tmp_path):
    one, _ = build(inputs, tmp_path / "one")
    other, _ = build(inputs, tmp_path / "other")
    assert one == other


def test_it_is_built_once_and_again_when_an_input_changes(inputs, tmp_path):
    first, _ = build(inputs, tmp_path)
    compiler = tmp_path / "gcc"
    compiler.write_text('#!/bin/sh\n[ "$1" = --version ] && exec gcc "$@"\nexit 1\n')
    compiler.chmod(0o755)
    lazy = Inputs(inputs.lava_jobs, inputs.busybox, str(compiler))
    again, _ = build(lazy, tmp_path)
    assert again == first
    (inputs.lava_jobs / "suites/lib.sh").write_text("# changed\n")
    with pytest.raises(ConfigError):
        build(lazy, tmp_path)
    changed, _ = build(inputs, tmp_path)
    assert changed != first


def test_it_is_built_again_when_the_values_of_the_device_change(inputs, tmp_path, monkeypatch):
    first, _ = build(inputs, tmp_path)
    monkeypatch.setattr(initramfs, "device_values", lambda: "CLOCK_READER=other\n")
    assert build(inputs, tmp_path)[0] != first


def test_a_ramdisk_that_was_cleaned_up_is_built_again(inputs, tmp_path):
    sha256, _ = build(inputs, tmp_path)
    ArtefactStore(tmp_path / "artefacts").path(sha256).unlink()
    assert build(inputs, tmp_path)[0] == sha256


def test_a_source_that_does_not_compile_is_named(inputs, tmp_path):
    (inputs.lava_jobs / "suites/ipi/count.c").write_text("int main(void) { return x; }\n")
    with pytest.raises(ConfigError, match=r"count\.c"):
        build(inputs, tmp_path)


def test_two_programs_of_one_name_are_refused(inputs, tmp_path):
    twin = inputs.lava_jobs / "workloads/load/count.c"
    twin.parent.mkdir(parents=True)
    twin.write_text("int main(void) { return 1; }\n")
    with pytest.raises(ConfigError, match=r"two files .* count\.c"):
        build(inputs, tmp_path)


def test_something_that_is_no_busybox_is_refused(inputs, tmp_path):
    with pytest.raises(ConfigError, match="no busybox"):
        build(Inputs(inputs.lava_jobs, Path("/bin/true")), tmp_path)


def test_a_suite_borrows_programs_of_this_machine_with_their_libraries(inputs, tmp_path):
    (inputs.lava_jobs / "suites/ipi/host-programs").write_text("ls\n")
    plain, members = build(inputs, tmp_path)
    assert "usr/bin/ls" not in members
    asked, members = build(replace(inputs, suites=("ipi", "osnoise")), tmp_path)
    assert asked != plain
    assert members["usr/bin/ls"][1] == Path(shutil.which("ls")).read_bytes()
    libraries = [name for name in members if ".so" in name]
    assert any("ld-linux" in name for name in libraries)
    for name in libraries:
        for parent in list(Path(name).parents)[:-1]:
            assert str(parent) in members


def test_the_workload_of_a_site_comes_along(inputs, tmp_path):
    program = tmp_path / "motion-control"
    program.write_text("#!/bin/sh\necho ready\n")
    before, _members = build(inputs, tmp_path)
    after, members = build(replace(inputs, workload=program), tmp_path)
    place = "opt/rtbisect/bin/site-workload"
    assert after != before
    assert members[place] == (stat.S_IFREG | 0o755, program.read_bytes())


def test_a_program_that_is_not_here_is_named(inputs, tmp_path):
    (inputs.lava_jobs / "suites/ipi/host-programs").write_text("no-such-tool\n")
    with pytest.raises(ConfigError, match="the suite ipi needs no-such-tool"):
        build(replace(inputs, suites=("ipi",)), tmp_path)


def test_the_real_scripts_and_programs_are_found():
    assert {"lib.sh", "run-windows.sh", "preflight.sh", "osnoise.sh"} <= set(
        initramfs.scripts(LAVA_JOBS)
    )
    assert set(initramfs.programs(LAVA_JOBS)) == {
        "epollstall",
        "epolltput",
        "fifo",
        "irqsnap",
        "latfold",
        "noisefold",
        "perf_epoll_reader",
    }


def test_boots_that_measure_less_have_the_same_ramdisk(inputs, tmp_path, monkeypatch):
    store = ArtefactStore(tmp_path / "store")
    asked = []
    monkeypatch.setattr(initramfs, "base", lambda inputs, *_: asked.append(inputs.suites))
    for windows in (("pf-on", "rcu-off"), ("rcu-off",)):
        short = request(select(windows), aboard=("ipi", "rcu"))
        initramfs.of_request(short, inputs, store, tmp_path / "index")
    assert asked == [("ipi", "rcu")] * 2
