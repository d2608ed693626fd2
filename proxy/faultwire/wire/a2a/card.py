"""Agent cards: who an agent says it is, where it is reached, and changes of that.

Versions 0.3 (`url`, `additionalInterfaces`) and 1.0 (`supportedInterfaces`); a card may hold both. A card
may be signed (JWS over its canonical form): a changed one keeps its signatures, which then no longer fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.wire import json_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Path

_WHOLE: Path = ()
_LISTS = ("supportedInterfaces", "additionalInterfaces")


@dataclass(frozen=True, slots=True)
class Card:
    """What a card says: name, and the addresses under which the agent is reached."""

    name: str
    urls: tuple[str, ...]
    signed: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """A card after a change. `addresses` counts those that were replaced; `signature_broken` is True where
    the card is signed and its signatures no longer fit."""

    body: bytes
    addresses: int = 0
    signature_broken: bool = False


def read(body: bytes) -> Card:
    """The card in a body, or in the result of a JSON-RPC answer. Raises WireError where there is none."""
    card, _ = _card(body)
    urls = tuple(dict.fromkeys(url for _, url in _addresses(card, ())))
    return Card(json_bytes.string(card.get("name")), urls, _signed(card))


def rewritten(body: bytes, reach: Callable[[str], str | None]) -> Changed:
    """The card with every address that `reach` has another one for replaced, and no other byte changed.

    For a listener that stands before an agent: the card's own addresses lead past it. Raises WireError.
    """
    card, root = _card(body)
    count = 0
    for path, url in _addresses(card, root):
        new = reach(url)
        if new is not None and new != url:
            body = json_bytes.put(body, path, json_bytes.dump(new))
            count += 1
    return Changed(body, count, bool(count) and _signed(card))


def spoofed(
    body: bytes,
    *,
    url: str | None = None,
    name: str | None = None,
    description: str | None = None,
    skill: str | None = None,
) -> Changed:
    """The card with other words: every address becomes `url`, `skill` describes the first skill.

    What is None stays as it is. Raises WireError.
    """
    card, root = _card(body)
    changed = rewritten(body, lambda _: url)
    text, count = changed.body, changed.addresses
    words: list[tuple[Path, str | None]] = [
        ((*root, "name"), name),
        ((*root, "description"), description),
    ]
    if json_bytes.objects(card.get("skills")):
        words.append(((*root, "skills", json_bytes.objects(card.get("skills"))[0][0], "description"), skill))
    for path, new in words:
        if new is not None:
            text = json_bytes.put(text, path, json_bytes.dump(new))
    return Changed(text, count, text != body and _signed(card))


def _card(body: bytes) -> tuple[json_bytes.Object, Path]:
    document = json_bytes.load_object(body)
    result, root = document.get("result"), _WHOLE
    if "jsonrpc" in document and isinstance(result, dict):
        document, root = result, ("result",)
    if not isinstance(document.get("name"), str) or not _addresses(document, ()):
        raise WireError("found no `name` with an address, expected an agent's card")
    return document, root


def _addresses(card: json_bytes.Object, root: Path) -> list[tuple[Path, str]]:
    found: list[tuple[Path, str]] = []
    if isinstance(card.get("url"), str):
        found.append(((*root, "url"), card["url"]))
    for key in _LISTS:
        for at, interface in json_bytes.objects(card.get(key)):
            if isinstance(interface.get("url"), str):
                found.append(((*root, key, at, "url"), interface["url"]))
    return found


def _signed(card: json_bytes.Object) -> bool:
    return bool(json_bytes.objects(card.get("signatures")))
