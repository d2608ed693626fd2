"""Faults on the frames of HTTP/2: a replay without them gives the client what it had been given."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

CALLS = Path(__file__).parents[1] / "engine" / "http2_clients" / "calls.mjs"
URL = "https://api.openai.com/v1/chat/completions"
KEY = {"OPENAI_API_KEY": "sk-test-key-of-nobody"}
FAULTS = {
    "rst_stream, PROTOCOL_ERROR": "rst_stream: {code: PROTOCOL_ERROR}",
    "rst_stream behind events": "rst_stream: {code: ENHANCE_YOUR_CALM, after_events: 2}",
    "goaway": "{goaway: {code: ENHANCE_YOUR_CALM}, trigger: {max_times: 1, attempts: first}}",
    "goaway, answered": "{goaway: {answered: true}, trigger: {max_times: 1, attempts: first}}",
    "stall_window": "{stall_window: {for_ms: 300}, on: {host: api.openai.com}}",
    "reset": "reset: {at: before_headers}",
}
SAID = {
    "rst_stream, PROTOCOL_ERROR": "NGHTTP2_PROTOCOL_ERROR",
    "rst_stream behind events": "NGHTTP2_ENHANCE_YOUR_CALM",
    "goaway": "ERR_HTTP2_",
    "reset": "NGHTTP2_INTERNAL_ERROR",
}
"""What Node calls it; of the others no call fails."""
BODY = {"model": "gpt-4o-mini", "stream": True, "messages": [{"role": "user", "content": "SAID"}]}
AGENT = f'node {CALLS} "$HTTPS_PROXY" "$NODE_EXTRA_CA_CERTS" {URL} 2 body.json'
Faultwire = Callable[..., CompletedProcess[bytes]]


def came(done: CompletedProcess[bytes]) -> list[tuple[int, int, str, str]]:
    assert done.stdout, done.stderr.decode()
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [(one["status"], one["bytes"], one["error"], one["protocol"]) for one in lines]


def agent(here: Path, size: int) -> list[str]:
    (here / "body.json").write_text(json.dumps(BODY).replace("SAID", "Hello " + "x" * size))
    return ["--", "sh", "-c", AGENT]


@pytest.mark.by_day("PROTOCOL_ERROR", "answered")
@pytest.mark.parametrize("name", FAULTS)
def test_a_replay_without_the_fault_ends_as_the_call_had_ended(
    name: str, faultwire: Faultwire, here: Path
) -> None:
    assert shutil.which("node"), "node is needed: apt-get install nodejs"
    asked = agent(here, 100_000 if name == "stall_window" else 0)
    options = ("exec", "--mock", "--fault", FAULTS[name], "--record", "a.tape")
    first = faultwire(*options, *asked, env=KEY)
    told = came(first)
    assert {protocol for *_, protocol in told} == {"h2"}
    assert b"faults     0 fired" not in first.stderr
    errors = [error for _, _, error, _ in told]
    if name in SAID:
        assert SAID[name] in errors[0], "the control: the fault was seen"
    else:
        assert errors == ["", ""]
    again = faultwire("exec", "--replay", "a.tape", "--record", "b.tape", *asked, env=KEY)
    assert came(again) == told, again.stderr.decode()
