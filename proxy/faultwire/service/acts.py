"""What callers do with runs, whether they ask by JSON or by a page's form."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from faultwire._core import __version__
from faultwire.errors import FaultwireError, UsageError, printable
from faultwire.service.alerts import send
from faultwire.service.blame import checked
from faultwire.service.metrics import Metrics
from faultwire.service.regression import Compared, compared, promotes
from faultwire.store import blamed, team
from faultwire.store.dashboards import counts, phase_names
from faultwire.store.results import NAME, Store, StoredRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from faultwire.service.settings import Settings
    from faultwire.store.database import Database


Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
UNSHAPED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What reading a report raises where somebody sent one that lacks a part, or has another type there."""


class _About(BaseModel):
    """The facts of a run that is pushed: those of `run.json`, and nothing else."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)
    command: str = Field(max_length=40)
    status: str = Field(pattern="^(finished|interrupted|void)$")
    started_at: str = Field(max_length=40)
    ended_at: str | None = Field(default=None, max_length=40)
    seed: int | None = None
    score: float | None = None
    gate: str | None = Field(default=None, max_length=20)
    ledger: str | None = Field(default=None, max_length=64)
    config_digest: str | None = Field(default=None, max_length=64)
    agent_digest: str | None = Field(default=None, max_length=64)
    profiles_digest: str | None = Field(default=None, max_length=64)
    commit_id: str | None = Field(default=None, max_length=64)
    version: str = Field(max_length=40)

    @field_validator("*")
    @classmethod
    def _without_nul(cls, value: object) -> object:
        if isinstance(value, str) and "\0" in value:  # PostgreSQL has none in a text
            raise ValueError("expected no NUL")
        return value


class _Pushed(BaseModel):
    model_config = ConfigDict(extra="forbid")

    about: _About
    reports: dict[str, dict[str, Any]] = Field(min_length=1, max_length=20)
    tapes: dict[Annotated[str, Field(max_length=200, pattern=r"^[^\x00]+$")], Digest] = Field(
        default_factory=dict, max_length=1000
    )


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a run that was pushed."""

    run: str
    added: bool
    drops: tuple[str, ...] = ()
    promoted: str | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Acts:
    """Over one database."""

    engine: Database
    settings: Settings
    post: Callable[..., httpx.Response] = httpx.post
    metrics: Metrics = field(default_factory=lambda: Metrics(__version__))

    def take(self, project: str, fields: Mapping[str, Any], by: str) -> Taken:
        """Keep a run, compare it with the baseline, report a significant drop, promote by the project's rule.

        Raises UsageError for what is no run, and where another one of its name is kept.
        """
        try:
            taken = self._take(project, fields, by)
        except UsageError:
            self.metrics.count("faultwire_service_uploads_total", outcome="refused")
            raise
        outcome = "added" if taken.added else "known"
        self.metrics.count("faultwire_service_uploads_total", outcome=outcome)
        self.metrics.count("faultwire_service_drops_total", len(taken.drops))
        return taken

    def _take(self, project: str, fields: Mapping[str, Any], by: str) -> Taken:
        try:
            pushed = _Pushed.model_validate(fields)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise UsageError(
                f"found no run: `{printable(where)[:100]}`: {first['msg']}", code="service.run"
            ) from None
        about = pushed.about.model_dump()
        _check(pushed.reports)
        reports = {
            name: json.dumps(report, separators=(",", ":")).encode()
            for name, report in pushed.reports.items()
        }
        run = StoredRun(about, reports, pushed.tapes)
        if not Store(self.engine, project).add(run):
            return Taken(pushed.about.id, added=False)
        cells = sum(len(report["cells"]) for report in pushed.reports.values())
        self.metrics.count("faultwire_service_cells_total", cells)
        mine = self.settings.projects.get(project)
        before = team.baseline(self.engine, project)
        drops: tuple[Any, ...] = ()
        problems: list[str] = []
        if before is not None:
            try:
                drops = self.compare(project, pushed.about.id, before["run"]).drops
            except FaultwireError as error:
                problems.append(error.message)
        reason = None if problems or mine is None else promotes(mine.baseline, about, drops)
        if reason is not None:
            team.promote(self.engine, project, pushed.about.id, by, reason)
        if mine is not None and before is not None:
            failed = list(send(mine.alerts, project, about, before["run"], drops, self.post))
            self.metrics.count("faultwire_service_alert_failures_total", len(failed))
            problems += failed
        return Taken(pushed.about.id, True, tuple(one.text for one in drops), reason, tuple(problems))

    def take_blame(self, project: str, run: str, document: Mapping[str, Any], by: str) -> bool:
        """Keep what `faultwire blame` found of a run; False where the same is kept already. Raises UsageError
        for what is no such result, or one of another run."""
        return blamed.add(self.engine, project, run, checked(document, run), by)

    def runs(self, project: str, most: int) -> Sequence[Mapping[str, Any]]:
        """The latest runs, the oldest first, with their counts."""
        return counts(self.engine, project, most)

    def run(self, project: str, run: str) -> Mapping[str, Any]:
        """One run with its phases. Raises UsageError where there is none."""
        found = Store(self.engine, project).run(run)
        return {**found, "phases": phase_names(self.engine, project, run)}

    def report(self, project: str, run: str, phase: str) -> dict[str, Any]:
        """A phase's report. Raises UsageError where there is none."""
        return Store(self.engine, project).report(run, phase)

    def compare(self, project: str, run: str, before: str | None = None) -> Compared:
        """A run beside another one, or the baseline. Raises UsageError where there is none of either."""
        if before is None:
            known = team.baseline(self.engine, project)
            if known is None:
                raise UsageError("the project has no baseline yet", code="service.no_baseline")
            before = str(known["run"])
        documents = [
            {phase: self.report(project, one, phase) for phase in phase_names(self.engine, project, one)}
            for one in (run, before)
        ]
        if not all(documents):
            raise UsageError("the store has no such run", code="store.no_run")
        try:
            return compared(*documents)
        except UNSHAPED as error:
            raise UsageError(
                f"the reports of `{printable(run)[:64]}` and `{printable(before)[:64]}` cannot be compared: "
                f"{type(error).__name__}",
                code="service.report",
            ) from None


def _check(reports: Mapping[str, Mapping[str, Any]]) -> None:
    for name, report in reports.items():
        cells = report.get("cells")
        sound = isinstance(cells, list) and all(isinstance(cell, dict) for cell in cells)
        if not sound or len(name) > 40 or not NAME.match(name) or not isinstance(report.get("score"), dict):
            raise UsageError(f"found no report in `{printable(name)[:40]}`", code="service.run")
