# SPDX-License-Identifier: GPL-2.0-or-later
"""What campaigns that ran wrote against their golden files; RTBISECT_UPDATE_GOLDEN=1 writes them
anew. Of one that writes no mail that is what it told, and its answer for a person and a program;
of each, what is seen on a terminal from time to time.
"""

import json
from dataclasses import replace

import pytest

from helpers.golden import is_golden
from helpers.recorded import GOLDENS, MAILABLE, NAMES, recording, rewritten
from helpers.screens import text_of
from rtbisect.cli import app
from rtbisect.errors import Exit
from rtbisect.evidence.bundle import alike
from rtbisect.model.campaign import CampaignKind
from rtbisect.report.lint.rules import lint

pytestmark = pytest.mark.words

#: Exit codes of a command that has answered.
ANSWERS = (Exit.ANSWERED, Exit.REGRESSED, Exit.UNDECIDED)


def nine_digits(number):
    return float(f"{float(number):.9g}")


def printed(found, capsys, *words):
    """What the program prints of the campaign."""
    shows = "resume" if found.campaign.startswith(CampaignKind.CHECK) else "status"
    assert app.run(["--state", str(found.store.state), shows, *words]) in ANSWERS
    return capsys.readouterr().out


def files(found, capsys):
    """What it wrote, by what stands behind its name."""
    if found.report is None:
        told = "".join(f"{line}\n" for line in found.told)
        # Another processor adds in another order.
        data = json.loads(printed(found, capsys, "--json"), parse_float=nine_digits)
        return {
            "txt": told + printed(found, capsys),
            "json": json.dumps(data, indent=1, sort_keys=True) + "\n",
        }
    answers = {f"{check}.eml": text for check, text in found.answers.items()}
    return {"eml": found.report.eml, "log": found.report.story} | answers


@pytest.mark.parametrize("name", NAMES)
def test_what_a_recorded_campaign_writes_is_in_its_golden_files(
    name, tmp_path, monkeypatch, capsys
):
    document, held = recording(name)
    found = rewritten(document, tmp_path, monkeypatch)
    # From another origin more is shown, and a gate passes that did not.
    assert alike(*(replace(result, gates=(), table=()) for result in (held, found.result)))
    written = files(found, capsys)
    for suffix, text in written.items():
        is_golden(GOLDENS / f"{name}.{suffix}", text)
        assert not suffix.endswith("eml") or lint(text.encode()) == ()
    is_golden(GOLDENS / f"{name}.screen", text_of(found.seen), "utf-8")
    # As other people get them: `tests/integration/mail/test_recorded.py`.
    public = ["public.eml", "withdrawal.eml", *(f"{each}.public.eml" for each in found.answers)]
    there = {place.name.removeprefix(f"{name}.") for place in GOLDENS.glob(f"{name}.*")}
    assert there == {"screen", *written, *(public if name in MAILABLE else ())}


def test_no_golden_is_left_over():
    assert {path.name.partition(".")[0] for path in GOLDENS.iterdir()} == set(NAMES)
