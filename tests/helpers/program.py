# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of the program, without what its imports take for each: a process that has imported it
forks for every command. Words, environment, folder and streams are those of the command; what an
interpreter does when it starts is not shown, so tests of that start the program themselves.
"""

import atexit
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path


@cache
def _parent():
    """The process that forks, one for each worker of pytest."""
    found = subprocess.Popen(
        [sys.executable, "-I", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"LC_ALL": "C.UTF-8"}, start_new_session=True,
    )  # fmt: skip
    atexit.register(found.communicate)
    return found


def run(words, *, cwd, env, timeout_s=120, errors="strict"):
    """What `subprocess.run` of the program gives, with both outputs as text."""
    parent = _parent()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("out", "err")]
        asked = {"words": [str(word) for word in words], "cwd": str(cwd), "env": dict(env)}
        parent.stdin.write(json.dumps(asked | {"files": [str(file) for file in files]}) + "\n")
        parent.stdin.flush()
        if not select.select([parent.stdout], [], [], timeout_s)[0]:
            os.killpg(parent.pid, signal.SIGKILL)
            _parent.cache_clear()
            raise subprocess.TimeoutExpired(asked["words"], timeout_s)
        answer = parent.stdout.readline()
        assert answer, f"the process that forks has ended with {parent.wait()}"
        code = int(answer)
        out, err = (file.read_text("utf-8", errors) for file in files)
    return subprocess.CompletedProcess(asked["words"], code, out, err)


def _begin(asked):
    """In the child: what a shell does between fork and exec, then the door of the program."""
    from rtbisect.cli import main

    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.argv = ["rtbisect", *asked["words"]]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream, file in enumerate(asked["files"], 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    os.closerange(3, 64)
    main.entry()


def _serve():
    # What takes the time: also what the program imports where a search needs it.
    for name in ("scipy.stats", "scipy.optimize", "alembic.command"):
        import_module(name)
    list(import_module("rtbisect.cli.app").COMMANDS.values())

    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _begin(json.loads(line))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(1, f"{code}\n".encode())


if __name__ == "__main__":
    _serve()
