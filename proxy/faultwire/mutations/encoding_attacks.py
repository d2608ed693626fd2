"""`encoding_attacks`: parts of the prompt in another encoding."""

from __future__ import annotations

import codecs
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.parse import quote

from faultwire.mutations._api import Draft, Mutation
from faultwire.mutations._text import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.dice import FaultDice

HOMOGLYPHS = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")  # noqa: RUF001 - Cyrillic is the point
LEET = str.maketrans("aeiostAEIOST", "431057431057")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


ENCODINGS: dict[str, Callable[[str], str]] = {
    "Base64": lambda text: b64encode(_bytes(text)).decode(),
    "Unicode escapes": lambda text: "".join(
        f"\\u{unit:04x}" for unit in memoryview(text.encode("utf-16-le", "replace")).cast("H")
    ),
    "percent-encoding": lambda text: quote(_bytes(text), safe="") if quote(_bytes(text), safe="") != text
    else "".join(f"%{byte:02X}" for byte in _bytes(text)),
    "hex": lambda text: _bytes(text).hex(" "),
    "HTML entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "ROT13": lambda text: codecs.encode(text, "rot13"),
    "homoglyphs": lambda text: text.translate(HOMOGLYPHS),
    "leetspeak": lambda text: text.translate(LEET),
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "zero-width joints": lambda text: "\u200b".join(text),
    "reversed": lambda text: text[::-1],
}  # fmt: skip
HINTED = frozenset({"Base64", "hex", "ROT13", "reversed"})
"""Encodings that people name when they use them."""


class EncodingAttacks(Mutation):
    """A run of words, or all of them, in another encoding."""

    name = "encoding_attacks"
    weight = 1.3
    summary = "parts in Base64, escapes, percent-encoding, homoglyphs and others"

    def draft(self, prompt: str, dice: FaultDice) -> Draft | None:
        """Encode a part."""
        found = [m.span() for m in WORDS.finditer(prompt)]
        name = dice.choice(tuple(ENCODINGS), "encoding")
        first = int(dice.unit("first") * len(found))
        last = first + int(dice.unit("last") * (len(found) - first))
        start, end = found[first][0], found[last][1]
        if dice.unit("all") < 0.3:
            start, end = found[0][0], found[-1][1]
        part = ENCODINGS[name](prompt[start:end])
        if part == prompt[start:end]:
            return None
        hint = f" (part of this is {name})" if name in HINTED and dice.unit("told") < 0.6 else ""
        return Draft(prompt[:start] + part + prompt[end:] + hint, f"{name} of {last - first + 1} words")
