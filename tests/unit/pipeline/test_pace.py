# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run takes beside its command."""

from rtbisect.model.ports import Left
from rtbisect.pipeline.pace import Pace

LEFT = Left(low_s=5.0, middle_s=10.0, high_s=20.0)


def test_time_beside_the_commands_counts_with_what_is_left():
    pace = Pace()
    assert pace.left(LEFT, 50) == LEFT
    pace.ran(100.0, 0.2)
    assert pace.left(LEFT, 50) == LEFT
    pace.ran(100.4, 0.2)
    # Of 50 runs beside 0.2 s each: 10 s on 10 s.
    assert round(pace.left(LEFT, 50).middle_s, 6) == 20.0
    assert round(pace.left(LEFT, 50).low_s, 6) == 10.0
    assert round(pace.left(LEFT, 50).high_s, 6) == 40.0
    assert pace.left(None, 50) is None


def test_a_build_between_two_runs_is_not_beside_them():
    pace = Pace()
    pace.ran(100.0, 0.2)
    pace.built(30.0)
    pace.ran(130.4, 0.2)
    assert round(pace.left(LEFT, 50).middle_s, 6) == 20.0


def test_what_comes_once_is_not_expected_again():
    """As the first plan of a search, which weighs all that is possible."""
    pace = Pace()
    for begun_s in (100.0, 100.4, 100.8, 110.0):
        pace.ran(begun_s, 0.2)
    assert round(pace.left(LEFT, 50).middle_s, 6) == 20.0
