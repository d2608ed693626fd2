"""How the beginnings of known secrets look in base64, whatever stands before them."""

from __future__ import annotations

import re
from functools import cache

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

BEGINNINGS = (
    "sk-", "AKIA", "ASIA", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxa-", "xoxb-",
    "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "AIza", "hf_", "sk_live_", "sk_test_", "rk_live_",
    "rk_test_", "npm_", "gsk_", "lsv2_", "Bearer ", "eyJ", "bearer ", "-----BEGIN ",
)  # fmt: skip


def wrapped_base64() -> str:
    """A pattern that every base64 text of a secret with a known beginning matches."""
    return "|".join(_pattern(word, offset) for word in BEGINNINGS for offset in range(3))


def _pattern(word: str, offset: int) -> str:
    """`word` after `offset` unknown bytes (mod 3): each character is known, or one of a few."""
    bits = "?" * (8 * offset) + "".join(f"{byte:08b}" for byte in word.encode())
    bits += "?" * (-len(bits) % 6)
    sextets = [bits[at : at + 6] for at in range(0, len(bits), 6)]
    return "".join(_one(sextet) for sextet in sextets if sextet != "??????")


@cache
def _one(sextet: str) -> str:
    fits = [c for value, c in enumerate(_ALPHABET) if _fits(f"{value:06b}", sextet)]
    # The URL alphabet writes - and _ for + and /.
    fits += [other for c, other in (("+", "-"), ("/", "_")) if c in fits]
    return re.escape(fits[0]) if len(fits) == 1 else "[" + "".join(map(re.escape, fits)) + "]"


def _fits(bits: str, pattern: str) -> bool:
    return all(want in ("?", have) for have, want in zip(bits, pattern, strict=True))
