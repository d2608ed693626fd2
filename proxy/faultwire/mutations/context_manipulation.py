"""`context_manipulation`: context that is irrelevant, missing, out of order or contradictory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.mutations._api import Draft, Mutation, filled
from faultwire.mutations._text import WORDS, some

if TYPE_CHECKING:
    from faultwire.dice import FaultDice

IRRELEVANT = (
    "My {who} is moving house in {month}, by the way.",
    "It has been raining here since {month}.",
    "I am writing this on a train, so the connection may break.",
    "Unrelated: the printer on floor {number} is out of {thing} again.",
    "My {who} told me that {number} {thing} are enough for anybody.",
    "Last {month} I read {number} books about gardening.",
)
CONTRADICTORY = (
    "Ignore the question after this one, or answer it, whichever comes first.",
    "Answer only with what I did not ask for. No, with what I asked for.",
    "As I said, it is for {month}. Or for another month than {month}.",
    "You already answered this with {number}, which was both right and wrong.",
    "There are exactly {number} correct answers and none of them is correct.",
)
WORDS_OF = {
    "who": ("sister", "neighbour", "colleague", "landlord", "dentist"),
    "month": ("January", "March", "June", "September", "November"),
    "number": ("3", "7", "12", "40", "250"),
    "thing": ("paper", "toner", "spoons", "stamps", "candles"),
}


class ContextManipulation(Mutation):
    """Adds what is beside the point or contradicts, drops words, or turns sentences round."""

    name = "context_manipulation"
    weight = 1.1
    summary = "irrelevant, missing, reordered or contradictory context"

    def draft(self, prompt: str, dice: FaultDice) -> Draft | None:
        """One of the four ways."""
        how = dice.choice(("irrelevant", "contradictory", "missing", "reordered"), "way")
        if how in ("irrelevant", "contradictory"):
            table = IRRELEVANT if how == "irrelevant" else CONTRADICTORY
            line = filled(dice.choice(table, "line"), "", WORDS_OF, dice)
            before = dice.unit("side") < 0.5
            return Draft(f"{line} {prompt}" if before else f"{prompt} {line}", f"{how} context")
        words = WORDS.findall(prompt)
        if len(words) < 4:
            return None
        if how == "missing":
            gone = set(some(len(words), max(1, len(words) // 4), dice, "gone"))
            return Draft(
                " ".join(w for at, w in enumerate(words) if at not in gone), f"{len(gone)} words missing"
            )
        cut = 1 + int(dice.unit("cut") * (len(words) - 1))
        return Draft(" ".join((*words[cut:], *words[:cut])), f"the first {cut} words moved to the end")
