"""Results of `faultwire blame` beside the run that they are of. Rows are only added."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
import zstandard

from faultwire.clock import iso, wall_ms
from faultwire.errors import TapeError, UsageError, printable
from faultwire.store.database import in_project
from faultwire.store.schema import blames, runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Engine

MOST = 100
"""Results of one run."""
LARGEST = 64 << 20
"""Bytes of one, unpacked."""


@dataclass(frozen=True, slots=True)
class Blame:
    """One result: the document of `blame.json`, and who pushed it when (RFC 3339)."""

    id: str
    document: dict[str, Any]
    pushed_by: str
    pushed_at: str


def add(engine: Engine, project: str, run: str, document: Mapping[str, Any], by: str) -> bool:
    """Keep a result; False where the same is there. Raises UsageError for an unknown run, or one too many."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
    ident = sha256(text).hexdigest()
    mine = (blames.c.project == project, blames.c.run == run)
    with in_project(engine, project) as connection:
        known = sa.select(runs.c.id).where(runs.c.project == project, runs.c.id == run)
        if connection.scalar(known) is None:
            raise UsageError(f"the store has no run `{printable(run)[:64]}`", code="store.no_run")
        if connection.scalar(sa.select(blames.c.id).where(*mine, blames.c.id == ident)) is not None:
            return False
        if (connection.scalar(sa.select(sa.func.count()).where(*mine)) or 0) >= MOST:
            raise UsageError(
                f"found {MOST} results of `faultwire blame` for one run, expected no more", code="store.full"
            )
        row = {
            "project": project, "run": run, "id": ident, "document": zstandard.compress(text),
            "pushed_by": by[:200], "pushed_at": iso(wall_ms()),
        }  # fmt: skip
        connection.execute(blames.insert().values(**row))
    return True


def blame_of(engine: Engine, project: str, run: str) -> Sequence[Blame]:
    """All results of a run, the oldest first."""
    query = sa.select(blames).where(blames.c.project == project, blames.c.run == run)
    with in_project(engine, project) as connection:
        found = connection.execute(query.order_by(blames.c.pushed_at, blames.c.id)).mappings().all()
    return [Blame(row["id"], _unpacked(row["document"]), row["pushed_by"], row["pushed_at"]) for row in found]


def _unpacked(packed: bytes) -> dict[str, Any]:
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
            found: dict[str, Any] = json.loads(stream.read(LARGEST))
    except (zstandard.ZstdError, ValueError) as error:
        raise TapeError(f"a result of blame is damaged: {error}", code="store.damaged") from error
    return found
