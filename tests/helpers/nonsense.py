# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up words in the place of every sentence, with the data of the finding behind them: whoever
passes with them reads no sentence.
"""

import hashlib

_SYLLABLES = ("bru", "dwe", "fno", "gli", "jop", "kva", "mlu", "nze")


def made_up(kind):
    """A word of no language, the same for the same kind."""
    return "".join(_SYLLABLES[byte % 8] for byte in hashlib.sha256(kind.encode()).digest()[:3])


def nonsense(words_of, kept=frozenset()):
    """The look-up `words_of` with made-up words for every kind that it knows, but for those that
    are `kept`, and what an older program said: that has no words but its data.
    """

    def look_up(kind):
        words = words_of(kind)
        if words in (None, "{text}") or kind in kept:
            return words
        return lambda data: " ".join([made_up(kind), *(f"{{{name}}}" for name in data)])

    return look_up
