"""Text that came from somewhere else, made short before anyone sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable

READ = 4
"""Times the limit that is looked at for secrets: what is cut away need not be read."""


NOTE = len("… [10 more characters]")
"""Characters by which a text may be longer than its limit: to say that they are missing takes as many."""


def clip(text: str, limit: int) -> str:
    """The first `limit` characters; says how many are missing, where it is more than that takes. Halves of
    surrogate pairs, which JSON cannot carry from one program to another (RFC 8259 §8.2), become U+FFFD."""
    left = len(text) - limit
    return (
        whole(text)
        if left <= NOTE
        else f"{whole(text[:limit])}… [{left:,} more character{'s' * (left != 1)}]"
    )


def whole(text: str) -> str:
    """The text without halves of surrogate pairs."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def cleaned(text: str, limit: int, redact: Callable[[str], str]) -> str:
    """The first `limit` characters of what `redact` makes of a text. Of a long one only the beginning is
    read, and a secret that stands across its end is cut away with it."""
    unread = len(text) - READ * limit
    if unread <= 0:
        return clip(redact(text), limit)
    head = redact(text[: READ * limit])
    left = max(0, len(head) - limit) + unread
    return f"{whole(head[:limit])}… [{left:,} more character{'s' * (left != 1)}]"


def line(text: str, limit: int = 200) -> str:
    """One harmless line."""
    return shown(clip(" ".join(text[: limit * 4].split()), limit))


def shown(text: str) -> str:
    """The same text with everything in it that could deceive a reader spelled out; lines stay lines.

    Nearly all text is plain, which is known without a look at its characters one by one.
    """
    bare = text.replace("\n", "").replace("\t", "")
    if bare.isprintable():
        if bare.isascii():
            return text
        rare = "".join({c for c in bare if c > "\x7f"})
        if safe(rare) == rare:
            return text
    return safe(text, lines=True)


def redacted(value: Any, redact: Callable[[str], str]) -> Any:
    """A JSON value with every text in it redacted; names of members stay."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redacted(one, redact) for one in value]
    if isinstance(value, dict):
        return {key: redacted(one, redact) for key, one in value.items()}
    return value
