# SPDX-License-Identifier: GPL-2.0-or-later
"""The compiler behind ccache.

ccache hashes the output of the preprocessor of whatever it has not met, which then runs again
within the compiler: a quarter of the time of a first build. Its depend mode takes the names of
what a file includes from the file that gcc writes for make, and spares that. It does not see what
an assembler directive `.incbin` includes: an object could hold bytes of another revision, and so
could an image. So it is left to C files without one; the kernel has them in assembler files and in
three C files that nothing includes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from rtbisect.kernel.sandbox import CCACHE
from rtbisect.trees.plumbing import Git

if TYPE_CHECKING:
    from pathlib import Path

#: Our file beside the fragments: what make calls, with the compiler behind it.
WRAPPER = "compile"

#: Size that the cache may have, in the syntax of ccache.
_SIZE = "5G"

#: Bytes that the preprocessor leaves as they are; ccache looks for them, too.
_DIRECTIVE = "incbin"

#: kbuild names what it compiles last. Whatever it asks of the compiler otherwise is not cached.
SPARING = f"""\
#!/bin/sh
for last; do :; done
case $last in
*.c) grep -q {_DIRECTIVE} "$last" || export CCACHE_DEPEND=1 ;;
esac
exec ccache "$@"
"""
PLAIN = """\
#!/bin/sh
exec ccache "$@"
"""

_GREP_S = 300.0
#: C files with such a directive that are looked up; the kernel has three.
_MOST_FILES = 100


def environment(tools: str) -> dict[str, str]:
    """Variables of a build; `tools` are those that its objects depend on."""
    return {
        "CCACHE_DIR": CCACHE,
        "CCACHE_COMPILERCHECK": "content",
        # It knows the compiler by itself, and not the assembler behind it.
        "CCACHE_NAMESPACE": hashlib.sha256(tools.encode()).hexdigest()[:16],
        "CCACHE_MAXSIZE": _SIZE,
    }


def script(source: Path) -> str:
    """Text of the wrapper for the tree that is checked out at `source`."""
    git = Git(source)
    done = git.try_("grep", "-l", "-z", "-F", _DIRECTIVE, "--", "*.c", "*.h", timeout_s=_GREP_S)
    if done.returncode == 1:
        return SPARING
    names = done.stdout.split("\0")[:-1]
    alone = all(name.endswith(".c") for name in names) and len(names) <= _MOST_FILES
    if not done.ok or not alone:
        return PLAIN
    # A C file that includes another one ends the name with a quotation mark or a bracket.
    ends = {f"{name.rpartition('/')[2]}{mark}" for name in names for mark in '">'}
    words = [word for end in sorted(ends) for word in ("-e", end)]
    included = git.try_("grep", "-q", "-F", *words, "--", "*.c", "*.h", timeout_s=_GREP_S)
    return SPARING if included.returncode == 1 else PLAIN
