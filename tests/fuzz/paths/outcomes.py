"""What came of a script on one path, and where two outcomes differ.

Two things are let go of: times, and how a body was divided into chunks, which follows from how its bytes were
read. Everything else is compared.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tests.fuzz.paths.drivers import Player

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.fuzz.paths.cases import Case

    from faultwire.history import Message
    from faultwire.tape.record.recorder import Recording


@dataclass(frozen=True)
class Outcome:
    """Bytes to the client and to each server, how these connections ended, the tape, and the counters."""

    client: list[bytes]
    client_end: str
    servers: list[list[bytes]]
    server_ends: list[str]
    tape: list[dict[str, Any]]
    counters: dict[str, Any]
    flaws: tuple[str, ...] = ()
    """Of the native path: which part of a message could not be read (`head`, `large` or `body`)."""


def outcome(case: Case, *, native: bool) -> Outcome:
    """Play a script."""
    player = Player(case, native=native)
    player.play()
    handler = player.handler
    tape = [events_of(recording) for recording in player.tape.recordings]
    methods = [one["received"].method if one["received"] else "" for one in tape]
    return Outcome(
        unframed(bytes(handler.wires[handler.client].written), methods),
        player.client_end,
        [unframed(bytes(wire.written)) for wire in handler.servers],
        player.server_ends,
        tape,
        player.counters(),
        getattr(handler.layer, "flaws", ()),
    )


def unframed(data: bytes, methods: Sequence[str] = ()) -> list[bytes]:
    """Messages, each a head and its body, the latter without its division into chunks. What cannot be told
    apart is left as it is. `methods` are those that are answered, one after the other."""
    found, asked = [], deque(methods)
    while data:
        head, gap, rest = data.partition(b"\r\n\r\n")
        if not gap:
            return [*found, data]
        lower = head.lower()
        interim = lower.startswith((b"http/1.1 100", b"http/1.1 101"))
        to_head = not interim and bool(asked) and asked.popleft() == "HEAD"
        if (
            to_head
            or interim
            or lower.startswith((b"http/1.1 204", b"http/1.1 304", b"http/1.0 204", b"http/1.0 304"))
        ):
            body = b""
        elif re.search(rb"\r\ntransfer-encoding:[ \t]*chunked", lower):
            body, rest = _joined(rest)
        elif length := re.search(rb"\r\ncontent-length:[ \t]*(\d+)", lower):
            size = int(length[1])
            body, rest = rest[:size], rest[size:]
        elif lower.startswith(b"http/"):
            body, rest = rest, b""
        else:
            body = b""
        found.append(head + b"|" + body)
        data = rest
    return found


def _joined(rest: bytes) -> tuple[bytes, bytes]:
    """A body in chunks as one, with what is behind it."""
    body = b""
    while b"\r\n" in rest:
        line, _, after = rest.partition(b"\r\n")
        if not re.fullmatch(rb"[0-9a-fA-F]+", line):
            break
        size = int(line, 16)
        if not size:
            end = after.find(b"\r\n")
            if end == 0:
                return body + b"|whole", after[2:]
            trailers, _, behind = after.partition(b"\r\n\r\n")
            return body + b"|whole|" + trailers, behind
        body, rest = body + after[:size], after[size + 2 :]
    return body + b"|cut|" + rest, b""


def events_of(recording: Recording) -> dict[str, Any]:
    """What the tape gets of an exchange, without its times."""
    up, down = recording.upstream, recording.delivered
    ending = recording.ending
    return {
        "received": recording.received,
        "sent": recording.sent,
        "sent_body": b"".join(data for _, data in recording.sent_body),
        "upstream": up and up[1],
        "up": b"".join(data for _, data in recording.up),
        "delivered": down and down[1],
        "touched": recording.touched_at is not None,
        "down": b"".join(data for _, data in recording.down),
        "trailers": [(side, headers) for side, _, headers in recording.trailing],
        "messages": [_timeless(one) for one in recording.messages],
        "head": recording.got_head,
        "ending": ending and (ending[1], ending[2]),
        "faults": ending and ending[3],
    }


def differences(one: Outcome, other: Outcome) -> dict[str, tuple[Any, Any]]:
    """Where two outcomes differ: by name, both."""
    found = {}
    for name in ("client", "client_end", "servers", "server_ends", "counters"):
        here, there = getattr(one, name), getattr(other, name)
        if here != there:
            found[name] = (here, there)
    if len(one.tape) != len(other.tape):
        found["tape"] = (one.tape, other.tape)
        return found
    for number, (here, there) in enumerate(zip(one.tape, other.tape, strict=True)):
        for name in here:
            if here[name] != there[name]:
                found[f"tape.{number}.{name}"] = (here[name], there[name])
    return found


def _timeless(message: Message) -> Message:
    """A message of which is only known whether it was sent and delivered."""
    instants = (message.sent_ns, message.delivered_ns)
    sent, delivered = (None if instant is None else 0 for instant in instants)
    return replace(message, sent_ns=sent, delivered_ns=delivered)
