"""Which tape was forked from which: a branch names its parent by digest, so names may change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultwire.tape.read import digest
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from faultwire.replay.settings import Tail


@dataclass(slots=True, eq=False)
class Branch:
    """One tape in the tree. `parent` is how it names its parent, `fork` where and how it left it; both are
    None of a tape that was no fork. `lost` says that the parent is not among the tapes."""

    path: Path
    events: int
    root: str
    exchanges: int
    parent: dict[str, Any] | None = None
    fork: dict[str, Any] | None = None
    lost: bool = False
    children: list[Branch] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """With its branches, for programs."""
        return {
            "tape": str(self.path),
            "events": self.events,
            "root": self.root,
            "exchanges": self.exchanges,
            "parent": self.parent,
            "fork": self.fork,
            "parent_found": None if self.parent is None else not self.lost,
            "branches": [child.as_json() for child in self.children],
        }


def lineage(path: Path, session: str, at: int, *, tail: Tail, change: dict[str, Any]) -> dict[str, object]:
    """What a branch says of where it comes from. Raises TapeError."""
    with TapeReader.open(path) as reader:
        origin = reader.info().origin
    whole = digest.digest(path)
    return {
        "made_of": [{"tape": path.name, "origin": origin, "root": whole.root, "events": whole.events}],
        "fork": {
            "at": f"{session}#{at}",  # a member `session` would be taken for a secret
            "exchange": digest.exchange_digest(path, session, at),
            "change": change,
            "tail": tail,
        },
    }


def tree(paths: Iterable[Path]) -> list[Branch]:
    """The tapes as trees, each root with its branches below it, by path. Raises TapeError."""
    found = [_read(path) for path in dict.fromkeys(paths)]
    sizes = {one.parent["events"] for one in found if one.parent is not None}
    by_root: dict[tuple[int, str], Branch] = {}
    for one in found:
        for events, root in digest.had(one.path, sizes).items():
            by_root.setdefault((events, root), one)
    roots: list[Branch] = []
    for one in found:
        parent = None
        if one.parent is not None:
            parent = by_root.get((one.parent["events"], one.parent["root"]))
            one.lost = parent is None
        (roots if parent is None or parent is one else parent.children).append(one)
    return roots


def _read(path: Path) -> Branch:
    with TapeReader.open(path) as reader:
        settings = reader.info().settings
        exchanges = sum(session.exchanges for session in reader.sessions())
    whole = digest.digest(path)
    branch = Branch(path, whole.events, whole.root, exchanges)
    fork, made_of = settings.get("fork"), settings.get("made_of")
    if settings.get("made_by") == "fork" and isinstance(fork, dict) and isinstance(made_of, list) and made_of:
        parent = made_of[0]
        known = isinstance(parent, dict) and isinstance(parent.get("events"), int)
        if known and isinstance(parent.get("root"), str):
            branch.parent, branch.fork = parent, fork
    return branch
