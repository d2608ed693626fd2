"""An agent that ignores failures fails, its fixed twin passes, and one that calls no tool proves nothing.

For tools over HTTP, over MCP and in the agent's process, in Python and Node, with one configuration.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import environments
import pytest
from driving import Done, faultwire

HERE = Path(__file__).parent
SITES = {"http": "find", "mcp": "web_search", "process": "lookup"}
KEY = "sk-test-key-of-nobody"
SCRIPT = """
fallback: error
turns:
  - match: {turn: 0, system: "*from memory*"}
    reply: {text: "Tea is a drink."}
  - match: {turn: 0, last_user: "*by http*"}
    reply: {tool_calls: [{name: find, arguments: {query: tea}}]}
  - match: {turn: 0, last_user: "*by mcp*"}
    reply: {tool_calls: [{name: web_search, arguments: {query: tea}}]}
  - match: {turn: 0, last_user: "*by process*"}
    reply: {tool_calls: [{name: lookup, arguments: {query: tea}}]}
  - match: {last_result: "*tea*"}
    reply: {text: "Tea is a drink."}
  - match: {system: "*Never invent*"}
    reply: {text: "I could not find out: the tool failed."}
  - match: {}
    reply: {text: "Tea has 4711 kinds."}
"""
CONFIG = """
version: "2.0"
agent:
  type: command
  command: %(command)s
  env: {OPENAI_API_KEY: "${OPENAI_API_KEY}"}
  timeout: 60000
proxy: {mock: true, script: script.yaml, allow_hosts: [127.0.0.1]}
tools:
  find: {url: "http://127.0.0.1:%(port)s/find"}
golden_prompts:
  - {id: http, prompt: "What is tea? Find it by http."}
  - {id: mcp, prompt: "What is tea? Find it by mcp."}
  - {id: process, prompt: "What is tea? Find it by process."}
contract:
  name: tools
  invariants:
    - {id: answers, type: output_not_empty, severity: high}
    - {id: never_invents, type: no_fabrication, severity: critical, when: tool_faults_active}
    - {id: says_so, type: contains, value: could not, severity: high, when: tool_faults_active}
  chaos_matrix:
    - name: calm
    - name: outage
      faults:
        - tool_error: {}
          on: {tool: "*"}
advanced: {concurrency: 2, seed: 42}
"""


class Find(BaseHTTPRequestHandler):
    """The HTTP tool."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps({"query": asked["query"], "score": 87}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """The test reads the report."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Find) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def command(language: str, manners: str, port: int) -> list[str]:
    if language == "python":
        program = [str(environments.python("openai-agents-0")), str(HERE / "sites_agent.py")]
    else:
        program = ["node", str(environments.node("node_contract") / "agent.mjs")]
    return [*program, manners, str(port), "{prompt}"]


Played = Callable[[str, str], Done]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, port: int) -> Played:
    """The contract run of an agent of this language and these manners, played once."""
    done: dict[tuple[str, str], Done] = {}

    def of(language: str, manners: str) -> Done:
        if (language, manners) not in done:
            folder = tmp_path_factory.mktemp(f"{language}-{manners}")
            (folder / "script.yaml").write_text(SCRIPT)
            asked = json.dumps(command(language, manners, port))
            (folder / "faultwire.yaml").write_text(CONFIG % {"command": asked, "port": port})
            done[language, manners] = faultwire(
                folder, "contract", "run", "-o", "report.json", OPENAI_API_KEY=KEY
            )
        return done[language, manners]

    return of


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("language", ["python", pytest.param("node", marks=pytest.mark.nightly)])
class TestSites:
    def test_an_agent_that_ignores_failures_fails(self, language: str, site: str, played: Played) -> None:
        done = played(language, "careless")
        assert done.code == 1, done.stderr
        assert done.cells(invocation=f"contract/outage/{site}/r1") == {
            "answers": "pass",
            "never_invents": "fail",
            "says_so": "fail",
        }
        assert done.cells(invocation=f"contract/calm/{site}/r1") == {"answers": "pass"}

    @pytest.mark.nightly
    def test_its_fixed_twin_passes(self, language: str, site: str, played: Played) -> None:
        done = played(language, "careful")
        assert done.code == 0, done.stdout + done.stderr
        assert done.cells(invocation=f"contract/outage/{site}/r1") == {
            "answers": "pass",
            "never_invents": "pass",
            "says_so": "pass",
        }
        assert done.cells(invocation=f"contract/calm/{site}/r1") == {"answers": "pass"}

    @pytest.mark.nightly
    def test_one_that_calls_no_tool_proves_nothing(self, language: str, site: str, played: Played) -> None:
        done = played(language, "silent")
        assert done.code == 1, done.stderr
        found = done.cells(invocation=f"contract/outage/{site}/r1")
        assert found == {"answers": "unknown", "never_invents": "unknown", "says_so": "unknown"}
        assert done.cells(invocation=f"contract/calm/{site}/r1") == {"answers": "pass"}


@pytest.mark.by_day("python")
@pytest.mark.parametrize("language", ["python", "node"])
def test_the_fault_is_at_the_tool_s_own_site(language: str, played: Played) -> None:
    done = played(language, "careful")
    fired = {
        invocation["prompt"]: sorted(
            {f["site"] for e in invocation["exchanges"] for f in e["faults"] if f["outcome"] == "fired"}
        )
        for invocation in done.report["invocations"]
        if invocation["scenario"] == "outage"
    }
    assert set(fired) == set(SITES)
    assert fired["process"] == ["result"]
    assert "result" not in fired["http"] + fired["mcp"]
