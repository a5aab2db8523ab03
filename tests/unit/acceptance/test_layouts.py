# SPDX-License-Identifier: GPL-2.0-or-later
"""One kernel in several code layouts, booted in turns; and the command that asks for it."""

import json
import math
import os
import re
import time
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from helpers.campaigns import ROOT, Quiet, sha, with_kernel, world
from rtbisect.acceptance import layouts
from rtbisect.cli import app
from rtbisect.errors import BusyError, Exit, InfrastructureError
from rtbisect.lab.fake import FakeLab
from rtbisect.model.code import RELINKED, seed_of
from rtbisect.model.facts import LAYOUT_SEED
from rtbisect.model.kinds.boot import Boots
from rtbisect.model.kinds.layouts import Layouts
from rtbisect.model.lab import Measurement, RunStatus
from rtbisect.model.layouts import LayoutAdvice
from rtbisect.model.ports import NoNote
from rtbisect.model.subject import RunOrder
from rtbisect.store.kept_boots import KEPT_S, KeptBoots
from rtbisect_labkit.demo.cases import CASES, site_text

PLAN = layouts.LayoutPlan(layouts=4, boots=3, seed=7)
SITE = (ROOT / "bisect/rtbisect_labkit/demo/site.yaml").read_text("utf-8")
FIGURES = (
    ("ipi", "res_per_iwi", "pf-on", "1"),
    ("ipi", "res_per_s", "osnoise-off", "1/s"),
    ("osnoise", "irq_per_sample", "osnoise-off", "1"),
    ("rcu", "p50_us", "rcu-off", "us"),
)


class Heard(Quiet):
    """A screen that keeps what it is told."""

    def __init__(self):
        self.said, self.steps = [], []

    def say(self, line):
        self.said.append(line)

    def step(self, what, done, total, left):
        self.steps.append((what, done, total, left))


def lab_of(of_layouts, script=None, noise=0.01):
    """A lab whose figures have this noise of boots and of images, as a share."""

    def draw(request, random):
        level = Random(request.kernel).gauss(0, of_layouts)
        times = math.exp(level + random.gauss(0, noise))
        values = (0.05 * times, 20.0 * times, 3.0 * times, 6000.0 * times)
        return [
            Measurement(suite=suite, name=name, window=window, value=value, unit=unit)
            for (suite, name, window, unit), value in zip(FIGURES, values, strict=True)
        ]

    return FakeLab(draw, script)


def opened(tmp_path, lab=None, **builder):
    """Set-up and subject of a site with fakes, each boot with a link of its own."""
    place = world(tmp_path, None)
    place.lab = lab or lab_of(0.0)
    for name, value in builder.items():
        setattr(place.builder, name, value)
    setup, parts = place.open()
    build = replace(setup.kernel.build, variant=RELINKED)
    setup, parts = with_kernel(setup, parts, build=build)
    return place, setup, parts.subject


class InMemory(KeptBoots):
    """Boots of which nothing is written."""

    def add(self, turn, run):
        self.runs[turn] = run


def boot(subject, plan=PLAN, screen=None, kept=None):
    build = subject.build(sha(3), 0, NoNote())
    screen, kept = screen or Heard(), kept or InMemory(Path())
    return layouts.in_turns(subject, build, plan, screen, lambda _run: None, kept)


def test_boots_of_one_layout_have_one_image(tmp_path):
    _place, _setup, subject = opened(tmp_path)
    build = subject.build(sha(3), 0, NoNote())
    runs = [
        subject.run(build, RunOrder(run_id=name, number=1, linked_as=linked_as), NoNote())
        for name, linked_as in (("a", "one"), ("b", "one"), ("one", ""), ("c", "two"))
    ]
    seeds = [int(dict(run.facts)[LAYOUT_SEED]) for run in runs]
    assert seeds == [seed_of("one")] * 3 + [seed_of("two")]


class TestInTurns:
    def test_each_round_boots_each_layout_once(self, tmp_path):
        place, _setup, subject = opened(tmp_path)
        boots, left_out = boot(subject)
        assert not left_out
        assert [boot.round for boot in boots] == sorted(4 * [0, 1, 2])
        for number in range(3):
            assert {boot.layout for boot in boots if boot.round == number} == {0, 1, 2, 3}
        assert Counter(each.kernel for each in place.lab.requests).most_common()[-1][1] == 3
        assert len({each.run_id for each in place.lab.requests}) == 12
        assert len(place.builder.requests) == 1

    def test_the_order_is_another_one_in_each_round_and_that_of_the_seed(self, tmp_path):
        _place, _setup, subject = opened(tmp_path)
        first, again, other = (
            [boot_.layout for boot_ in boot(subject, replace(PLAN, layouts=8, seed=seed))[0]]
            for seed in (1, 1, 2)
        )
        assert first == again != other
        assert first[:8] != first[8:16]

    def test_a_boot_that_fails_is_told_and_left_out(self, tmp_path):
        script = {sha(3): [RunStatus.COMPLETE, RunStatus.INVALID, RunStatus.HUNG]}
        _place, _setup, subject = opened(tmp_path, lab_of(0.0, script))
        screen = Heard()
        boots, left_out = boot(subject, screen=screen)
        assert (len(boots), len(left_out), len(screen.said)) == (10, 2, 2)
        assert {found.kind for found in left_out} == {Layouts.LEFT_OUT}
        assert left_out[0].data["why"].kind == Boots.FAKE

    def test_so_is_a_link_that_fails(self, tmp_path):
        _place, _setup, subject = opened(tmp_path, unlinkable={sha(3): "ld.lld: no space"})
        boots, left_out = boot(subject)
        assert (len(boots), len(left_out)) == (0, 12)
        assert left_out[0].data["why"].kind == Boots.NOT_LINKED

    def test_a_fault_of_the_lab_is_left_out_and_three_in_a_row_end_it(self, tmp_path):
        fault = InfrastructureError("no answer", "")
        script = [fault, BusyError("in use", ""), RunStatus.COMPLETE, fault]
        _place, _setup, subject = opened(tmp_path, lab_of(0.0, {sha(3): script}))
        boots, left_out = boot(subject)
        assert (len(boots), len(left_out)) == (9, 3)
        assert left_out[0].data["why"] == "no answer"
        subject.lab._script = {sha(3): [fault] * 3}
        with pytest.raises(InfrastructureError, match="no answer"):
            boot(subject)

    def test_tells_how_far_it_is_and_what_is_left(self, tmp_path):
        _place, _setup, subject = opened(tmp_path)
        screen = Heard()
        boot(subject, screen=screen)
        assert [(done, total) for _, done, total, _ in screen.steps] == [(n, 12) for n in range(12)]
        assert [left is None for _, _, _, left in screen.steps] == [True] * 2 + [False] * 10
        assert all(
            0 <= left.low_s <= left.middle_s <= left.high_s
            for _, _, _, left in screen.steps
            if left
        )


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """Calls the command, with fakes for all that a site's lab, tree and builder do; the exit code
    and the answer.
    """

    def call(*words, lab=None, change=lambda text: text, **builder):
        place, _setup, subject = opened(tmp_path / "world", lab, **builder)
        text = site_text(SITE, "/r", CASES["nothing"]).replace(
            "branch: demo", f'branch: "{sha(3)}"'
        )
        (tmp_path / "site.yaml").write_text(change(text))

        def kernels(_state, _site, setup, tree, _screen):
            return replace(subject, kernel=setup.booted, tree=tree)

        monkeypatch.setattr(layouts.assemble, "preflight", lambda *_words: None)
        monkeypatch.setattr(layouts.assemble, "kernels_on_host", kernels)
        monkeypatch.setattr(layouts, "tree_of", lambda *_words: subject.tree)
        argv = ["--state", str(tmp_path / "state"), "host", "layouts", *words, "--json"]
        code = app.run([*argv, "--site", str(tmp_path / "site.yaml")])
        return code, json.loads(capsys.readouterr().out), place

    return call


class TestTheCommand:
    def test_says_that_layouts_matter(self, ask, tmp_path):
        code, told, place = ask("--plot", str(tmp_path / "l.svg"), lab=lab_of(1.0))
        assert (code, told["advice"]) == (Exit.ANSWERED, LayoutAdvice.RELINK)
        assert (told["layouts"], told["boots"], told["measured"]) == (8, 3, 24)
        assert {each.variant for each in place.builder.requests} == {RELINKED}
        results = {row["metric"]: row["result"] for row in told["figures"] if row["primary"]}
        assert set(results.values()) == {"matters"}
        ET.parse(tmp_path / "l.svg")

    def test_says_that_they_do_not(self, ask):
        code, told, _place = ask("--layouts", "6", lab=lab_of(0.0))
        assert (code, told["advice"]) == (Exit.ANSWERED, LayoutAdvice.FIXED)
        row = next(row for row in told["figures"] if row["metric"].startswith("rcu.p50_us"))
        assert row["differ_most"] < row["effect"] == 800.0
        assert [len(values) for values in row["values"]] == [3] * 6
        assert told["emulated"] is True

    def test_asks_for_more_boots(self, ask):
        code, told, _place = ask("--layouts", "2", "--boots", "2", lab=lab_of(0.02, noise=0.2))
        assert (code, told["advice"]) == (Exit.UNDECIDED, LayoutAdvice.MORE_BOOTS)
        row = next(row for row in told["figures"] if row["result"] == "undecided")
        assert row["more"]["layouts"] * row["more"]["boots"] > 4

    def test_tells_what_was_left_out(self, ask):
        script = {sha(3): [RunStatus.HUNG]}
        code, told, _place = ask(lab=lab_of(0.0, script))
        assert code == Exit.ANSWERED
        assert (told["measured"], len(told["left_out"])) == (23, 1)
        assert told["left_out"][0]["why_found"]["kind"] == Layouts.LEFT_OUT

    @pytest.mark.parametrize(
        ("words", "change", "builder", "code"),
        [
            (["rt01"], lambda text: text, {}, Exit.CONFIG),
            ([], lambda text: text.replace("lava-run://localhost/", "https://lava.example.org/"),
             {}, Exit.CONFIG),
            ([], lambda text: text, {"failing": {sha(3): "no rule"}}, Exit.CONFIG),
            ([], lambda text: text, {"unlinkable": {sha(3): "no space"}}, Exit.LAB),
            (["--plot", "/nowhere/l.svg"], lambda text: text, {}, Exit.CONFIG),
            ([], lambda text: text.replace('"ipi", "osnoise", "rcu"', '"timerlat"'), {},
             Exit.CONFIG),
        ],
        ids=["no server", "no host", "does not build", "no link", "no file", "nothing primary"],
    )  # fmt: skip
    def test_refuses_what_cannot_be_measured(self, ask, words, change, builder, code):
        found, told, _place = ask(*words, change=change, **builder)
        assert (found, told["exit_code"]) == (code, code)
        assert told["hint"]


class Stopped:
    """A check of boots that somebody interrupts."""

    def __init__(self, after):
        self.left = after

    def __call__(self, *_run):
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


class TestACallThatIsInterrupted:
    def test_goes_on_with_the_boots_that_it_has(self, ask, tmp_path, monkeypatch):
        whole = ask("--layouts", "4", lab=lab_of(1.0))[1]
        monkeypatch.setattr(layouts, "check_landed", Stopped(5))
        code, told, place = ask("--layouts", "4", lab=lab_of(1.0))
        assert (code, len(place.lab.requests)) == (Exit.INTERRUPTED, 6)
        assert re.findall(r"\d+", told["hint"]) == ["5", "12"]
        monkeypatch.setattr(layouts, "check_landed", lambda *_run: None)
        code, told, place = ask("--layouts", "4", lab=lab_of(1.0))
        assert (code, told) == (Exit.ANSWERED, whole)
        assert len(place.lab.requests) == 7
        assert not list((tmp_path / "state/lab/layouts").iterdir())

    def test_so_does_one_whose_lab_fails(self, ask):
        fault = InfrastructureError("no answer", "")
        script = {sha(3): [RunStatus.COMPLETE] * 4 + [fault] * 3}
        assert ask(lab=lab_of(0.0, script))[0] == Exit.LAB
        _code, told, place = ask(lab=lab_of(0.0))
        assert (told["measured"], len(place.lab.requests)) == (24, 20)

    @pytest.mark.parametrize("words", [["--seed", "2"], ["--layouts", "6"]])
    def test_another_one_begins_anew(self, ask, monkeypatch, words):
        monkeypatch.setattr(layouts, "check_landed", Stopped(5))
        ask()
        monkeypatch.setattr(layouts, "check_landed", lambda *_run: None)
        _code, told, place = ask(*words)
        assert told["measured"] == len(place.lab.requests)

    def test_boots_of_yesterday_are_made_again(self, tmp_path):
        _place, setup, subject = opened(tmp_path)
        folder = tmp_path / "kept"
        first = KeptBoots.of(folder, setup, "rt01")
        boot(subject, kept=first)
        assert KeptBoots.of(folder, setup, "rt01").runs == first.runs != {}
        assert not KeptBoots.of(folder, setup, "rt02").runs
        os.utime(first.place, times=2 * (time.time() - KEPT_S - 60,))
        assert not KeptBoots.of(folder, setup, "rt01").runs
        assert not list(folder.iterdir())

    def test_a_line_that_was_cut_off_is_none(self, tmp_path):
        _place, setup, subject = opened(tmp_path)
        first = KeptBoots.of(tmp_path / "kept", setup)
        boot(subject, kept=first)
        text = first.place.read_text("utf-8")
        first.place.write_text(text[:-100], "utf-8")
        again = KeptBoots.of(tmp_path / "kept", setup)
        assert len(again.runs) == len(first.runs) - 1
        [lost] = first.runs.keys() - again.runs.keys()
        again.add(lost, first.runs[lost])
        assert KeptBoots.of(tmp_path / "kept", setup).runs == first.runs
