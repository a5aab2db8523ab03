# SPDX-License-Identifier: GPL-2.0-or-later
"""Ctrl-C while an answer is written to who reads it no more, as a pager that waits."""

import pytest

from rtbisect.cli import output
from rtbisect.cli.output import Output


def test_an_answer_that_is_interrupted_is_not_written_again_at_the_end(tmp_path, monkeypatch):
    """The end of the process would wait for the reader, and hear no second Ctrl-C."""
    dropped = []

    def blocked(_stream, _text):
        raise KeyboardInterrupt

    monkeypatch.setattr(output, "write", blocked)
    monkeypatch.setattr(output, "drop_stdout", lambda: dropped.append(True))
    with pytest.raises(KeyboardInterrupt):
        Output(tmp_path).answer({}, "text")
    assert dropped == [True]
