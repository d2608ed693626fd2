"""Runs of LangSmith, read with its own client: one by its id, or those of a project that a filter takes."""

from __future__ import annotations

import importlib
import logging
import os
import re  # noqa: TID251 - fixed patterns
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from faultwire.clock import utc_now
from faultwire.errors import FaultwireError, ScenarioError, UsageError, printable
from faultwire.replay.langsmith_shape import failed_inside, plain, session_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.replay.langsmith_shape import Run
    from faultwire.tape.redact.redactor import Redactor

KEYS = ("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")
ADDRESSES = ("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT")
MOST = 200
"""Runs of a project that are read where nobody says how many."""
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SPAN = re.compile(r"(?:last[ _]?)?([0-9]{1,5})[ _]?(m|min|minutes?|h|hours?|d|days?|w|weeks?)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which root runs of a project are taken. `warning` are those that succeeded although a run inside of
    them failed; `since` is the earliest start."""

    status: Literal["error", "warning", "all"] = "error"
    since: datetime | None = None
    min_latency_ms: int | None = None
    limit: int = MOST


@dataclass(frozen=True, slots=True)
class Fetched:
    """One run: its session's document, or why there is none."""

    run: str
    document: dict[str, Any] | None
    notes: tuple[str, ...] = ()
    problem: str | None = None


def since(text: str, now: datetime | None = None) -> datetime:
    """An instant: `7d`, `24h`, `last_30_days`, or a date or date and time as ISO 8601 has them.

    Raises UsageError.
    """
    found = _SPAN.fullmatch(text.strip().lower())
    if found is not None:
        return (now or utc_now()) - timedelta(**{_UNITS[found[2][0]]: int(found[1])})
    try:
        instant = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"found `{printable(text)[:60]}` for a date, expected for example `7d`, `24h` or `2026-01-31`",
            code="usage.date",
        ) from None
    return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)


class LangSmith:
    """Reads runs and makes them sessions. What it gives is redacted as a tape is."""

    def __init__(self, redactor: Redactor, environ: Mapping[str, str] | None = None) -> None:
        self._redactor = redactor
        self._module = _module()
        given = os.environ if environ is None else environ
        if not any(given.get(name) for name in (*KEYS, *ADDRESSES)):
            raise UsageError(
                "found no `LANGSMITH_API_KEY` in the environment, expected LangSmith's key",
                code="langsmith.no_key",
                hint="LANGSMITH_ENDPOINT names another server than LangSmith's own",
            )
        log = logging.getLogger("langsmith")  # what it has to say comes as errors, which are ours to tell
        log.addHandler(logging.NullHandler())
        log.propagate = False
        with _quiet():
            self._client = self._module.Client(auto_batch_tracing=False)

    def one(self, run: str, contract: str) -> Fetched:
        """A run by its id, or by an address that ends in one, with all its child runs.

        Raises UsageError where there is none, ScenarioError where it can be no session, FaultwireError
        where LangSmith does not answer.
        """
        ids = _UUID.findall(run)
        if not ids:
            raise UsageError(
                f"found `{printable(run)[:80]}` for a run, expected its id or its address",
                code="langsmith.run",
            )
        document, notes = session_of(self._whole(ids[-1]), contract)
        return Fetched(ids[-1], self._clean(document), notes)

    def project(self, name: str, wanted: RunFilter, contract: str) -> Iterator[Fetched]:
        """The root runs of a project that the filter takes, newest first as LangSmith gives them; one that
        can be no session says why. Raises UsageError and FaultwireError, as `one` does."""
        for ident in self._found(name, wanted):
            run = self._whole(ident)
            if wanted.status == "warning" and not failed_inside(run):
                continue
            try:
                document, notes = session_of(run, contract)
            except ScenarioError as error:
                yield Fetched(ident, None, problem=error.message)
            else:
                yield Fetched(ident, self._clean(document), notes)

    def _found(self, name: str, wanted: RunFilter) -> list[str]:
        """The ids of the runs that LangSmith's own filter takes."""
        query: dict[str, Any] = {"project_name": name, "is_root": True, "limit": wanted.limit}
        if wanted.status != "all":
            query["error"] = wanted.status == "error"
        if wanted.status == "warning":
            query["tree_filter"] = "neq(error, null)"
        if wanted.since is not None:
            query["start_time"] = wanted.since
        if wanted.min_latency_ms is not None:
            query["filter"] = f"gte(latency, {wanted.min_latency_ms / 1000:g})"
        with self._speaking(f"project `{printable(name)}`"):
            return [str(run.id) for run in self._client.list_runs(**query)]

    def _whole(self, ident: str) -> Run:
        with self._speaking(f"run `{ident}`"):
            run: Run = self._client.read_run(ident, load_child_runs=True)
            return run

    @contextmanager
    def _speaking(self, what: str) -> Iterator[None]:
        """What the client says of itself is not for the user, and its errors become ours."""
        errors = self._module.utils
        try:
            with _quiet():
                yield
        except errors.LangSmithNotFoundError as error:
            raise UsageError(
                f"found no {what} at LangSmith", code="langsmith.not_found", hint="is it another workspace's?"
            ) from error
        except errors.LangSmithAuthError as error:
            raise UsageError(
                f"LangSmith refused its key for {what}",
                code="langsmith.key",
                hint="LANGSMITH_API_KEY is its key",
            ) from error
        except (errors.LangSmithError, OSError, ValueError) as error:
            message = self._redactor.text(str(error), {})
            raise FaultwireError(
                f"LangSmith did not return {what}: {printable(message)[:300]}", code="langsmith.failed"
            ) from error

    def _clean(self, document: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = self._redacted(plain(document))
        return made

    def _redacted(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redactor.text(value, {})
        if isinstance(value, dict):
            return {key: self._redacted(one) for key, one in value.items()}
        return [self._redacted(one) for one in value] if isinstance(value, list) else value


def _module() -> Any:
    try:
        with _quiet():
            return importlib.import_module("langsmith")
    except ImportError as error:
        raise UsageError(
            f"cannot import LangSmith's client ({printable(str(error))[:200]})",
            code="langsmith.not_installed",
            hint="pip install 'faultwire[langsmith]'",
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Its client warns of methods that are to go, and of keys that a server of one's own does not need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
