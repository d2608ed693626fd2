"""Two sequences of events or lines side by side, and one that has some of either.

Events are the same where they differ in nothing but what is new in every answer: minted ids and instants.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal

from faultwire import _core
from faultwire.replay.volatile_values import parted
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from collections.abc import Sequence, Set as AbstractSet

SHOWN = 200
Slot = tuple["bytes | None", "bytes | None"]
"""What stands at one place in the failed run, and in the calm one."""


@dataclass(frozen=True, slots=True)
class Slots:
    """Both sequences as one. `joins`: its events need one another (elements of an array)."""

    kind: Literal["event", "line"]
    slots: tuple[tuple[Slot, bool], ...]
    """Each slot, and whether it is a piece."""
    joins: bool

    @property
    def pieces(self) -> tuple[tuple[str, str, str], ...]:
        """Name, in the failed run, in the calm run. An event's number is the failed run's, or, where it is
        missing there, the calm run's."""
        out, ours, theirs = list[tuple[str, str, str]](), 0, 0
        for (failed, calm), differs in self.slots:
            ours, theirs = ours + (failed is not None), theirs + (calm is not None)
            if differs:
                name = f"{self.kind} {ours if failed is not None else theirs}"
                out.append((name if failed is not None else f"{name}, which is missing",
                            _shown(failed), _shown(calm)))  # fmt: skip
        return tuple(out)

    def mixed(self, as_failed: AbstractSet[int]) -> tuple[bytes, ...]:
        """The sequence with these pieces as in the failed run, and the others as in the calm one."""
        joiner = _core_joiner() if self.joins else None
        out, at = list[bytes](), -1
        for (failed, calm), differs in self.slots:
            at += differs
            chosen = failed if differs and at in as_failed else calm
            if chosen is not None:
                out.append(joiner.join(chosen) if joiner is not None else chosen)
        return tuple(out)


def align(failed: list[bytes], calm: list[bytes]) -> tuple[tuple[Slot, bool], ...]:
    """The slots of two sequences."""
    slots: list[tuple[Slot, bool]] = []
    for tag, i, i_end, j, j_end in _matched(_keys(failed), _keys(calm)):
        ours, theirs = failed[i:i_end], calm[j:j_end]
        for n in range(max(len(ours), len(theirs))):
            slot = ours[n] if n < len(ours) else None, theirs[n] if n < len(theirs) else None
            slots.append((slot, tag != "equal"))
    return tuple(slots)


def _matched(ours: list[str], theirs: list[str]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()


def _keys(events: list[bytes]) -> list[str]:
    return [parted(event.decode("utf-8", "replace"))[0] for event in events]


def _core_joiner() -> framing.Joiner:
    made = framing.joiner(_core.ArraySplitter())
    assert made is not None
    return made


def _shown(event: bytes | None) -> str:
    if event is None:
        return "nothing"
    text = " ".join(event.decode("utf-8", "replace").split())
    return f"{text[:SHOWN]}{'…' if len(text) > SHOWN else ''}"
