# SPDX-License-Identifier: GPL-2.0-or-later
"""How the benchmark of the compiler cache reads what kbuild has compiled."""

import pytest

import bench_compile

GCC = "gcc -Wp,-MMD,kernel/.fork.o.d -I/build/src/include -DNAME='\"fork\"' -c -o kernel/fork.o"


@pytest.mark.parametrize("cache", ["ccache", "/build/fragments/compile"])
@pytest.mark.parametrize("behind", ["", " ; ./tools/objtool/objtool --mcount kernel/fork.o"])
def test_a_compilation_goes_to_a_folder_of_its_own(tmp_path, cache, behind):
    saved = f"savedcmd_kernel/fork.o := {cache} {GCC} /build/src/kernel/fork.c{behind}\n\nmore\n"
    (tmp_path / ".fork.o.cmd").write_text(saved)
    (tmp_path / ".head.o.cmd").write_text(saved.replace("fork.c", "head.S"))
    (tmp_path / ".all.o.cmd").write_text("savedcmd_all.o := ld -r -o all.o a.o\n")
    folder, tree = tmp_path / "x", tmp_path / "tree"
    (argv,) = bench_compile.compilations(tmp_path, tree)
    words = f'gcc -Wp,-MMD,{folder}/x.d -I{tree}/include -DNAME="fork" -c -o {folder}/x.o'
    assert bench_compile.to_folder(argv, folder) == [*words.split(), f"{tree}/kernel/fork.c"]
