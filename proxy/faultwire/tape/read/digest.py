"""The digests by which other tapes name a tape, and one exchange of it.

A tape is named by how many events it had and by their RFC 6962 tree head, as its seals name it: events
that came later (a seal, say) change nothing about what was meant. An exchange is named by the SHA-256 over
the hashes of its events, in their order.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from faultwire._core import Frontier
from faultwire.errors import TapeIncomplete, TapeTampered
from faultwire.tape.format.file import connect_reader, event_rows
from faultwire.tape.format.hash_chain import leaf
from faultwire.tape.format.validate import event_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Digest:
    """A tape as it was when it had `events` events; `root` in hex."""

    events: int
    root: str


def digest(path: Path) -> Digest:
    """The digest of a whole tape. Raises TapeError where it cannot be read."""
    tree = Frontier()
    for record in _records(path):
        tree.push(leaf(record))
    return Digest(tree.size, tree.root().hex())


def had(path: Path, sizes: Iterable[int]) -> dict[int, str]:
    """The roots that a tape had at these numbers of events; those it never had are left out.

    Raises TapeError where it cannot be read.
    """
    wanted, found, tree = set(sizes), dict[int, str](), Frontier()
    for record in _records(path):
        tree.push(leaf(record))
        if tree.size in wanted:
            found[tree.size] = tree.root().hex()
    return found


def exchange_digest(path: Path, session: str, number: int) -> str:
    """The digest of one exchange, in hex. Raises TapeIncomplete where it is not on the tape."""
    hashes = []
    for record in _records(path, "WHERE session = ?", (session,)):
        if event_of(record, path).get("exchange") == number:
            hashes.append(leaf(record))
    if not hashes:
        raise TapeIncomplete(
            f"session `{session}` on tape `{path}` has no exchange {number}", code="tape.no_exchange"
        )
    return sha256(b"".join(hashes)).hexdigest()


def _records(path: Path, where: str = "", arguments: tuple[str, ...] = ()) -> Iterable[bytes]:
    with closing(connect_reader(path)) as connection:
        try:
            for _, _, record, _ in event_rows(connection, where, arguments):
                yield record
        except sqlite3.Error as error:
            raise TapeTampered(f"tape `{path}` is damaged: {error}", code="tape.damaged") from error
