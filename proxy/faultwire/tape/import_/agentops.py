"""Logs of AgentOps Replay: its first generation (schema v0.5, v0.6) and ELS 1.0; JSON lines, or the JSON of
an export.

Every rule of its verifiers is held against the log, and everything that breaks one is reported, not only the
first. Its events stay events: they were asserted by the agent's own SDK and are no exchanges that anybody saw
on a wire.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from faultwire.errors import TapeError
from faultwire.tape.import_._agentops_chain import GENESIS, Chain, generation
from faultwire.tape.import_._agentops_json import own_digest
from faultwire.tape.import_._api import SESSION, Event, Found
from faultwire.tape.import_._source import MAX_DOCUMENT, dumped, opened, parsed, whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.tape.import_._api import Item

__all__ = ["GENESIS", "event_hash", "read"]

MAX_LINE = 16 << 20
_MAX_SESSIONS = 10_000
Json = dict[str, Any]


def read(path: Path, key: bytes | None = None) -> Iterator[Item]:
    """The events of a log, with what is wrong with it; `key` is the one of its seals' HMAC.

    Raises TapeError where it is none.
    """
    export = _export(path)
    lines = _listed(export["events"]) if export is not None else _lines(path)
    chains: dict[str, Chain] = {}
    last = None
    count = 0
    for number, value, data in lines:
        if not isinstance(value, dict) or "event_type" not in value:
            what = "is no event" if isinstance(value, dict) else "is no JSON object"
            yield Found("agentops_line_malformed", f"entry {number} {what}")
            continue
        count += 1
        session = _session(value)
        if last is not None and session != last and session not in chains:
            text = f"entry {number} is of session `{session[:80]}`, expected one session in a log"
            yield Found("agentops_session_mismatch", text)
        if session not in chains and len(chains) >= _MAX_SESSIONS:
            raise TapeError(f"found more than {_MAX_SESSIONS} sessions", code="tape.import_size")
        chain = chains.setdefault(session, Chain(session, generation(value), key))
        last = session
        yield from chain.take(value)
        source = f"agentops {chain.version}"
        yield Event(session, source, str(value["event_type"]), data, chain.number(value), _instant(value))
    if not count:
        raise TapeError(f"`{path}` holds no event of AgentOps Replay", code="tape.import_unreadable")
    for chain in chains.values():
        yield from chain.close()
    if export is not None:
        yield from _claims(export, chains)


def event_hash(event: Json) -> str:
    """The hash (hex) of an event of ELS 1.0, whatever `event_hash` it has, as its verifier computes it.

    Raises ValueError and RecursionError where it has no canonical form.
    """
    return own_digest({name: value for name, value in event.items() if name != "event_hash"})


def _session(event: Json) -> str:
    """The session of an event; some vectors have it in the payload."""
    payload = event.get("payload")
    inner = payload.get("session_id") if isinstance(payload, dict) else None
    found = event.get("session_id", inner)
    return found if isinstance(found, str) and found else SESSION


def _instant(event: Json) -> int | None:
    """When the event says that it was, in milliseconds since the epoch."""
    instant = event.get("timestamp_wall", event.get("timestamp"))
    try:
        return int(datetime.fromisoformat(instant).timestamp() * 1000) if isinstance(instant, str) else None
    except (ValueError, OverflowError):
        return None


# ---------------------------------------------------------------- containers

Entry = tuple[int, Any, bytes]


def _export(path: Path) -> Json | None:
    """The document of an export, or of a plain list of events; None where the file has a line for each."""
    with opened(path) as source:
        if source.size > MAX_DOCUMENT:
            return None
        first = source.readline(MAX_LINE).strip().removeprefix(b"\xef\xbb\xbf")
    value = _value(first)
    if isinstance(value, dict) and "event_type" in value:
        return None
    document = _value(whole(path))
    if isinstance(document, list):
        return {"events": document}
    if isinstance(document, dict) and isinstance(document.get("events"), list):
        return document
    return None


def _listed(events: list[Any]) -> Iterator[Entry]:
    return ((number, value, dumped(value)) for number, value in enumerate(events, 1))


def _lines(path: Path) -> Iterator[Entry]:
    """A line for each entry. One that is too long is skipped without being held."""
    with opened(path) as source:
        number, skipping = 0, False
        while line := source.readline(MAX_LINE + 1):
            whole_line = line.endswith(b"\n") or len(line) <= MAX_LINE
            if not skipping:
                number += 1
                data = line.strip().removeprefix(b"\xef\xbb\xbf")
                if data or not whole_line:
                    yield number, _value(data) if whole_line else None, data
            skipping = not whole_line


def _value(data: bytes) -> Any:
    try:
        return parsed(data, exact=True)
    except ValueError:
        return None


# ---------------------------------------------------------------- what an export claims


def _claims(export: Json, chains: dict[str, Chain]) -> Iterator[Found]:
    claimed = export.get("evidence_class")
    if isinstance(claimed, str):
        text = f"the export calls itself {claimed[:80]!r}: nothing in it can prove that"
        yield Found("agentops_class_claimed", text, note=True)
    meta = export.get("session_metadata")
    counts = meta if isinstance(meta, dict) else {}
    events = sum(chain.events for chain in chains.values())
    drops = sum(chain.drops for chain in chains.values())
    for name, held in (("event_count", events), ("total_drops", drops)):
        if isinstance(counts.get(name), int) and counts[name] != held:
            text = f"the export claims `{name}` {str(counts[name])[:30]}, and holds {held}"
            yield Found("agentops_count_mismatch", text)
    seal, chain = export.get("seal"), next(iter(chains.values()))
    if isinstance(seal, dict) and (seal.get("present") or "final_event_hash" in seal):
        yield from chain.sealed_by(seal, chain.events)
