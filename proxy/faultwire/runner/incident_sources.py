"""Sessions that no file holds: a tape's own, and those that a source of the configuration has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.errors import ScenarioError
from faultwire.replay.incident import DEFAULT
from faultwire.replay.incident_export import Wish, from_tape as exported
from faultwire.replay.incident_read import parse
from faultwire.replay.incident_write import text_of
from faultwire.replay.langsmith import LangSmith, RunFilter, since
from faultwire.runner.folder import STATE
from faultwire.tape.redact.redactor import Redactor, load_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.config.model import Config, Source
    from faultwire.replay.incident import Session
    from faultwire.replay.langsmith import Fetched


def from_tape(path: Path, config: Config) -> tuple[Session, ...]:
    """The sessions on a tape: what it answered then, it answers again. Raises TapeError, ScenarioError."""
    wish = Wish(folder=Path.cwd(), tools=config.tools)
    return tuple(as_session(one.document, f"{path}#{one.name}", one.notes) for one in exported(path, wish))


def as_session(document: Mapping[str, Any], name: str, notes: tuple[str, ...] = ()) -> Session:
    """A document as the session that it would be in a file of that name here. Raises ScenarioError."""
    content = {key: value for key, value in document.items() if value not in (None, "", [], {})}
    session = parse(text_of(content).encode("utf-8", "replace"), Path(name))
    notes = tuple(f"{name}: {note}" for note in notes)
    tape = Path(content["tape"]) if "tape" in content else None
    return replace(session, folder=Path(), tape=tape, notes=(*session.notes, *notes))


def from_langsmith(run: str) -> tuple[Session, ...]:
    """A run of LangSmith as a session. Raises UsageError, ScenarioError, FaultwireError."""
    return (_session(client().one(run, DEFAULT)),)


def automatic(config: Config) -> Iterator[Session]:
    """The sessions of all sources that are to be imported by themselves. Raises as `from_langsmith` does;
    a run of a project that can be no session is left out, which the next session's notes say."""
    for source in config.replays.sources if config.replays is not None else ():
        if not source.auto_import:
            continue
        left_out: list[str] = []
        made = 0
        for one in fetched(source, DEFAULT):
            if one.problem is not None:
                left_out.append(f"run `{one.run}` of `{source.project}` is left out: {one.problem}")
                continue
            session = _session(one)
            made += 1
            yield replace(session, notes=(*left_out, *session.notes))
            left_out.clear()
        if left_out and not made:
            raise ScenarioError(left_out[0], code="scenario.none")


def fetched(source: Source, contract: str) -> Iterator[Fetched]:
    """The runs of a source of the configuration. Raises as `from_langsmith` does."""
    if source.type == "langsmith_run":
        yield client().one(source.run_id or "", contract)
        return
    run_filter = RunFilter(
        source.filter.status,
        since(source.filter.date_range) if source.filter.date_range else None,
        source.filter.min_latency_ms,
    )
    yield from client().project(source.project or "", run_filter, contract)


def client() -> LangSmith:
    """LangSmith, as the environment says. Raises UsageError."""
    return LangSmith(Redactor(load_key(STATE / "keys" / "redaction.key")))


def _session(one: Fetched) -> Session:
    assert one.document is not None
    return as_session(one.document, f"langsmith/{one.run}.yaml", one.notes)
