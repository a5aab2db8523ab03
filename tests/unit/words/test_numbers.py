# SPDX-License-Identifier: GPL-2.0-or-later
"""Three significant digits are three, also of a number that rounding makes longer."""

import pytest

from rtbisect.words.numbers import figure


@pytest.mark.parametrize(
    ("value", "text"),
    [(9.996, "10.0"), (9.99, "9.99"), (99.96, "100"), (-0.0099999, "-0.0100"), (0.0717, "0.0717")],
)
def test_a_figure_has_three_digits(value, text):
    assert figure(value) == text
