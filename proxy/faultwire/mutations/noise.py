"""`noise`: typing errors and chat abbreviations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.mutations._api import Draft, Mutation
from faultwire.mutations._text import replaced, some, spans

if TYPE_CHECKING:
    from faultwire.dice import FaultDice

NEIGHBOURS = {
    "a": "qwsz", "b": "vghn", "c": "xdfv", "d": "serfcx", "e": "wsdr", "f": "drtgvc", "g": "ftyhbv",
    "h": "gyujnb", "i": "ujko", "j": "huikmn", "k": "jiolm", "l": "kop", "m": "njk", "n": "bhjm",
    "o": "iklp", "p": "ol", "q": "wa", "r": "edft", "s": "awedxz", "t": "rfgy", "u": "yhji", "v": "cfgb",
    "w": "qase", "x": "zsdc", "y": "tghu", "z": "asx",
}  # fmt: skip
"""Keys beside a key on a QWERTY keyboard."""
SHORT = {
    "you": ("u",), "are": ("r",), "please": ("pls", "plz"), "thanks": ("thx",), "because": ("bc", "cuz"),
    "for": ("4",), "to": ("2",), "what": ("wat", "wht"), "tomorrow": ("tmrw",), "tonight": ("2nite",),
    "people": ("ppl",), "message": ("msg",), "about": ("abt",), "before": ("b4",), "great": ("gr8",),
    "with": ("w/",), "without": ("w/o",), "information": ("info",), "really": ("rly",), "and": ("n", "&"),
}  # fmt: skip
FEWEST, MOST = 2, 4


class Noise(Mutation):
    """Two to four typing errors, and chat abbreviations."""

    name = "noise"
    weight = 0.8
    summary = "typing errors from neighbouring keys, and chat abbreviations"

    def draft(self, prompt: str, dice: FaultDice) -> Draft | None:
        """Abbreviate some words, then misspell others."""
        text, short = replaced(prompt, SHORT, dice) if dice.unit("chat") < 0.5 else (prompt, 0)
        places = spans(text, 3) or spans(text)
        if not places:
            return Draft(text, f"{short} abbreviations") if short else None
        wanted = FEWEST + int(dice.unit("errors") * (MOST - FEWEST + 1))
        chosen = some(len(places), min(wanted, len(places)), dice, "place")
        for at in reversed(chosen):
            start, end = places[at]
            text = text[:start] + _misspelt(text[start:end], dice, at) + text[end:]
        return Draft(text, f"{len(chosen)} typing errors, {short} abbreviations")


def _misspelt(word: str, dice: FaultDice, number: int) -> str:
    at = int(dice.unit(f"letter {number}") * len(word))
    kind = dice.choice(("neighbour", "swap", "drop", "double"), f"error {number}")
    if kind == "swap" and at + 1 < len(word):
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == "drop" and len(word) > 3:
        return word[:at] + word[at + 1 :]
    near = NEIGHBOURS.get(word[at].lower())
    if kind == "double" or near is None:
        return word[: at + 1] + word[at:]
    key = dice.choice(near, f"key {number}")
    return word[:at] + (key.upper() if word[at].isupper() else key) + word[at + 1 :]
