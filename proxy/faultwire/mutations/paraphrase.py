"""`paraphrase`: the same intent in other words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.mutations._api import Draft, Mutation
from faultwire.mutations._text import replaced, uncapitalised

if TYPE_CHECKING:
    from faultwire.dice import FaultDice

OPENINGS = (
    "Could you tell me: {}",
    "I would like to know the following. {}",
    "Please help me with this: {}",
    "Here is my question: {}",
    "One thing I need to know: {}",
    "May I ask you something? {}",
    "{} Thanks in advance.",
    "{} I would be grateful for an answer.",
    "{} That is what I need from you.",
    "For a piece of work I need this: {}",
)
CLOSINGS = (
    "",
    " Thank you.",
    " A short answer will do.",
    " Take your time.",
    " Cheers.",
    " That is all.",
    " Any help counts.",
)
SWAPS = {
    "what is": ("what's", "which is", "tell me what is"),
    "how many": ("what number of", "how large a number of"),
    "how much": ("what amount of",),
    "how do i": ("in what way do I", "what is the way to"),
    "find": ("look up", "locate", "search for"),
    "show": ("display", "present", "let me see"),
    "explain": ("describe", "clarify", "help me understand"),
    "list": ("enumerate", "name"),
    "write": ("compose", "draft"),
    "create": ("make", "produce", "set up"),
    "buy": ("purchase", "order"),
    "book": ("reserve", "arrange"),
    "cancel": ("call off", "annul"),
    "help": ("assist", "support"),
    "need": ("require",),
    "want": ("would like",),
    "big": ("large",),
    "quickly": ("fast", "swiftly"),
    "please": ("kindly",),
    "best": ("finest", "most suitable"),
    "weather": ("weather conditions",),
    "summarize": ("sum up", "give the gist of"),
    "calculate": ("compute", "work out"),
    "send": ("transmit", "forward"),
}


class Paraphrase(Mutation):
    """Says the same in other words: synonyms, another opening, a polite end."""

    name = "paraphrase"
    weight = 1.0
    summary = "the same intent in other words"

    def draft(self, prompt: str, dice: FaultDice) -> Draft | None:
        """Swap words that are in the table, then perhaps put the prompt into an opening."""
        text, swapped = replaced(prompt, SWAPS, dice)
        if swapped and dice.unit("only words") < 0.4:
            return Draft(text, f"{swapped} words swapped")
        opening = dice.choice(OPENINGS, "opening")
        inner = uncapitalised(text) if opening.endswith(": {}") else text
        closing = dice.choice(CLOSINGS, "closing")
        return Draft(opening.replace("{}", inner) + closing, f"another opening, {swapped} words swapped")
