"""A process whose disk fails on demand: it forks once per job, and the child writes or seals a tape.

Run with `disk_shim.c` preloaded. A job is one JSON line on standard input, its outcome one on standard
output. What a child acknowledges goes into the file `acks`, which the shim leaves alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from faultwire.errors import FaultwireError
from faultwire.events import Exchange, FaultFired, Message, Request, Response
from faultwire.tape.evidence import sealer
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.record.recorder import Recording
from faultwire.tape.record.writer import TapeWriter

JSON = (("content-type", "application/json"), ("authorization", "Bearer sk-ant-REDACTED-000000000000"))
SSE = (("content-type", "text/event-stream"),)
FIRED = FaultFired("status", "status", "response", "fired", "rolled 0.1, under 0.5", "k", 0, 0, 0.1)
SHIM = ctypes.CDLL(None)
SHIM.disk_mark.argtypes = [ctypes.c_int64]
SHIM.disk_arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int, ctypes.c_int]
SHIM.disk_calls.restype = ctypes.c_long


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if not pid:
            run(job)
        if job.get("kill_after_us") is not None:
            threading.Event().wait(job["kill_after_us"] / 1e6)
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)


def run(job: dict[str, Any]) -> None:
    """In the child: do the job, say how it went in `outcome`, and leave without any clearing up."""
    folder = Path(job["folder"])
    log = -1
    if job.get("log"):
        log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    key = SignerKey.parse(job["key"])
    SHIM.disk_arm(str(folder / "disk").encode(), job.get("at", 0), job.get("how", 0), log)
    told: dict[str, Any] = {"error": None, "failed": None}
    try:
        if job["do"] == "seal":
            sealer.seal_tape(folder / "disk" / "t.tape", key)
        else:
            told["failed"] = write(folder, job, key)
    except FaultwireError as error:
        told["error"] = error.code
    told["calls"] = SHIM.disk_calls()
    SHIM.disk_arm(b"", 0, 0, -1)
    (folder / "outcome").write_text(json.dumps(told))
    os._exit(0)


def write(folder: Path, job: dict[str, Any], key: SignerKey) -> str | None:
    """Record a mixed load; why the tape failed, if it did."""
    chance = random.Random(job["seed"])
    acks = os.open(folder / "acks", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    writer = TapeWriter.create(
        folder / "disk" / "t.tape",
        origin="p/t",
        settings={},
        signer=key,
        seal_every=job.get("seal_every", 12),
    )
    if job.get("checkpoint"):
        writer._store.execute(f"PRAGMA wal_autocheckpoint={job['checkpoint']}")
    if job.get("unsafe"):
        writer._store.execute("PRAGMA synchronous=OFF")
    writer.open_session("s", profile="calm", profile_digest="", seed=1)
    streams: list[Recording] = []
    for turn in range(job["turns"]):
        over = take_turn(writer, streams, turn, chance, job.get("large"))
        if writer.flush() and writer.failed is None:
            acknowledge(acks, over)
        if writer.failed is not None:
            break
    for stream in streams:
        stream.end("client_aborted", "left")
    writer.close_session("s")
    writer.close()
    if writer.failed is None:
        acknowledge(acks, [stream.exchange.number for stream in streams])
    return writer.failed


def acknowledge(acks: int, numbers: list[int]) -> None:
    """Say, to the shim's journal and in a file, that exchanges are safe."""
    for number in numbers:
        SHIM.disk_mark(number)
    os.write(acks, b"".join(b"%d\n" % number for number in numbers))


def take_turn(
    writer: TapeWriter, streams: list[Recording], turn: int, chance: random.Random, every: int | None
) -> list[int]:
    """A whole exchange, a stream that goes on, and more of those before; the numbers of what has ended."""
    one = begin(writer, 2 * turn, JSON, b'{"n":%d,"text":"%s"}' % (turn, text(chance, 900)))
    large = every and turn % every == every - 1
    one.upstream_chunk(b'{"text":"%s"}' % text(chance, 1_000_000 if large else 3000))
    one.end("complete", None, (FIRED,))
    two = begin(writer, 2 * turn + 1, SSE, b"{}")
    if turn % 3 == 2:
        for by in ("client", "server"):
            two.message(Message(by=by, kind="text", data=text(chance, 200), sent_ns=1, delivered_ns=2))
    streams.append(two)
    for stream in streams:
        stream.upstream_chunk(b'data: {"delta":{"content":"%s "}}\n\n' % text(chance, 300))
    over = [2 * turn]
    if len(streams) > 2:
        ended = streams.pop(0)
        ended.end("complete")
        over.append(ended.exchange.number)
    return over


def begin(writer: TapeWriter, number: int, head: Any, body: bytes) -> Recording:
    request = Request("POST", "https", "h", 443, "/v1", JSON, body)
    recording = writer.record(Exchange("s", number, request, "llm"))
    recording.request(request)
    recording.upstream_head(Response(200, "OK", head))
    return recording


def text(chance: random.Random, size: int) -> bytes:
    """Letters that hardly compress."""
    return chance.randbytes(size // 2).hex().encode()


if __name__ == "__main__":
    main()
