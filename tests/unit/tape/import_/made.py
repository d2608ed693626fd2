"""Small files of every foreign format, made by their rules: what tests import, bend and break."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
from base64 import b64encode
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

import zstandard

Json = dict[str, Any]
GENESIS = "0" * 64
ASK = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]})
ANSWER = json.dumps(
    {
        "id": "c1",
        "object": "chat.completion",
        "model": "gpt-4o",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }
)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def compact(value: Any) -> bytes:
    """Canonical for ASCII names and integers, under either rule."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


# ---------------------------------------------------------------- HAR


def entry(**changed: Any) -> Json:
    """An exchange with a model, as a browser writes it."""
    made: Json = {
        "pageref": "page_1",
        "startedDateTime": "2026-01-02T03:04:05.006Z",
        "time": 12.5,
        "request": {
            "method": "POST",
            "url": "https://api.openai.com/v1/chat/completions?x=1",
            "httpVersion": "h2",
            "headers": [
                {"name": ":authority", "value": "api.openai.com"},
                {"name": "authorization", "value": "Bearer sk-" + "a1B2" * 8},
                {"name": "content-type", "value": "application/json"},
            ],
            "postData": {"mimeType": "application/json", "text": ASK},
        },
        "response": {
            "status": 200,
            "statusText": "OK",
            "headers": [
                {"name": "content-type", "value": "application/json"},
                {"name": "content-encoding", "value": "gzip"},
                {"name": "content-length", "value": "77"},
            ],
            "content": {"size": len(ANSWER), "mimeType": "application/json", "text": ANSWER},
        },
        "timings": {"blocked": -1, "send": 1, "wait": 9, "receive": 2.5},
    }
    made.update(changed)
    return made


def har(*entries: Any, version: str = "1.2") -> bytes:
    return json.dumps({"log": {"version": version, "entries": list(entries)}}).encode()


# ---------------------------------------------------------------- tracefork


def tracefork_digest(
    draws: list[tuple[str, str]], calls: list[tuple[bytes, bytes]], tools: Any = (), *, framed: bool = False
) -> str:
    if framed:
        draws = [(sha(kind.encode()), sha(value.encode())) for kind, value in draws]
    lines = [f"D:{kind}:{value}\n" for kind, value in draws]
    lines += [f"X:{sha(one)}:{sha(two)}\n" for one, two in calls]
    lines += [f"T:{sha(one)}:{sha(two)}\n" for one, two in tools]
    return sha("".join(lines).encode())


DRAWS = [("clock", "1700000000.5"), ("uuid", "0b9c8f6e-0000-4000-8000-000000000001")]
CALLS = [(ASK.encode(), ANSWER.encode()), (ASK.encode(), b"event: x\ndata: {}\n\n")]
TOOLS = [(b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', b'{"jsonrpc":"2.0","id":1,"result":{}}')]


def sqlite_tape(path: Path, schema: str = "2", **meta: str) -> Path:
    packer = zstandard.ZstdCompressor(level=3)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE blobs (hash TEXT PRIMARY KEY, data BLOB NOT NULL);"
            "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, "
            "kind TEXT NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL);"
            "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);"
        )
        connection.executemany("INSERT INTO events (kind, a, b) VALUES ('draw', ?, ?)", DRAWS)
        for kind, pairs in (("exchange", CALLS), ("tool_exchange", TOOLS if schema != "1" else [])):
            for pair in pairs:
                for body in pair:
                    row = (sha(body), packer.compress(body))
                    connection.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", row)
                values = (kind, sha(pair[0]), sha(pair[1]))
                connection.execute("INSERT INTO events (kind, a, b) VALUES (?, ?, ?)", values)
        told = {"boundary": "b", "agent_name": "shop agent", "schema_version": schema, **meta}
        if schema == "3":
            witnesses = {
                "request_urls": ["https://api.openai.com/v1/chat/completions"] * 2,
                "response_status": [429, 200],
                "response_content_type": ["application/json", "text/event-stream; charset=utf-8"],
            }
            told = {**{name: json.dumps(value) for name, value in witnesses.items()}, **told}
        connection.executemany("INSERT INTO meta VALUES (?, ?)", told.items())
    connection.close()
    return path


def tracefork_store(path: Path, runs: dict[str, bytes]) -> Path:
    """A store with a branch of the first run."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE tapes (run_id TEXT PRIMARY KEY, agent_name TEXT, tape_bytes BLOB, created_at TEXT);"
            "CREATE TABLE branches (branch_id TEXT PRIMARY KEY, parent_run_id TEXT);"
            "INSERT INTO branches VALUES ('b', 'one');"
        )
        connection.executemany("INSERT INTO tapes VALUES (?, 'a', ?, '2026')", runs.items())
    connection.close()
    return path


def envelope(version: int = 6, **changed: Any) -> bytes:
    """An envelope of that version; `changed` are members of its header."""
    tools = TOOLS if version >= 3 else []
    if version == 1:
        pairs = [[b64encode(one).decode(), b64encode(two).decode()] for one, two in CALLS]
        return json.dumps(
            {"boundary": "b", "agent_name": "a", "draws": DRAWS, "exchanges": pairs, **changed}
        ).encode()
    bodies = list(dict.fromkeys(body for pair in (*CALLS, *tools) for body in pair))
    header: Json = {
        "boundary": "b",
        "agent_name": "a",
        "draws": DRAWS,
        "exchanges": [[sha(one), sha(two)] for one, two in CALLS],
        "blob_hashes": [sha(body) for body in bodies],
        "content_redacted": False,
    }
    if version >= 3:
        header["tool_exchanges"] = [[sha(one), sha(two)] for one, two in tools]
    if version >= 4:
        header["async_batches"] = [[1, 0]]
    if version >= 5:
        header["provenance"] = {"matcher_name": "identity"}
    if version >= 6:
        header["request_urls"] = ["https://api.openai.com/v1/chat/completions"] * len(CALLS)
    if version >= 7:
        header["response_status"] = [429, 200]
        header["response_content_type"] = ["application/json", "text/event-stream; charset=utf-8"]
    header.update(changed)
    text = json.dumps(header).encode()
    packer = zstandard.ZstdCompressor(level=3)
    packed = [packer.compress(body) for body in bodies]
    blobs = b"".join(struct.pack(">I", len(one)) + one for one in packed)
    return b"TFTAPE\0" + struct.pack(">HI", version, len(text)) + text + blobs


# ---------------------------------------------------------------- AgentOps Replay

OLD_SIGNED = (
    *("event_id", "session_id", "sequence_number", "timestamp_wall", "event_type", "payload_hash"),
    "prev_event_hash",
)


def old_log(
    *events: tuple[str, Json], session: str = "s-1", version: str = "v0.6", **more: Any
) -> list[Json]:
    """A chained log of the first generation."""
    made: list[Json] = []
    prev = None
    for number, (kind, payload) in enumerate(deepcopy(events)):
        event: Json = {
            "event_id": f"e-{number}",
            "session_id": session,
            "sequence_number": number,
            "timestamp_wall": f"2026-01-02T03:04:{number:02}Z",
            "timestamp_monotonic": number,
            "event_type": kind,
            "source_sdk_ver": "x",
            "schema_ver": version,
            "payload": payload,
            "payload_hash": sha(compact(payload)),
            "prev_event_hash": prev,
            "chain_authority": "sdk",
            **more,
        }
        prev = event["event_hash"] = sha(compact({name: event[name] for name in OLD_SIGNED}))
        made.append(event)
    return made


def new_log(*events: tuple[str, Json], session: str = "s-2") -> list[Json]:
    """A chained log of ELS 1.0."""
    made: list[Json] = []
    prev = GENESIS
    for number, (kind, payload) in enumerate(deepcopy(events), 1):
        event: Json = {
            "seq": number,
            "event_type": kind,
            "session_id": session,
            "timestamp": f"2026-01-02T03:04:{number:02}.000001Z",
            "payload": payload,
            "prev_hash": prev,
        }
        prev = event["event_hash"] = sha(compact(event))
        made.append(event)
    return made


START, END = ("SESSION_START", {"agent_id": "a"}), ("SESSION_END", {"status": "success"})
OLD_EVENTS = (
    START,
    ("MODEL_REQUEST", {"model": "gpt-4o", "messages": [{"role": "user", "content": "look it up"}]}),
    ("TOOL_CALL", {"tool_name": "search", "args": {"q": "socks"}}),
    ("TOOL_RESULT", {"tool_name": "search", "result": {"hits": 2}}),
    ("MODEL_RESPONSE", {"content": "two"}),
    END,
)
NEW_EVENTS = (
    START,
    ("LLM_CALL", {"model_id": "m", "prompt": "Hello"}),
    ("LLM_RESPONSE", {"content": "Hi"}),
    END,
)


def sealed_old(events: list[Json], **seal: Any) -> list[Json]:
    """The same with a seal that fits."""
    told = {"final_event_hash": events[-1]["event_hash"], **seal}
    kinds = [(event["event_type"], event["payload"]) for event in events]
    return old_log(*kinds, ("CHAIN_SEAL", told), session=events[0]["session_id"])


def lines(events: list[Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)
