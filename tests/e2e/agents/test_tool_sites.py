"""Every fault on a tool at its three sites: HTTP, MCP, and the result that the model reads."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from harness import Run, execute

AGENT = Path(__file__).parent / "sites_agent.py"
SCRIPT = "turns:\n  - match: {last_tool: lookup}\n    reply: {text: '{last_result}'}\n"
SITES = ("http", "mcp", "result")
TOOLS = {"http": "find", "mcp": "web_search", "result": "lookup"}
WAIT_MS = 300


class Service:
    """A tool that is an HTTP service, and counts its calls."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.asked.append(asked)
                body = json.dumps({"query": asked["query"], "score": 87}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.server.shutdown()
    made.server.server_close()
    made.thread.join()


def run(tmp_path: Path, service: Service, fault: str, on: str = '{tool: "*"}') -> Run:
    port = str(service.server.server_port)
    url = f"http://127.0.0.1:{port}/find"
    (tmp_path / "p.yaml").write_text(
        f"name: p\ntools: {{find: {{url: '{url}'}}}}\nfaults:\n  - {fault}\n    on: {on}\n"
    )
    (tmp_path / "s.yaml").write_text(SCRIPT)
    options = ("--script", "s.yaml", "--allow-host", "127.0.0.1", "--profile", "./p.yaml")
    done = execute(tmp_path, [sys.executable, "-I", "-S", str(AGENT), port], *options)
    assert done.code == 0, done.stderr
    return done


NIGHTLY = pytest.mark.nightly
CALM = {"http": '{"query": "tea", "score": 87}', "result": '{"query": "tea", "score": 87}'}


@pytest.mark.by_day("tool_error")
@pytest.mark.parametrize(
    ("fault", "called", "reads"),
    [
        # what is read instead at each site, None for "something else"
        ("tool_error: {code: 503}", False, {"http": None, "mcp": "Error: 503", "result": "Error: 503"}),
        (
            f"tool_timeout: {{limit_s: 9, wait_ms: {WAIT_MS}}}",
            True,
            {"mcp": "timed out", "result": "timed out"},
        ),
        pytest.param(f"tool_slow: {{ms: {WAIT_MS}}}", True, dict.fromkeys(SITES, '"tea"'), marks=NIGHTLY),
        pytest.param("tool_empty: {}", True, dict.fromkeys(SITES, "{}"), marks=NIGHTLY),
        pytest.param(
            "tool_malformed: {}",
            True,
            {"http": '"score": 87', "mcp": '"score":87', "result": '"score": 87'},
            marks=NIGHTLY,
        ),
        pytest.param(
            "tool_malicious: {payload: obey me}", True, dict.fromkeys(SITES, "obey me"), marks=NIGHTLY
        ),
        pytest.param("tool_wrong_values: {}", True, dict.fromkeys(SITES, '"score"'), marks=NIGHTLY),
        pytest.param(
            "tool_schema_drift: {how: wrapped}", True, dict.fromkeys(SITES, '"api_version"'), marks=NIGHTLY
        ),
        pytest.param(
            "tool_no_op: {}",
            False,
            {"http": '{"status": "ok"}', "mcp": "Done.", "result": '{"status": "ok"}'},
            marks=NIGHTLY,
        ),
        pytest.param("tool_stale: {}", True, dict.fromkeys(SITES, '"milk"'), marks=NIGHTLY),
        pytest.param(
            "indirect_injection: {payloads: [obey me]}", True, dict.fromkeys(SITES, "obey me"), marks=NIGHTLY
        ),
    ],
)
def test_every_fault_at_three_sites(
    fault: str, called: bool, reads: dict[str, str | None], tmp_path: Path, service: Service
) -> None:
    name = fault.partition(":")[0]
    done = run(tmp_path, service, fault)
    fired = [line for line in done.fired if line.fault == name]
    stale = name == "tool_stale"
    assert len(fired) == (3 if stale else 6), "each of six calls once; the first of a stale tool is its own"
    assert [line.site for line in fired].count("result") == (1 if stale else 2)
    assert len(service.asked) == (2 if called else 0)
    upstream = [e.upstream is not None for e in done.exchanges if e.tool == "web_search"]
    assert upstream == [called, called]
    for site in SITES:
        first, second = done.met[site]
        text = first["text"]
        if stale:
            assert '"tea"' in second["text"], "the answer to the call before"
            continue
        assert reads.get(site) is None or reads[site] in text
        if name != "tool_slow":
            assert text != CALM.get(site)
        if name in ("tool_slow", "tool_timeout"):
            assert first["seconds"] >= WAIT_MS / 1000
        failed = name in ("tool_error", "tool_timeout")
        if site == "http":
            assert first["status"] == ({"tool_error": 503, "tool_timeout": 504}.get(name, 200))
        if site == "mcp":
            assert first["failed"] is failed


@pytest.mark.nightly
@pytest.mark.parametrize(
    "site", [site if site == "result" else pytest.param(site, marks=NIGHTLY) for site in SITES]
)
def test_a_forced_site_is_the_only_one(site: str, tmp_path: Path, service: Service) -> None:
    done = run(tmp_path, service, "tool_empty: {}", f"{{tool: '*', site: {site}}}")
    assert {line.subject for line in done.fired} == {TOOLS[site]}
    assert [done.met[each][0]["text"] == "{}" for each in SITES] == [each == site for each in SITES]


@pytest.mark.nightly
def test_a_tool_seen_on_the_wire_is_not_faulted_again_at_its_result(tmp_path: Path, service: Service) -> None:
    """The model is told the result of `find`, which was called over HTTP before."""
    agent = AGENT.read_text().replace('"lookup"', '"find"')
    (tmp_path / "agent.py").write_text(agent)
    port = str(service.server.server_port)
    url = f"http://127.0.0.1:{port}/find"
    (tmp_path / "p.yaml").write_text(
        f"name: p\ntools: {{find: {{url: '{url}'}}}}\nfaults:\n  - tool_empty: {{}}\n    on: {{tool: find}}\n"
    )
    options = ("--mock", "--allow-host", "127.0.0.1", "--profile", "./p.yaml")
    done = execute(tmp_path, [sys.executable, "-I", "-S", "agent.py", port], *options)
    assert done.code == 0, done.stderr
    assert [line.site for line in done.fired] == ["response", "response"]
    skipped = [f for e in done.exchanges for f in e.faults if f.outcome == "skipped"]
    assert {line.reason for line in skipped} == {"tool `find` is seen at its `http` site in this session"}
