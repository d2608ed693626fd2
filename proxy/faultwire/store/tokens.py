"""Tokens of a project, and links to share a run: kept as hashes, with a role and an end.

A token reads `PROJECT.ID.SECRET`, so that it is looked up from within its own project. The secret has 256
random bits; its SHA-256 needs no salt.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, Literal, get_args

import sqlalchemy as sa

from faultwire import dice
from faultwire.clock import iso, wall_ms
from faultwire.errors import UsageError, printable
from faultwire.store.database import in_project
from faultwire.store.results import NAME
from faultwire.store.schema import projects, runs, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

Role = Literal["viewer", "runner", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
DAY_MS = 86_400_000
LONGEST_DAYS = 3650
LONGEST = 400
"""Characters of a token."""


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of one; `run` is set for a link to share."""

    project: str
    id: str
    name: str
    role: Role
    run: str | None
    made_by: str
    made_at: str
    expires_at: str
    revoked_at: str | None

    def as_json(self) -> dict[str, Any]:
        """Without its secret, which is not kept."""
        return {key: getattr(self, key) for key in self.__slots__}


def make(
    engine: Engine, project: str, name: str, role: Role, *, made_by: str, days: float, run: str | None = None
) -> tuple[str, Token]:
    """A new token, and what is known of it. Raises UsageError for an unknown run, a bad name or time."""
    if not NAME.match(project) or not name or len(name) > 100:
        raise UsageError(
            f"found `{printable(name)[:40]}` for a token of `{printable(project)[:40]}`, expected a name of "
            "1 to 100 characters and a project",
            code="usage.token",
        )
    if not 0 < days <= LONGEST_DAYS:
        raise UsageError(
            f"found {days} days, expected more than 0 and at most {LONGEST_DAYS}", code="usage.token"
        )
    secret, now = dice.token(32), wall_ms()
    made = Token(
        project, dice.token(8), name, role, run, made_by, iso(now), iso(now + int(days * DAY_MS)), None
    )
    with in_project(engine, project) as connection:
        known = sa.select(runs.c.id).where(runs.c.project == project, runs.c.id == run)
        if run is not None and connection.scalar(known) is None:
            raise UsageError(f"the store has no run `{printable(run)[:64]}`", code="store.no_run")
        if not connection.scalar(sa.select(projects.c.name).where(projects.c.name == project)):
            connection.execute(projects.insert().values(name=project))
        digest = sha256(secret.encode()).hexdigest()
        connection.execute(tokens.insert().values(digest=digest, **made.as_json()))
    return f"{project}.{made.id}.{secret}", made


def look_up(engine: Engine, given: str) -> Token | None:
    """The token that somebody shows; None where it is none, has expired, or was revoked."""
    project, _, rest = given[:LONGEST].rpartition(".")
    project, _, ident = project.rpartition(".")
    if not NAME.match(project) or not ident or not rest:
        return None
    query = sa.select(tokens).where(tokens.c.project == project, tokens.c.id == ident)
    with in_project(engine, project) as connection:
        row = connection.execute(query).mappings().first()
    if row is None or not compare_digest(row["digest"], sha256(rest.encode()).hexdigest()):
        return None
    found = _token(row)
    return None if found.revoked_at or found.expires_at <= iso(wall_ms()) else found


def listed(engine: Engine, project: str) -> Sequence[Token]:
    """All of a project, the oldest first."""
    query = sa.select(tokens).where(tokens.c.project == project).order_by(tokens.c.made_at, tokens.c.id)
    with in_project(engine, project) as connection:
        return [_token(row) for row in connection.execute(query).mappings()]


def revoke(engine: Engine, project: str, ident: str) -> None:
    """From now on it lets nobody in. Raises UsageError where the project has none of this id."""
    mine = (tokens.c.project == project, tokens.c.id == ident)
    changed = tokens.update().where(*mine, tokens.c.revoked_at.is_(None)).values(revoked_at=iso(wall_ms()))
    with in_project(engine, project) as connection:
        if connection.execute(changed).rowcount == 0:
            known = connection.scalar(sa.select(tokens.c.id).where(*mine))
            if known is None:
                raise UsageError(
                    f"the project `{printable(project)[:100]}` has no token `{printable(ident)[:32]}`",
                    code="store.no_token",
                )


def _token(row: Any) -> Token:
    return Token(**{key: row[key] for key in Token.__slots__})
