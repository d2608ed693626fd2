"""Runs in a store: each is added once, seen from within its project, and never changed."""

from __future__ import annotations

import getpass
import json
import re
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
import zstandard

from faultwire.errors import TapeError, UsageError, printable
from faultwire.store.database import in_project, open_engine
from faultwire.store.schema import cells, phases, projects, run_tapes, runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection, Engine

LARGEST = 512 * 1024 * 1024
"""Bytes of a report that are read or unpacked."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
CELL = {"invocation": 400, "invariant": 200, "scenario": 200, "severity": 20, "verdict": 20}
"""What is kept of each cell, and its characters at most."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as a store holds it: a row of `runs`, and the report of each phase as JSON text, by name.

    `tapes` is the SHA-256 of each tape of the run, by the name of its file.
    """

    about: Mapping[str, Any]
    reports: Mapping[str, bytes]
    tapes: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """A hash of what can never change: of all but `tapes`, which may be sealed or erased anew."""
        parts = [json.dumps(dict(self.about), sort_keys=True).encode()]
        parts += [part for name, report in sorted(self.reports.items()) for part in (name.encode(), report)]
        return sha256(b"".join(b"%d:%s" % (len(part), part) for part in parts)).hexdigest()


def run_of(folder: Path) -> StoredRun:
    """What a run's folder holds. Raises UsageError where it is none of a run that has ended."""
    try:
        ended = json.loads(_read(folder / "run.json"))
        names = ended.get("scores") or {}
        files = {name: folder / f"{name}.json" for name in names}
        reports = {
            name: _read(path if path.is_file() else folder / "report.json") for name, path in files.items()
        }
    except (OSError, ValueError, AttributeError) as error:
        raise UsageError(f"found no run in `{folder}`: {error}", code="store.no_run") from error
    if ended.get("status") not in ("finished", "interrupted", "void") or not reports:
        raise UsageError(
            f"found the run `{folder.name}` with the status `{ended.get('status')}`, expected one that has "
            "ended and has a report",
            code="store.no_run",
        )
    from faultwire._core import __version__

    keys = ("command", "status", "started_at", "ended_at", "seed", "score", "gate", "ledger")
    digests = ("config_digest", "agent_digest", "profiles_digest")
    about = {key: ended.get(key) for key in (*keys, *digests)}
    return StoredRun(
        {"id": folder.name, **about, "commit_id": ended.get("commit"), "version": __version__},
        reports,
        {path.name: _digest(path) for path in tapes_of(folder)},
    )


def tapes_of(folder: Path) -> list[Path]:
    """The tapes of a run: the run's own, and those of its workers or engines."""
    return sorted([*folder.glob("*.tape"), *folder.glob("tapes/*.tape")])


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"`{path.name}` has more than {LARGEST} bytes")
    return data


class Store:
    """A database, seen from within one project."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self.project = project
        self.notes: Sequence[str] = ()
        """What there is to say of the runs that were added: nothing by a database, unlike a service."""

    @classmethod
    def open(cls, url: str, project: str) -> Store:
        """Raises what `open_engine` raises, and UsageError for what is no name of a project."""
        if not NAME.match(project):
            raise UsageError(
                f"found `{project[:40]}` for --project, expected letters, digits, `.`, `_` and `-`",
                code="usage.project",
            )
        return cls(open_engine(url), project)

    def add(self, run: StoredRun) -> bool:
        """Add a run; False where the same is there already. Raises UsageError where another one of this name
        is, and FaultwireError where the database fails; then nothing of it was added."""
        with in_project(self._engine, self.project) as connection:
            known = connection.scalar(
                sa.select(runs.c.content).where(runs.c.project == self.project, runs.c.id == run.about["id"])
            )
            if known == run.content:
                self._add_tapes(connection, run)
                return False
            if known is not None:
                raise UsageError(
                    f"found the run `{run.about['id']}` in the store with another content",
                    code="store.changed",
                    hint="runs are only added: what is stored stays as it is",
                )
            if not connection.scalar(sa.select(projects.c.name).where(projects.c.name == self.project)):
                connection.execute(projects.insert().values(name=self.project))
            connection.execute(runs.insert().values(project=self.project, content=run.content, **run.about))
            for name, report in run.reports.items():
                self._add_phase(connection, str(run.about["id"]), name, report)
            self._add_tapes(connection, run)
        return True

    def _add_tapes(self, connection: Connection, run: StoredRun) -> None:
        """Those that are not known yet, or not by this hash."""
        mine = (run_tapes.c.project == self.project, run_tapes.c.run == run.about["id"])
        query = sa.select(run_tapes.c.name, run_tapes.c.number, run_tapes.c.digest).where(*mine)
        latest = {
            name: (number, digest)
            for name, number, digest in connection.execute(query.order_by(run_tapes.c.number))
        }
        key = {"project": self.project, "run": run.about["id"]}
        rows = [
            {**key, "name": name[:200], "number": latest.get(name, (0, ""))[0] + 1, "digest": digest}
            for name, digest in run.tapes.items()
            if latest.get(name, (0, ""))[1] != digest
        ]
        if rows:
            connection.execute(run_tapes.insert(), rows)

    def add_blame(self, run: str, document: Mapping[str, Any]) -> bool:
        """Keep what `faultwire blame` found of a run; False where the same is there."""
        from faultwire.store.blamed import add

        return add(self._engine, self.project, run, document, f"user:{getpass.getuser()}")

    def _add_phase(self, connection: Connection, run: str, name: str, report: bytes) -> None:
        document = json.loads(report)
        key = {"project": self.project, "run": run}
        packed = zstandard.compress(report)
        score = (document.get("score") or {}).get("number")
        connection.execute(phases.insert().values(**key, name=name, score=score, report=packed))
        rows = [
            {**key, "phase": name, "number": number}
            # PostgreSQL has no NUL in a text; the report keeps it.
            | {field: str(cell.get(field, "")).replace("\0", "\ufffd")[:most] for field, most in CELL.items()}
            for number, cell in enumerate(document.get("cells", ()))
        ]
        if rows:
            connection.execute(cells.insert(), rows)

    def runs(self, most: int = 20) -> Sequence[Mapping[str, Any]]:
        """The latest runs of the project, the oldest of them first."""
        query = sa.select(runs).where(runs.c.project == self.project)
        query = query.order_by(runs.c.started_at.desc(), runs.c.id.desc()).limit(most)
        with in_project(self._engine, self.project) as connection:
            return [dict(row) for row in connection.execute(query).mappings()][::-1]

    def run(self, run: str) -> Mapping[str, Any]:
        """One run. Raises UsageError where the project has none of this name."""
        query = sa.select(runs).where(runs.c.project == self.project, runs.c.id == run)
        with in_project(self._engine, self.project) as connection:
            found = connection.execute(query).mappings().first()
        if found is None:
            raise UsageError(f"the store has no run `{printable(run)[:64]}`", code="store.no_run")
        return dict(found)

    def report(self, run: str, phase: str) -> dict[str, Any]:
        """A phase's report. Raises UsageError where the project has none such."""
        query = sa.select(phases.c.report).where(
            phases.c.project == self.project, phases.c.run == run, phases.c.name == phase
        )
        with in_project(self._engine, self.project) as connection:
            packed = connection.scalar(query)
        if packed is None:
            raise UsageError(f"the store has no phase `{phase}` of a run `{run}`", code="store.no_run")
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
                found: dict[str, Any] = json.loads(stream.read(LARGEST))
        except (zstandard.ZstdError, ValueError) as error:
            raise TapeError(f"the report of `{run}` is damaged: {error}", code="store.damaged") from error
        return found

    def history(self, invocation: str, invariant: str, most: int = 100) -> Sequence[tuple[str, str]]:
        """The verdicts of one cell over the latest runs, the oldest first: run and verdict."""
        query = (
            sa.select(cells.c.run, cells.c.verdict)
            .where(
                cells.c.project == self.project,
                cells.c.invocation == invocation,
                cells.c.invariant == invariant,
            )
            .order_by(cells.c.run.desc())
            .limit(most)
        )
        with in_project(self._engine, self.project) as connection:
            return [(row.run, row.verdict) for row in connection.execute(query)][::-1]

    def close(self) -> None:
        """Let the database go."""
        self._engine.dispose()
