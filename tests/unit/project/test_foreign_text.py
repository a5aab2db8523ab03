# SPDX-License-Identifier: GPL-2.0-or-later
"""Regular expressions that take the square of a text see a bounded part of it, however long foreign
text is. What they are given is counted, not how long they take.
"""

import pytest

from rtbisect.lab import classify
from rtbisect.model.finding import Finding
from rtbisect.model.kinds.mail import Ignored
from rtbisect.report import policy
from rtbisect.trees import patches
from rtbisect.trees.mime import UnreadableError

LONG = 1_000_000
DIFF = b"\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


class Counted:
    """A pattern, and the longest text that it was given."""

    def __init__(self, pattern):
        self.pattern, self.most = pattern, 0

    def __getattr__(self, name):
        def call(text, *more):
            self.most = max(self.most, len(text))
            return getattr(self.pattern, name)(text, *more)

        return call


def counted(monkeypatch, place, name):
    found = Counted(getattr(place, name))
    monkeypatch.setattr(place, name, found)
    return found


@pytest.mark.parametrize("mark", ["[1/1", "[", "Re: ", "[x] ", "x"])
def test_the_subject_of_a_patch(monkeypatch, mark):
    pattern = counted(monkeypatch, patches, "_NUMBER")
    subject = (mark * (LONG // len(mark))).encode()
    (found,) = patches.patches_of(b"Subject: " + subject + b"\n" + DIFF)
    assert 0 < pattern.most <= patches.MOST_SUBJECT
    assert len(found.title) <= 200


def test_a_folded_subject_of_a_series_is_found_all_the_same():
    (found,) = patches.patches_of(b"Subject: [PATCH\n v2 1/1] x: mend\n it\n" + DIFF)
    assert found.title == "x: mend it"


@pytest.mark.parametrize("begin", [b"", b"From a\n"])
def test_patches_in_parts_within_parts_are_not_taken_apart(begin):
    part = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"
    with pytest.raises(UnreadableError) as caught:
        patches.patches_of(begin + part * 100 + DIFF)
    assert caught.value.why == Finding.of(Ignored.NESTED_PARTS)


def test_a_line_of_a_console(monkeypatch):
    names = ("_PANICS", "_STALLS")
    seen = [Counted(each) for name in names for each in getattr(classify, name)]
    monkeypatch.setattr(classify, "_PANICS", tuple(seen))
    monkeypatch.setattr(classify, "_STALLS", tuple(seen))
    for text in ("watchdog: " * (LONG // 10), "x" * LONG):
        assert classify.panic_of([text]) is classify.stall_of([text]) is None
        assert classify.excerpt([text]) == ()
    assert all(0 < each.most <= 1000 for each in seen)
    told = "[  1.0] Kernel panic - not syncing: Fatal exception" + " x" * LONG
    assert classify.panic_of([told]).signature.startswith("Fatal exception")


def test_a_person_in_a_trailer(monkeypatch):
    pattern = counted(monkeypatch, policy, "_PERSON")
    assert policy.person("Ada  Ad <ada@example.org>") == ("Ada Ad", "ada@example.org")
    policy.person(" " * LONG + "x" * LONG)
    policy.person("x " * LONG + "<a@example.org>")
    assert 0 < pattern.most <= 500
