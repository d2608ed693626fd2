"""The control protocol, message by message, without its socket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from faultwire.errors import FaultwireError, UsageError
from faultwire.mitm.engine.control_server import Control, as_json
from faultwire.mitm.flow.runtime_control import RuntimeControl
from faultwire.profile.dump import dump
from faultwire.profile.load import inline


class Peer:
    """Stands for a connection whose other end the system does not tell."""

    def get_extra_info(self, _name: str) -> None:
        return None


class Engine:
    """Stands for the engine: it says what it was asked."""

    def __init__(self) -> None:
        self.stopped = False
        self.runtime = RuntimeControl()

    async def open_session(self, settings: Any) -> dict[str, Any]:
        return {"user": settings.name, "token": "t", "port": 1}

    async def close_session(self, name: str, seen: Any = (), more: int = 0) -> dict[str, Any]:
        if name == "broken":
            raise ZeroDivisionError("sk-secret")
        if seen:
            return {"seen": [one.text for one in seen], "more": more}
        raise UsageError(f"no session `{name}` is open", code="engine.session")

    async def share(self, settings: Any) -> dict[str, Any]:
        return {"user": settings.name, "token": "t", "port": 2, "unnamed": settings.unnamed}

    async def flush(self) -> int:
        return 7

    def describe(self) -> dict[str, Any]:
        return {"live": 0}

    def stop(self) -> None:
        self.stopped = True


async def ask(engine: Engine, line: bytes) -> dict[str, Any]:
    return await Control(engine, Path("/nowhere"))._answer(line, Peer())  # type: ignore[arg-type]


async def test_each_operation() -> None:
    engine = Engine()
    told = {"op": "open_session", "name": "s", "profile": {}, "seed": 1}
    assert await ask(engine, json.dumps(told).encode()) == {"user": "s", "token": "t", "port": 1}
    told = {"op": "share", "name": "server", "unnamed": True}
    assert await ask(engine, json.dumps(told).encode()) == {
        "user": "server",
        "token": "t",
        "port": 2,
        "unnamed": True,
    }
    assert await ask(engine, b'{"op": "flush"}') == {"acknowledged": 7}
    assert await ask(engine, b'{"op": "stats"}') == {"live": 0}
    assert not engine.stopped
    assert await ask(engine, b'{"op": "shutdown"}') == {"stopping": True}
    assert engine.stopped


async def test_a_session_is_closed_with_what_was_seen_of_it() -> None:
    seen = [{"address": "203.0.113.5", "port": 443}, {"address": "::1", "port": 443, "transport": "udp"}]
    told = {"op": "close_session", "name": "s", "seen": seen, "more": 3}
    reply = await ask(Engine(), json.dumps(told).encode())
    assert reply == {"seen": ["203.0.113.5:443", "[::1]:443/udp"], "more": 3}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", "engine.message"),
        (b"nonsense", "engine.message"),
        (b"[" * 100_000, "engine.message"),
        (b"[]", "engine.operation"),
        (b"{}", "engine.operation"),
        (b'{"op": "eval"}', "engine.operation"),
        (b'{"op": "open_session", "name": "s"}', "engine.message"),
        (b'{"op": "open_session", "name": "s", "profile": {}, "seed": 1, "path": "/x"}', "engine.message"),
        (b'{"op": "close_session", "name": "unknown"}', "engine.session"),
        (b'{"op": "close_session"}', "engine.message"),
        (b'{"op": "close_session", "name": "s", "seen": [{"address": "x", "port": 1}]}', "engine.message"),
    ],
)
async def test_bad_messages_are_answered(line: bytes, code: str) -> None:
    reply = await ask(Engine(), line)
    assert reply["error"]["code"] == code
    assert reply["error"]["exit_code"] == 2


async def test_a_failure_is_reported_without_its_text() -> None:
    reply = await ask(Engine(), b'{"op": "close_session", "name": "broken"}')
    assert reply["error"]["exit_code"] == 3
    assert "ZeroDivisionError" in reply["error"]["message"]
    assert "sk-secret" not in json.dumps(reply)


def test_errors_survive_the_way() -> None:
    error = FaultwireError("what", code="a.b", hint="do so")
    assert as_json(error) == {"error": {"code": "a.b", "message": "what", "hint": "do so", "exit_code": 3}}


def test_a_path_that_is_too_long_for_a_socket_is_not_used(tmp_path: Path) -> None:
    short = Control(Engine(), Path("/run/x"))
    assert short.path == Path("/run/x/control.sock")
    long = Control(Engine(), Path("/run") / ("x" * 200))
    assert len(str(long.path)) < 100
    assert long.path.parent.stat().st_mode & 0o777 == 0o700
    long.close()
    assert not long.path.parent.exists()


async def test_runtime_control() -> None:
    engine = Engine()
    told = {"op": "arm", "profile": dump(inline("status: {code: 503}")), "headers": {"x-a": "b*"}}
    assert await ask(engine, json.dumps(told).encode()) == {"id": "a1"}
    listed = await ask(engine, b'{"op": "armed"}')
    assert [(one["id"], one["state"], one["faults"]) for one in listed["interventions"]] == [
        ("a1", "armed", ["a1/status"])
    ]
    assert (await ask(engine, b'{"op": "disarm", "id": "a1", "why": "enough"}'))["why"] == "enough"
    assert (await ask(engine, b'{"op": "disarm", "id": "a7"}'))["error"]["code"] == "control.unknown"
    assert (await ask(engine, b'{"op": "arm", "profile": {}, "command": "rm"}'))["error"][
        "code"
    ] == "engine.message"
    assert (await ask(engine, b'{"op": ["arm"]}'))["error"]["code"] == "engine.operation"
    engine.runtime.close()
