# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions a change of a source changes, by objects that a real compiler makes."""

import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtbisect.kernel import functions
from rtbisect.kernel.elf import NotElfError
from rtbisect.kernel.functions import table

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc, as builds do")


def changed(parent, culprit):
    return tuple(each.name for each in functions.changed(parent, culprit))


SOURCE = """\
extern int printf(const char *, ...);
extern int outside(int);
extern volatile int seen;
static volatile int mine, other;
static volatile char flag;
static const int shape[4] = {1, 2, 3, 4};

/* MORE */
__attribute__((noinline)) static int first(int a) { return outside(a) + FIRST; }
__attribute__((noinline)) static int second(int a) { mine = a; return a * 3; }
int caller(int a)
{
    printf("one %d\\n", a);
    if (flag)
        return second(a) + 1;
    return second(a) + first(a) + mine;
}
int table_of(int a) { other = a; flag = 1; return shape[a & 3] + other; }
int chooses(int a)
{
    switch (a) {
    case 0: return outside(1); case 1: return outside(7); case 2: return mine;
    case 3: return seen; case 4: return 12 + outside(3); case 5: return TEXT;
    default: return 0;
    }
}
int last(int a) { return printf("two\\n") + a; }
"""


@pytest.fixture
def built(tmp_path):
    def build(name="a", more="", first="1", text="outside(9)", flags=()):
        source = tmp_path / f"{name}.c"
        content = SOURCE.replace("/* MORE */", more).replace("FIRST", first)
        source.write_text(content.replace("TEXT", text))
        path = tmp_path / f"{name}.o"
        options = ["-O2", "-fno-pic", "-mcmodel=kernel", "-ffreestanding", *flags]
        subprocess.run(["gcc", *options, "-c", source, "-o", path], check=True, cwd=tmp_path)
        return table(path)

    return build


#: Code, data and strings in front of all others.
MORE = """\
static volatile long before[5] = {7};
const char *name_of(int a) { static int calls; calls++; return a ? "much more" : "one"; }
long more(int a)
{
    before[a] += outside(a) * 77;
    printf("another %ld\\n", before[1]);
    return before[2];
}
"""


def test_only_what_changes_is_named(built):
    assert changed(built(), built("b")) == ()
    assert changed(built(), built("b", first="outside(2)")) == ("first",)
    assert changed(built(), built("b", text="outside(8)")) == ("chooses",)


def test_what_moves_does_not_change(built):
    """Calls of static functions have their distance in the code, strings and data their place."""
    assert changed(built(), built("b", more=MORE)) == ("more", "name_of")
    assert changed(built("b", more=MORE), built()) == ()
    both = built("b", more=MORE, first="outside(2) * outside(3)")
    assert changed(built(), both) == ("first", "more", "name_of")


def test_a_kernel_in_another_layout_has_the_same_functions(built):
    assert changed(built(), built("b", flags=["-falign-functions=128"])) == ()


def test_another_text_is_another_code(built, tmp_path):
    """A message is told by its place; here places count by what is there."""
    path = tmp_path / "c.c"

    def of(text):
        path.write_text(f'extern int f(const char *);\nint g(void) {{ return f("{text}"); }}\n')
        subprocess.run(["gcc", "-O2", "-fno-pic", "-c", path, "-o", tmp_path / "c.o"], check=True)
        return table(tmp_path / "c.o")

    assert changed(of("one"), of("two")) == ("g",)
    assert changed(of("one"), of("one")) == ()


BOOTS = """\
extern int outside(int);
#define KEPT __attribute__((noinline, noipa))
KEPT static int sets(int a) {{ return outside(a) + {n}; }}
KEPT static int jumped(int a) {{ return outside(a) * {n}; }}
KEPT static int handed(int a) {{ return outside(a) - {n}; }}
KEPT static int later(int a) {{ return outside(a) ^ {n}; }}
int part(int a) __asm__("whole.part.0");
KEPT int part(int a) {{ return outside(a) | {n}; }}
KEPT int whole(int a) {{ return a ? part(a) : {n}; }}
int (*told)(int);
int user(int a) {{ return later(a) + sets(a) + jumped(a); }}
__attribute__((section(".init.text"))) int begin(int a)
{{
    told = handed;
    if (a > 3)
        return sets(a) + part(a) + {n};
    return jumped(a);
}}
"""


def test_what_runs_at_boot_is_told(tmp_path):
    """Code that is freed after booting, and what it calls; not what it only has the address of."""

    def of(number):
        source, path = tmp_path / f"{number}.c", tmp_path / f"{number}.o"
        source.write_text(BOOTS.format(n=number))
        options = ["-O2", "-fno-pic", "-mcmodel=kernel", "-ffreestanding"]
        subprocess.run(["gcc", *options, "-c", source, "-o", path], check=True)
        return table(path)

    found = {each.name: each.at_boot for each in functions.changed(of(6), of(7))}
    assert found == {
        "begin": True,
        "handed": False,
        "jumped": True,
        "later": False,
        "sets": True,
        "whole": True,
        "whole.part.0": True,
    }


def test_functions_of_one_name_are_counted(tmp_path):
    """Two objects may each have a static function of a name; one of them changes."""

    def linked(*bodies):
        objects = []
        for number, body in enumerate(bodies):
            source = tmp_path / f"{number}.c"
            source.write_text(
                "extern int f(int);\n"
                f"__attribute__((noinline)) static int same(int a) {{ return {body}; }}\n"
                f"int user{number}(int a) {{ return same(a) + 1; }}\n"
            )
            objects.append(tmp_path / f"{number}.o")
            subprocess.run(["gcc", "-O2", "-fno-pic", "-c", source, "-o", objects[-1]], check=True)
        subprocess.run(["ld", "-r", *objects, "-o", tmp_path / "whole.o"], check=True)
        return table(tmp_path / "whole.o")

    one = linked("f(a) * 2", "f(a) * 3")
    assert changed(one, linked("f(a) * 3", "f(a) * 2")) == ()
    assert changed(one, linked("f(a) * 2", "f(a) * 5")) == ("same",)


def test_what_is_no_object_is_refused(tmp_path, built):
    path = tmp_path / "x.o"
    path.write_bytes(b"\x7fELF nothing")
    with pytest.raises(NotElfError, match=r"x\.o is not a readable ELF file"):
        table(path)
    built()
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", tmp_path / "main.c", "-o", path], check=True)
    with pytest.raises(NotElfError):
        table(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_that_lies_is_refused_or_read(tmp_path, built, data):
    path = tmp_path / "a.o"
    if not path.exists():
        built()
    whole = path.read_bytes()
    places = st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=20)
    hostile = bytearray(whole)
    for at, value in data.draw(places):
        hostile[at] = value
    other = tmp_path / "other.o"
    other.write_bytes(hostile[: data.draw(st.integers(1, len(hostile)))])
    try:
        found = table(other)
    except NotElfError:
        return
    assert isinstance(changed(found, found), tuple)


def test_functions_that_lie_in_each_other_are_no_endless_work(tmp_path):
    """A thousand symbols on the whole of one section."""
    lines = [".text", "begin: .fill 100000"]
    for number in range(1000):
        lines += [f".type f{number}, @function", f".set f{number}, begin"]
        lines += [f".size f{number}, {100000 - number}"]
    (tmp_path / "x.s").write_text("\n".join(lines) + "\n")
    subprocess.run(["as", tmp_path / "x.s", "-o", tmp_path / "x.o"], check=True)
    with pytest.raises(NotElfError):
        table(tmp_path / "x.o")
