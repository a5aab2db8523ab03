#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# nonsense.sh <folder> [<tier> <tests> ...]: clone the committed state of this checkout into a new
# folder, where also the program that tests start as a process tells findings in made-up words, and
# run there those tests of that tier (unit, integration, road); without them, unit and integration.
# More can be run there afterwards: PYTEST_ADDOPTS=--nonsense tools/tier.sh <tier> <tests> ...
set -eu
cd "$(dirname "$0")/.."

folder=$1
shift
git clone -q . "$folder"
cd "$folder"
{
    cat tests/helpers/nonsense.py
    # A mail goes nowhere that an outsider cannot read: the lint would refuse it.
    echo "words_of = nonsense(words_of, frozenset([*report.SENTENCES, *recipe.SENTENCES]))"
} >>bisect/rtbisect/words/sentences.py
make setup
export PYTEST_ADDOPTS="${PYTEST_ADDOPTS-} --nonsense"
if [ $# -gt 0 ]; then
    tools/tier.sh "$@"
else
    tools/tier.sh unit tests/unit tests/property tests/golden
    tools/tier.sh integration tests/integration
fi
