"""MCP's official SDKs through the proxy, against the mock's server and one on stdio: calm and broken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import environments
import pytest
from harness import Run, base_environment, execute, faultwire

HERE = Path(__file__).parent
SERVER = HERE / "mcp_stdio_server.py"
URL = {
    "auto": "http://mcp.mock.test/mcp",
    "http": "http://mcp.mock.test/mcp",
    "sse": "http://mcp.mock.test/sse",
}
WAYS = [
    ("python", "http"),
    pytest.param("python", "sse", marks=pytest.mark.nightly),
    pytest.param("node", "http", marks=pytest.mark.nightly),
    pytest.param("python", "auto", marks=pytest.mark.nightly),
    pytest.param("node", "sse", marks=pytest.mark.nightly),
]
OTHERS = [("python", "sse"), ("node", "http"), ("python", "auto"), ("node", "sse")]
ONE_WAY = [("python", "http"), *(pytest.param(*way, marks=pytest.mark.nightly) for way in OTHERS)]
"""For what differs between no two ways: one of them in every run."""
VERSION = {"auto": "2026-07-28", "http": "2025-11-25", "sse": "2025-11-25"}
CHANGED = "notifications/tools/list_changed"
SHIM = f"{faultwire()[0]} mcp-shim -- {sys.executable} {SERVER}"


def command(sdk: str, way: str, where: str, *ops: str) -> list[str]:
    if sdk == "python":
        return [str(environments.python("mcp-2")), str(HERE / "mcp_agent.py"), way, where, *ops]
    return ["node", str(environments.node("node_mcp") / "agent.mjs"), way, where, *ops]


def run(tmp_path: Path, sdk: str, way: str, *ops: str, faults: tuple[str, ...] = ()) -> Run:
    options = [word for fault in faults for word in ("--fault", fault)]
    done = execute(tmp_path, command(sdk, way, URL.get(way, SHIM), *ops), "--mock", *options)
    assert done.code == 0, done.stderr
    assert "ended" not in done.met, done.met
    return done


def fired(done: Run) -> list[str]:
    return [line.fault for line in done.fired]


@pytest.mark.parametrize(("sdk", "way"), WAYS)
def test_calm(sdk: str, way: str, tmp_path: Path) -> None:
    done = run(tmp_path, sdk, way, "list", "weather", "order", "order", "orders")
    met = done.met
    assert list(met["list"]["tools"]) == ["get_weather", "web_search", "create_order", "list_orders"]
    assert met["weather"]["values"] == json.loads(met["weather"]["text"])
    assert [met["order"]["text"][:14], met["order2"]["text"][:14]] == ["Order A-1001 f", "Order A-1002 f"]
    assert json.loads(met["orders"]["text"])["count"] == 2
    assert met.get("version", VERSION[way]) == VERSION[way]
    assert {exchange.protocol for exchange in done.exchanges} == {"mcp"}
    for exchange in done.exchanges:
        assert exchange.upstream == exchange.delivered, "not a byte is changed"
        assert exchange.ending in ("complete", "client_aborted")
    assert fired(done) == []


ERROR = {"python": "MCPError", "node": "McpError"}
REFUSED = {"python": ("MCPError", -32603), "node": ("StreamableHTTPError", 503)}
"""What an HTTP error is to the client: mcp 2.3 hides the status, the TypeScript SDK shows it."""


@pytest.mark.parametrize(("sdk", "way"), WAYS)
def test_faults_on_tools(sdk: str, way: str, tmp_path: Path) -> None:
    faults = (
        "tool_error: {message: it rains, on: {tool: web_search}}",
        "tool_wrong_values: {on: {tool: get_weather}}",
        "mcp_error: {code: -32602, on: {tool: list_orders}}",
    )
    done = run(tmp_path, sdk, way, "list", "weather", "search", "orders", faults=faults)
    met = done.met
    assert met["weather"]["values"]["temperature_c"] != 22
    assert met["weather"]["values"] == json.loads(met["weather"]["text"]), "the client's own check passes"
    assert (met["search"]["failed"], met["search"]["text"]) == (True, "Error: it rains")
    assert (met["orders"]["error"], met["orders"]["code"]) == (ERROR[sdk], -32602)
    assert sorted(fired(done)) == ["mcp_error", "tool_error", "tool_wrong_values"]


@pytest.mark.nightly
@pytest.mark.parametrize(("sdk", "way"), ONE_WAY)
def test_the_work_is_done_once_and_a_timeout_reported(sdk: str, way: str, tmp_path: Path) -> None:
    faults = ("timeout_after_commit: {on: {tool: create_order}}",)
    done = run(tmp_path, sdk, way, "list", "order", "orders", faults=faults)
    assert done.met["order"]["error"] in ("MCPError", "McpError", "StreamableHTTPError")
    assert json.loads(done.met["orders"]["text"]) == {"count": 1, "items": ["tea"]}
    assert fired(done) == ["timeout_after_commit"]


@pytest.mark.nightly
@pytest.mark.parametrize(("sdk", "way"), [("python", "http"), ("node", "http")])
def test_errors_of_http(sdk: str, way: str, tmp_path: Path) -> None:
    faults = ("status: {code: 503, on: {tool: web_search}}",)
    done = run(tmp_path, sdk, way, "search", "orders", faults=faults)
    assert (done.met["search"]["error"], done.met["search"]["code"]) == REFUSED[sdk]
    assert "error" not in done.met["orders"]
    assert fired(done) == ["status"], "no SDK of MCP repeats a call"


@pytest.mark.nightly
@pytest.mark.parametrize(("sdk", "way"), ONE_WAY)
def test_tools_that_change_after_approval(sdk: str, way: str, tmp_path: Path) -> None:
    ops = ("list", "orders", "order", "list", "orders")
    options = ["--mock", "--profile", "mcp_rug_pull"]
    done = execute(tmp_path, command(sdk, way, URL[way], *ops), *options)
    met = done.met
    assert "create_order" in met["list"]["tools"]
    assert met["heard"] == [CHANGED]
    assert (met["order"]["error"], met["order"]["code"]) == (ERROR[sdk], -32602)
    assert list(met["list2"]["tools"]) == ["get_weather", "web_search", "list_orders"]
    for name, said in met["list2"]["tools"].items():
        assert said.startswith(met["list"]["tools"][name])
        assert len(said) > len(met["list"]["tools"][name]) + 20
    assert json.loads(met["orders2"]["text"])["count"] == 0
    assert set(fired(done)) == {"mcp_list_changed", "mcp_poisoned_description"}


@pytest.mark.nightly
@pytest.mark.parametrize("sdk", ["python", "node"])
def test_a_lost_session(sdk: str, tmp_path: Path) -> None:
    faults = ("mcp_session_lost: {on: {tool: web_search}, trigger: {first: 1}}",)
    done = run(tmp_path, sdk, "http", "search", "search", faults=faults)
    lost = {"python": ("MCPError", -32001), "node": ("StreamableHTTPError", 404)}[sdk]
    for op in ("search", "search2"):
        assert (done.met[op]["error"], done.met[op]["code"]) == lost, "it stays lost: no SDK begins anew"
    assert fired(done) == ["mcp_session_lost"] * 2


# ---------------------------------------------------------------- stdio


@pytest.mark.parametrize("sdk", ["node", pytest.param("python", marks=pytest.mark.nightly)])
def test_stdio_by_the_shim(sdk: str, tmp_path: Path) -> None:
    faults = (
        'mcp_list_changed: {tools: "list_*"}',
        "tool_error: {message: boom, on: {tool: get_weather}}",
    )
    done = run(tmp_path, sdk, "stdio", "list", "weather", "order", "orders", "list", faults=faults)
    met = done.met
    assert (met["weather"]["failed"], met["weather"]["text"]) == (True, "Error: boom")
    assert met["order"]["text"] == "Order A-1001 is placed."
    assert (met["orders"]["error"], met["orders"]["code"]) == (ERROR[sdk], -32602)
    assert "list_orders" not in met["list2"]["tools"]
    assert met["heard"] == [CHANGED]
    assert {exchange.request.path for exchange in done.exchanges} == {"/mcp/mcp_stdio_server"}
    tools = [exchange.tool for exchange in done.exchanges if exchange.kind == "tool"]
    assert tools == ["get_weather", "create_order", "list_orders"]


class Shim:
    """A shim below `exec`, spoken to line by line as an agent does."""

    def __init__(self, tmp_path: Path, *options: str, stderr: IO[str] | int = subprocess.PIPE) -> None:
        words = [*faultwire(), "exec", "-q", *options, "--", *SHIM.split()]
        self.process = subprocess.Popen(
            words, cwd=tmp_path, env=base_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=stderr,
        )  # fmt: skip

    def say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, ident: int | str, name: str, **arguments: Any) -> None:
        self.say({"id": ident, "method": "tools/call", "params": {"name": name, "arguments": arguments}})

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode() if self.process.stderr else ""
        heard: dict[str, Any] = json.loads(line)
        return heard

    def signalled(self) -> None:
        """Its input stays open: the end of that would end the server as well."""
        os.kill(self.process.pid, signal.SIGTERM)
        self.process.wait(60)

    def end(self) -> tuple[int, str]:
        _, told = self.process.communicate(timeout=60)
        return self.process.returncode, (told or b"").decode()


@pytest.mark.nightly
def test_the_server_s_own_questions_and_large_messages(tmp_path: Path) -> None:
    shim = Shim(tmp_path)
    shim.call("a", "ask_back")
    heard = [shim.receive(), shim.receive()]
    assert [one["method"] for one in heard] == ["notifications/message", "roots/list"]
    shim.say({"id": heard[1]["id"], "result": {"roots": []}})
    answer = shim.receive()
    assert (answer["id"], answer["result"]["content"][0]["text"]) == ("a", 'the client said {"roots": []}')
    shim.call(2, "big", size=5_000_000)
    assert len(shim.receive()["result"]["content"][0]["text"]) == 5_000_000
    shim.call(3, "big", size=1, padding="y" * 3_000_000)
    assert shim.receive()["result"]["content"][0]["text"] == "x"
    code, told = shim.end()
    assert (code, told) == (0, ""), "it ends with its input"


@pytest.mark.nightly
def test_exit_code_and_stderr_are_the_server_s(tmp_path: Path) -> None:
    shim = Shim(tmp_path)
    shim.call(1, "quit")
    assert shim.receive()["error"] == {"code": -32000, "message": "Connection closed"}
    code, told = shim.end()
    assert (code, told) == (7, "the server leaves\n")


@pytest.mark.cold
@pytest.mark.nightly
def test_what_a_server_leaves_behind_keeps_nobody_waiting(tmp_path: Path) -> None:
    with (tmp_path / "said").open("w+") as said:
        shim = Shim(tmp_path, stderr=said)
        shim.call(1, "leave")
        try:
            assert shim.receive()["error"] == {"code": -32000, "message": "Connection closed"}
            assert shim.end()[0] == 8
        finally:
            os.kill(int((tmp_path / "said").read_text()), signal.SIGKILL)


@pytest.mark.nightly
@pytest.mark.parametrize("ends", ["input", "signal"])
def test_an_answer_that_is_held_up_for_ever_keeps_nobody_waiting(tmp_path: Path, ends: str) -> None:
    shim = Shim(tmp_path, "--fault", "hang: {on: {tool: get_weather}}")
    shim.call(1, "get_weather", city="Oslo")
    shim.call(2, "list_orders")
    assert shim.receive()["id"] == 2
    if ends == "signal":
        shim.signalled()
    assert shim.end()[0] == (128 + signal.SIGTERM if ends == "signal" else 0)


@pytest.mark.cold
def test_a_signal_reaches_the_server(tmp_path: Path) -> None:
    shim = Shim(tmp_path)
    shim.call(1, "list_orders")
    shim.receive()
    shim.signalled()
    code, _ = shim.end()
    assert code == 128 + signal.SIGTERM


def test_without_a_proxy_no_server_is_started(tmp_path: Path) -> None:
    done = subprocess.run(
        SHIM.split(), cwd=tmp_path, env=base_environment(), capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("shim.no_proxy: found no `HTTPS_PROXY`")
