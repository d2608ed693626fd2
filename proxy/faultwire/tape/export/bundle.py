"""A tape as a compliance bundle: what was recorded, by whom it was kept, and what is missing from it.

Canonical JSON (RFC 8785): the same tape gives the same bytes. Bodies are named by their SHA-256 and not
repeated; the tape has them. `pdf` renders a bundle for people.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from faultwire import _core
from faultwire.clock import iso
from faultwire.errors import TapeTampered
from faultwire.tape.evidence.findings import evidence_class
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.sealer import file_digest
from faultwire.tape.evidence.signed_note import NoteError, parse
from faultwire.tape.evidence.verify import verify
from faultwire.tape.export import personal_data, questions
from faultwire.tape.format.bypassed import bypasses
from faultwire.tape.format.file import connect_reader, event_rows
from faultwire.tape.format.handshakes import failed_handshakes
from faultwire.tape.format.validate import event_of
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faultwire.tape.evidence.signed_note import VerifierKey
    from faultwire.tape.format.events import Event

UNIT = "exchanges"
VERSION = 1
GAPS = frozenset(
    {
        "agentops_chain_broken",
        "agentops_drop",
        "agentops_sequence_gap",
        "agentops_session_open",
        "agentops_start_missing",
        "findings_left_out",
        "import_broken_off",
        "tracefork_blob_missing",
        "tracefork_unfinished",
    }
)
"""Codes of notes on an imported file by which something is missing from it."""
Json = dict[str, Any]


def write(path: Path, out: BinaryIO, frameworks: Sequence[str] = ()) -> int:
    """Write the bundle of the tape at `path`, with answers to the questions of frameworks; the number of its
    exchanges. Raises TapeError."""
    made = bundle(path, KeyRing().trusted())
    if frameworks:
        made["personal_data"] = personal_data.report(path)
        made["frameworks"] = [questions.answered(name, made) for name in frameworks]
    out.write(_core.jcs(orjson.dumps(made)) + b"\n")
    return len(made["exchanges"])


def bundle(path: Path, trusted: Sequence[VerifierKey]) -> Json:
    """The bundle as JSON of strings, integers, booleans and nulls. Raises TapeError."""
    report = verify(path, trusted)
    malformed = [finding for finding in report.findings if finding.code == "record_malformed"]
    if malformed:
        raise TapeTampered(f"tape `{path}` cannot be bundled: {malformed[0].message}")
    grade, reasons = evidence_class(report)
    digest, size = file_digest(path)
    made: Json = {
        "bundle": "faultwire-compliance",
        "version": VERSION,
        "tape": {
            "origin": report.origin,
            "root": report.root,
            "events": report.events,
            "file_sha256": digest,
            "file_bytes": size,
        },
        "evidence": {
            "verifies": report.ok,
            "class": grade,
            "reasons": reasons,
            "sealed_by": report.key,
            "trusted": report.trusted,
        },
        "findings": [{"code": f.code, "event": f.seq, "message": f.message} for f in report.findings],
        "custody": [],
        "sessions": [],
        "exchanges": [],
        "imported_events": [],
        "notes": [],
        "gaps": [],
        "redactions": [],
        "erasures": [],
    }
    gather = _Gather(made)
    with closing(connect_reader(path)) as connection:
        for seq, _, record, _ in event_rows(connection):
            gather.event(event_of(record, path, seq))
    gather.close()
    return made


class _Gather:
    def __init__(self, made: Json) -> None:
        self._made = made
        self._sessions: dict[str, Json] = {}
        self._open: dict[tuple[str, int], Json] = {}
        self._take = {
            "tape": self._tape,
            "seal": self._seal,
            "session_start": self._session_start,
            "session_end": self._session_end,
            "request": self._request,
            "fault": self._fault,
            "redaction": self._redaction,
            "drop": self._drop,
            "end": self._end,
            "foreign": self._foreign,
            "note": self._note,
            "erasure": self._erasure,
        }

    def event(self, event: Event) -> None:
        """Sort one event into the bundle."""
        take = self._take.get(event["type"])
        if take is not None:
            take(event)
        elif "exchange" in event:
            self._about(event)

    def close(self) -> None:
        """What never ended."""
        for name, session in self._sessions.items():
            if session["ended"] is None:
                self._gap(name, None, "the session was interrupted")
        for (name, number), _ in self._open.items():
            self._gap(name, number, "the exchange never ended")

    def _gap(self, session: str, number: int | None, why: str) -> None:
        self._made["gaps"].append({"session": session, "exchange": number, "why": why})

    def _tape(self, event: Event) -> None:
        settings = orjson.loads(event["settings"])
        custody = {"what": "recorded", "at": iso(event["created_ms"]), "by": event["origin"], "event": 0}
        if settings.get("imported"):
            custody["what"] = f"imported from {settings['imported']}"
        elif settings.get("made_by"):
            custody["what"] = f"made from other tapes with {settings['made_by']}"
        self._made["custody"].append(custody)

    def _seal(self, event: Event) -> None:
        try:
            names = ", ".join(name for name, _, _ in parse(event["note"]).signatures)
        except NoteError:
            names = "an unreadable signature"
        sealed = {"what": "sealed", "at": None, "by": names, "event": event["seq"], "root": event["root"]}
        self._made["custody"].append(sealed)

    def _session_start(self, event: Event) -> None:
        session = {key: event[key] for key in ("session", "profile", "profile_digest", "seed", "agent")}
        session |= {"started": iso(event["started_ms"]), "ended": None, "exchanges": None}
        self._sessions[event["session"]] = session
        self._made["sessions"].append(session)

    def _session_end(self, event: Event) -> None:
        session = self._sessions.get(event["session"])
        if session is not None:
            session |= {"ended": iso(event["ended_ms"]), "exchanges": event["exchanges"]}
        bypassed, more = bypasses(event)
        for one in bypassed:
            self._gap(event["session"], None, f"connected past the proxy: {one.text}")
        if more:
            self._gap(
                event["session"],
                None,
                f"connected past the proxy to {counted(more, 'more address', 'more addresses')}",
            )
        for failed in failed_handshakes(event):
            self._gap(event["session"], None, failed.text)

    def _request(self, event: Event) -> None:
        known = ("session", "exchange", "kind", "provider", "tool", "method", "host", "path", "attempt")
        entry: Json = {key: event.get(key) for key in known}
        entry |= {"started": iso(event["started_ms"]), "status": None, "ending": None, "faults": []}
        entry["bodies"] = [_body("request", event)] if event.get("body") else []
        self._open[event["session"], event["exchange"]] = entry
        self._made["exchanges"].append(entry)

    def _about(self, event: Event) -> None:
        entry = self._open.get((event["session"], event["exchange"]))
        if entry is None:
            return
        if event["type"] == "response":
            entry["status"] = event["status"]
        if event.get("body"):
            entry["bodies"].append(_body(str(event.get("side") or event["type"]), event))

    def _fault(self, event: Event) -> None:
        entry = self._open.get((event["session"], event["exchange"]))
        if entry is not None:
            fired = [line for line in event["lines"] if line["outcome"] == "fired"]
            entry["faults"] += [{"fault": line["fault"], "effect": line["effect"]} for line in fired]

    def _redaction(self, event: Event) -> None:
        for what, count in sorted(event["counts"].items()):
            line = {"session": event["session"], "exchange": event["exchange"], "class": what, "count": count}
            self._made["redactions"].append(line)

    def _drop(self, event: Event) -> None:
        self._gap(event["session"], event["exchange"], f"not recorded: {event['reason']}")

    def _foreign(self, event: Event) -> None:
        """An event of an imported log; its text is on the tape."""
        entry: Json = {key: event[key] for key in ("session", "source", "kind", "number")}
        entry |= {"event": event["seq"], "at": None if event["at_ms"] is None else iso(event["at_ms"])}
        self._made["imported_events"].append(entry | {"bodies": [_body("event", event)]})

    def _note(self, event: Event) -> None:
        bad = event.get("bad") is True
        self._made["notes"].append(
            {"code": event["code"], "event": event["seq"], "message": event["text"], "bad": bad}
        )
        if event["code"] in GAPS:
            self._made["gaps"].append({"session": None, "exchange": None, "why": event["text"]})

    def _erasure(self, event: Event) -> None:
        line = {"event": event["seq"], "at": iso(event["at_ms"]), "bodies": event["blobs"]}
        self._made["erasures"].append(line | {"by": event["by"], "reason": event["reason"]})

    def _end(self, event: Event) -> None:
        entry = self._open.pop((event["session"], event["exchange"]), None)
        if entry is None:
            return
        entry["ending"] = event["ending"]
        if event["ending"] != "complete":
            why = f": {event['error']}" if event["error"] else ""
            self._gap(event["session"], event["exchange"], f"it ended with `{event['ending']}`{why}")


def _body(side: str, event: Event) -> Json:
    return {"side": side, "sha256": event["body"]["blob"], "bytes": event["body"]["size"]}
