"""Faults on the frames of HTTP/2, as real clients meet them: curl, Go's net/http, node:http2 and httpx."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from faultwire.events import FaultFired
from faultwire.mitm.engine.client import Engine, SessionHandle

PATH = "/v1/chat/completions"
EVENT = b'data: {"choices": [{"delta": {"content": "word"}}]}\n\n'
EVENTS, LAST = 5, b"data: [DONE]\n\n"
WHOLE = EVENTS * len(EVENT) + len(LAST)
HERE = Path(__file__).parent / "http2_clients"


class Came(NamedTuple):
    """What came of one call; `error` is a part of what the client says, empty where it got all."""

    status: int
    size: int
    error: str = ""


ALL = Came(200, WHOLE)
REFUSED: dict[str, list[Came]] = {
    "curl": [ALL],
    "go": [ALL, ALL],
    "node": [Came(0, 0, "ERR_HTTP2_"), ALL],
    "httpx": [Came(0, 0, "RemoteProtocolError"), ALL],
}
"""Of a call that was surely not carried out: Go makes it again by itself, curl where its stream was reset."""
LEFT = {**REFUSED, "curl": [Came(0, 0, "16")]}


@pytest.fixture(scope="module")
def tools() -> Any:
    from tests.e2e.engine import conftest

    return conftest


@pytest.fixture(scope="module")
def both(tools: Any, tmp_path_factory: pytest.TempPathFactory, test_ca: Any) -> Iterator[Engine]:
    settings = tools.settings_in(tmp_path_factory.mktemp("frames"), test_ca)
    with Engine.start(settings.model_copy(update={"http2": True})) as running:
        yield running


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[..., list[str]]]:
    """Each client's command line, for the proxy, a CA, a URL, a number of calls and a file with the body."""
    for program, package in (("curl", "curl"), ("node", "nodejs"), ("go", "golang")):
        assert shutil.which(program), f"{program} is needed: apt-get install {package}"
    built = tmp_path_factory.mktemp("go") / "calls"
    subprocess.run(["go", "build", "-o", str(built), "."], cwd=HERE / "go", check=True, timeout=300)

    def curl(proxy: str, ca: str, url: str, calls: str, body: str, *more: str) -> list[str]:
        line = '{"status": "%{http_code}", "bytes": %{size_download}, "protocol": "%{http_version}", '
        line += '"error": "%{exitcode}"}\n'
        once = [*more, "--http2", "-sS", "-o", "/dev/null", "-w", line, "-x", proxy, "--cacert", ca]
        return ["curl", *once, "-H", "content-type: application/json", "--data-binary", f"@{body}", url]

    return {
        "curl": curl,
        "go": lambda *arguments: [str(built), *arguments],
        "node": lambda *arguments: ["node", str(HERE / "calls.mjs"), *arguments],
        "httpx": lambda *arguments: [sys.executable, str(HERE / "calls.py"), *arguments],
    }


class Scene:
    """An engine with one fault, a server, and clients that call twice."""

    def __init__(self, tools: Any, engine: Engine, upstream: Any, folder: Path) -> None:
        self._tools, self._engine, self._upstream, self._folder = tools, engine, upstream, folder

        def reply(asked: Any, connection: Any) -> None:
            pieces = b"".join(tools.chunk(EVENT) for _ in range(EVENTS))
            connection.sendall(tools.sse_head() + pieces + tools.chunk(LAST) + b"0\r\n\r\n")

        upstream.handlers[PATH] = reply

    def session(self, fault: dict[str, Any], **entry: Any) -> SessionHandle:
        ((name, settings),) = fault.items()
        found = {"id": name, "fault": {"name": name, "settings": settings}, **entry}
        return self._engine.open_session(self._tools.fresh(name), self._tools.profile(found), 7)

    def calls(
        self, command: Callable[..., list[str]], session: SessionHandle, *more: str, size: int = 200
    ) -> list[dict[str, Any]]:
        """What came of two calls (curl: of one), and that no session was void."""
        talk = [{"role": "user", "content": "x" * size}]
        body = self._folder / "body.json"
        body.write_text(json.dumps({"model": "m", "stream": True, "messages": talk}))
        proxy = f"http://{session.user}:{session.token}@127.0.0.1:{self._engine.port}"
        url = f"https://localhost:{self._upstream.port}{PATH}"
        arguments = command(proxy, str(self._engine.ca_pem), url, "2", str(body), *more)
        env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False, env=env)
        assert done.stdout, done.stderr
        return [{**json.loads(line), "stderr": done.stderr} for line in done.stdout.splitlines()]

    def close(self, session: SessionHandle) -> list[FaultFired]:
        """The lines of the ledger."""
        assert self._engine.close_session(session.name).voids == ()
        with self._tools.TapeReader.open(self._engine.control.parent / "run.tape") as tape:
            return [line for one in tape.history(session.name).exchanges for line in one.faults]


@pytest.fixture
def scene(tools: Any, both: Engine, tls_upstream: Any, tmp_path: Path) -> Scene:
    return Scene(tools, both, tls_upstream, tmp_path)


def told(found: list[dict[str, Any]], wanted: list[Came]) -> list[Came]:
    """What came, in the words that were expected where these are in the client's own."""
    came = []
    for one, expected in zip(found, wanted, strict=True):
        error = "" if one["error"] in ("", "0") else one["error"]
        said = expected.error if expected.error and expected.error in f"{error} {one['stderr']}" else error
        came.append(Came(int(one["status"]), one["bytes"], said))
    return came


ONCE = {"trigger": {"max_times": 1, "attempts": "first"}}


@pytest.mark.parametrize("client", ["curl", "go", "node", "httpx"])
@pytest.mark.parametrize(
    "fault", [{"goaway": {}}, {"rst_stream": {"code": "REFUSED_STREAM"}}], ids=["goaway", "rst_stream"]
)
def test_a_refused_call_is_made_again_by_those_who_may(
    scene: Scene, clients: Any, tls_upstream: Any, client: str, fault: dict[str, Any]
) -> None:
    session = scene.session(fault, **ONCE)
    found = scene.calls(clients[client], session)
    lines = scene.close(session)
    wanted = (LEFT if "goaway" in fault else REFUSED)[client]
    assert told(found, wanted) == wanted
    assert len(tls_upstream.asked) == sum(one.status == 200 for one in wanted)
    assert [line.effect for line in lines if line.outcome == "fired"] == [
        "sent GOAWAY (NO_ERROR), and refused the call"
        if "goaway" in fault
        else "stream reset (REFUSED_STREAM) before the headers"
    ]


@pytest.mark.parametrize("client", ["curl", "go", "node", "httpx"])
def test_after_goaway_the_call_is_answered_and_the_next_has_another_connection(
    scene: Scene, clients: Any, both: Engine, client: str
) -> None:
    session = scene.session({"goaway": {"answered": True}}, **ONCE)
    found = scene.calls(clients[client], session)
    lines = scene.close(session)
    wanted = [ALL] * (1 if client == "curl" else 2)
    if client == "httpx":  # h2 takes a connection that is being left for one that has ended
        wanted[0] = Came(0, 0, "RemoteProtocolError")
    assert told(found, wanted) == wanted
    fired = [line.effect for line in lines if line.outcome == "fired"]
    assert fired == ["sent GOAWAY (NO_ERROR), which leaves the call to be answered"]


CUT = {
    "curl": [Came(200, 2 * len(EVENT), "92")],
    "go": [Came(200, 2 * len(EVENT), "INTERNAL_ERROR"), ALL],
    "node": [Came(200, 2 * len(EVENT), "NGHTTP2_INTERNAL_ERROR"), ALL],
    "httpx": [Came(200, 2 * len(EVENT), "RemoteProtocolError"), ALL],
}


@pytest.mark.parametrize("client", ["curl", "go", "node", "httpx"])
def test_a_stream_is_reset_behind_its_events_and_the_next_call_is_served(
    scene: Scene, clients: Any, client: str
) -> None:
    session = scene.session({"rst_stream": {"after_events": 2}}, **ONCE)
    found = scene.calls(clients[client], session)
    lines = scene.close(session)
    assert told(found, CUT[client]) == CUT[client]
    fired = [line.effect for line in lines if line.outcome == "fired"]
    assert fired == ["stream reset (INTERNAL_ERROR) after 2 events"]


@pytest.mark.parametrize("client", ["curl", "go", "node", "httpx"])
@pytest.mark.parametrize(("size", "outcome"), [(200_000, "fired"), (2_000, "no_effect")])
def test_only_a_long_body_stands_still_and_then_goes_on(
    scene: Scene, clients: Any, tls_upstream: Any, client: str, size: int, outcome: str
) -> None:
    session = scene.session({"stall_window": {"for_ms": 400}}, on={"host": "localhost"})
    found = scene.calls(clients[client], session, size=size)
    lines = scene.close(session)
    assert {Came(int(one["status"]), one["bytes"]) for one in found} == {ALL}
    assert {len(one.body) > size for one in tls_upstream.asked} == {True}
    assert {(line.outcome, line.effect) for line in lines} == {
        (outcome, "let a request's body stand still after 65,535 bytes" if outcome == "fired" else None)
    }


@pytest.mark.parametrize("fault", [{"goaway": {}}, {"rst_stream": {}}, {"stall_window": {}}], ids=str)
def test_over_http_1_they_say_that_they_cannot_act(scene: Scene, clients: Any, fault: dict[str, Any]) -> None:
    on = {"on": {"host": "localhost"}} if "stall_window" in fault else {}
    session = scene.session(fault, **on)

    def older(*arguments: str) -> list[str]:
        return [one for one in clients["curl"](*arguments) if one != "--http2"] + ["--http1.1"]

    (found,) = scene.calls(older, session, size=200_000)
    (line,) = scene.close(session)
    assert (int(found["status"]), found["protocol"], found["bytes"]) == (200, "1.1", WHOLE)
    assert line.outcome == "inapplicable"
    assert "HTTP/1.1" in line.reason
