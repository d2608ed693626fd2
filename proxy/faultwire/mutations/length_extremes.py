"""`length_extremes`: almost nothing, or far too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.mutations._api import Draft, Mutation
from faultwire.mutations._text import WORDS

if TYPE_CHECKING:
    from faultwire.dice import FaultDice

LONGEST = 64_000
"""Characters of the longest mutant."""
MOST_BYTES = 120_000
"""Bytes of it in UTF-8: Linux takes 131,072 in one argument of a program (MAX_ARG_STRLEN, execve(2))."""
FILLER = (
    "To give you the whole picture, I have to go back a little. ",
    "As you know, details matter, so let me repeat what matters most. ",
    "I am aware that this is long, but please read all of it with care. ",
    "The following paragraph says the same as the one before it. ",
)


class LengthExtremes(Mutation):
    """Empty, one word, half of it; or repeated and padded up to 64,000 characters."""

    name = "length_extremes"
    weight = 1.2
    summary = "minimal or hugely expanded"
    may_be_blank = True

    def draft(self, prompt: str, dice: FaultDice) -> Draft | None:
        """One of the ways, of a size by the dice."""
        words = WORDS.findall(prompt)
        how = dice.choice(("empty", "short", "repeated", "padded", "one long word"), "way")
        size = int(2_000 * 32 ** dice.unit("size"))
        match how:
            case "empty":
                return Draft(dice.choice(("", " ", "\n", "?", "."), "blank"), "as good as empty")
            case "short":
                kept = 1 + int(dice.unit("kept") * max(0, len(words) - 1))
                return Draft(" ".join(words[:kept]), f"the first {kept} words")
            case "repeated":
                times = max(2, size // (len(prompt) + 1))
                return Draft(_bounded(f"{prompt} " * times).strip(), f"repeated {times} times")
            case "one long word":
                word = dice.choice("aZ0_あ", "letter") * size
                return Draft(_bounded(f"{prompt} {word}"), f"a word of {size}")
        filler = dice.choice(FILLER, "filler")
        padded = (filler * (size // len(filler) + 1)) + prompt
        return Draft(_bounded(padded[::-1])[::-1], f"{size} characters of filler")


def _bounded(text: str) -> str:
    """The beginning of a text, as much of it as may be."""
    text = text[:LONGEST]
    while (length := len(text.encode("utf-8", "surrogatepass"))) > MOST_BYTES:
        text = text[: len(text) * MOST_BYTES // length]
    return text
