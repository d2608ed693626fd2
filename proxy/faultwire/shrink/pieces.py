"""A text as pieces that can be left out, along its structure: JSON members, lines, sentences or words."""

from __future__ import annotations

import json
import re  # noqa: TID251 - the patterns are fixed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Set as AbstractSet

MOST = 48
"""Pieces of one text; of longer ones, neighbours are joined."""
_SPLITS = (re.compile(r"(?<=\n)"), re.compile(r"(?<=[.!?])\s+"), re.compile(r"(?<=\s)(?=\S)"))
"""After lines, sentences, words."""
_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of a text. JSON stays JSON, whatever is left out."""

    parts: tuple[str, ...] = ()
    joint: str = ""
    document: Any = None
    leaves: tuple[_Path, ...] = ()

    def __len__(self) -> int:
        return len(self.leaves) or len(self.parts)

    def text(self, kept: AbstractSet[int]) -> str:
        """The text of these pieces, in their order."""
        if self.leaves:
            return json.dumps(_kept(self.document, {self.leaves[at] for at in kept}), ensure_ascii=False)
        return self.joint.join(part for at, part in enumerate(self.parts) if at in kept).strip()


def pieces(text: str) -> Pieces:
    """The pieces of a text: its finest structure of at least two pieces."""
    document = _document(text)
    if document is not None:
        leaves = tuple(_leaves(document))
        if 2 <= len(leaves) <= MOST:
            return Pieces(document=document, leaves=leaves)
        return Pieces((text,))
    for split, joint in zip(_SPLITS, ("", " ", ""), strict=True):
        parts = [part for part in split.split(text) if part]
        if len(parts) >= 2:
            return Pieces(_joined(parts, joint), joint)
    return Pieces((text,))


def _document(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) and found else None


def _leaves(value: Any, path: _Path = ()) -> Iterator[_Path]:
    children = value.items() if isinstance(value, dict) else enumerate(value)
    for key, child in children:
        if isinstance(child, dict | list) and child:
            yield from _leaves(child, (*path, key))
        else:
            yield (*path, key)


def _kept(value: Any, leaves: AbstractSet[_Path], path: _Path = ()) -> Any:
    """The document with these leaves; what holds none of them is left out."""
    if isinstance(value, dict):
        return {
            key: _kept(child, leaves, (*path, key))
            for key, child in value.items()
            if _holds((*path, key), leaves)
        }
    if isinstance(value, list):
        return [
            _kept(child, leaves, (*path, at)) for at, child in enumerate(value) if _holds((*path, at), leaves)
        ]
    return value


def _holds(path: _Path, leaves: AbstractSet[_Path]) -> bool:
    return any(leaf[: len(path)] == path for leaf in leaves)


def _joined(parts: list[str], joint: str) -> tuple[str, ...]:
    size = -(-len(parts) // MOST)
    return tuple(joint.join(parts[at : at + size]) for at in range(0, len(parts), size))
