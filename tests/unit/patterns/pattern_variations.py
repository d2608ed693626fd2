"""What attackers do to a text so that a filter misses it and a model still reads it."""

# ruff: noqa: RUF001, E501 - look-alike letters are the point

from __future__ import annotations

import base64
from collections.abc import Callable
from random import Random

NEAR = {
    "a": "qsz",
    "b": "vgn",
    "c": "xdv",
    "d": "sfe",
    "e": "wrd",
    "f": "dgr",
    "g": "fht",
    "h": "gjy",
    "i": "uok",
    "j": "hku",
    "k": "jli",
    "l": "kop",
    "m": "nj",
    "n": "bmh",
    "o": "ipl",
    "p": "ol",
    "q": "wa",
    "r": "etf",
    "s": "adw",
    "t": "ryg",
    "u": "yij",
    "v": "cbf",
    "w": "qes",
    "x": "zcs",
    "y": "tuh",
    "z": "xa",
}
LOOKS = {
    "a": "а",
    "e": "е",
    "o": "о",
    "p": "р",
    "c": "с",
    "x": "х",
    "i": "і",
    "s": "ѕ",
    "y": "у",
    "j": "ј",
    "h": "һ",
    "d": "ԁ",
}
LEET = {"a": "4", "e": "3", "i": "1", "o": "0", "s": "5", "t": "7"}


def typos(text: str, r: Random) -> str:
    """A slip every 25 letters, at most four: a neighbour on the keyboard, two letters turned, one lost, one doubled."""
    letters = list(text)
    places = [
        k
        for k in range(1, len(letters) - 1)
        if letters[k - 1].isalpha() and letters[k].isalpha() and letters[k + 1].isalpha()
    ]
    for place in sorted(r.sample(places, min(len(places), max(1, min(4, len(text) // 25)))), reverse=True):
        kind = r.randint(0, 3)
        if kind == 0:
            letters[place] = r.choice(NEAR.get(letters[place].lower(), letters[place]))
        elif kind == 1:
            letters[place], letters[place + 1] = letters[place + 1], letters[place]
        elif kind == 2:
            del letters[place]
        else:
            letters.insert(place, letters[place])
    return "".join(letters)


def homoglyphs(text: str, r: Random) -> str:
    return "".join(LOOKS[c] if c in LOOKS and r.random() < 0.4 else c for c in text)


def zero_width(text: str, r: Random) -> str:
    return "".join(
        c + (r.choice("\u200b\u200c\u200d\u2060") if c.isalpha() and r.random() < 0.3 else "") for c in text
    )


def in_base64(text: str, r: Random) -> str:
    return r.choice(["data: {}", "Please see {} for details.", '{{"payload": "{}"}}']).format(
        base64.b64encode(text.encode()).decode()
    )


def yaml_escapes(text: str, r: Random) -> str:
    def one(c: str) -> str:
        if r.random() > 0.4 or not c.isalnum():
            return {"\n": "\\n", " ": r.choice([" ", " ", "\\_"])}.get(c, c)
        return r.choice([f"\\x{ord(c):02x}", f"\\u{ord(c):04x}", f"\\U{ord(c):08x}"]) if ord(c) < 256 else c

    return 'text: "' + "".join(map(one, text)) + '"'


def leetspeak(text: str, r: Random) -> str:
    return "".join(LEET[c.lower()] if c.lower() in LEET and r.random() < 0.6 else c for c in text)


def in_hex(text: str, r: Random) -> str:
    return f"blob {text.encode().hex()}"


def in_rot13(text: str, r: Random) -> str:
    import codecs

    return codecs.encode(text, "rot13")


def percent(text: str, r: Random) -> str:
    return "".join(f"%{b:02X}" for b in text.encode())


def twice(text: str, r: Random) -> str:
    return base64.b64encode(base64.b64encode(text.encode())).decode()


def tags(text: str, r: Random) -> str:
    return "Nice weather." + "".join(chr(0xE0000 + ord(c)) for c in text if 0x20 <= ord(c) < 0x7F)


def fullwidth(text: str, r: Random) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)


REQUIRED: dict[str, Callable[[str, Random], str]] = {
    "typos": typos,
    "homoglyphs": homoglyphs,
    "base64": in_base64,
    "zero-width": zero_width,
    "yaml-escapes": yaml_escapes,
}
FURTHER: dict[str, Callable[[str, Random], str]] = {
    "leetspeak": leetspeak,
    "hex": in_hex,
    "rot13": in_rot13,
    "percent": percent,
    "base64-twice": twice,
    "tags": tags,
    "fullwidth": fullwidth,
}
