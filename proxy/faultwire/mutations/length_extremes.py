"""`length_extremes`: almost nothing, or far too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.mutations._api import Draft, Mutation
from faultwire.mutations._text import WORDS

if TYPE_CHECKING:
    from faultwire.dice import FaultDice

LONGEST = 64_000
"""Characters of the longest mutant."""
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
                return Draft((f"{prompt} " * times)[:LONGEST].strip(), f"repeated {times} times")
            case "one long word":
                return Draft(
                    f"{prompt} {dice.choice('aZ0_あ', 'letter') * size}"[:LONGEST], f"a word of {size}"
                )
        filler = dice.choice(FILLER, "filler")
        return Draft(
            ((filler * (size // len(filler) + 1)) + prompt)[-LONGEST:], f"{size} characters of filler"
        )
