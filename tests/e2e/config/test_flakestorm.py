"""Files of Flakestorm's shapes, run against agents of those shapes with two lines more: how the agent's
server is started behind the proxy, and that a mock stands in for the model."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly

START = "  start: {command: [python3, shape_server.py], ready_url: 'http://localhost:${AGENT_PORT}/ready'}\n"


def ready(folder: Path, name: str) -> str:
    """The file with the two lines; its name."""
    path = folder / f"{name}.yaml"
    text = path.read_text()
    if "shape_agent:" not in text:
        text = text.replace("agent:\n", f"agent:\n{START}", 1)
    path.write_text(f"{text}\nproxy: {{mock: true}}\n")
    return path.name


@pytest.mark.parametrize("name", ["first_v1", "refusing_v1", "keywords_v1", "python_v1", "langchain_v1"])
def test_version_1_runs_and_every_mutant_comes_through(name, folder, faultwire):
    done = faultwire("run", "-q", "-c", ready(folder, name))
    assert (done.returncode, done.stdout) == (0, "1.0000\n"), done.stderr
    assert (folder / "reports" / "report.html").is_file() is (name == "first_v1")  # it has an `output.path`


def test_structured_input_goes_into_a_get_request(folder, faultwire):
    done = faultwire("verify", "-c", ready(folder, "commented_v1"))
    assert done.returncode == 0, done.stderr
    assert "Describe the product Desk lamp (friendly): a lamp" in done.stdout
    assert "`skip_rules` is ignored in `advanced`" in done.stdout


def test_mutants_of_structured_input_keep_its_keys(folder, faultwire):
    path = folder / ready(folder, "commented_v1")
    types = "[paraphrase, noise, length_extremes, multi_turn_attack, format_poisoning, http_header_injection]"
    text = path.read_text().replace("[noise, context_manipulation]", types).replace("count: 2", "count: 12")
    path.write_text(text.replace('values: ["lamp", "light"]', 'values: ["Describe the product"]'))
    done = faultwire("run", "--format", "json", "-c", path.name)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert len(document["invocations"]) == 1 + 12
    assert {part["exit_code"] for part in document["invocations"]} == {0}
    asked = {part["answer"] for part in document["invocations"]}
    assert len(asked) == 1 + 10  # the two changed requests carry the prompt as it is
    assert all("Describe the product" in text for text in asked)


def test_a_profile_of_flakestorms_shape_acts_on_it(folder, faultwire):
    done = faultwire("chaos", "--profile", "profiles/poisoned.yaml", "-c", ready(folder, "commented_v1"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"poisoned +memory_poisoning +×1", done.stdout)


def test_the_contract_of_version_2(folder, faultwire):
    done = faultwire("contract", "run", "-c", ready(folder, "research_v2"))
    assert done.returncode == 0, done.stderr
    assert re.search(r"lookup outage +tool_error ×2 ", done.stdout)
    assert re.search(r"no-secrets +high +– +✓ 2", done.stdout)


def test_every_phase_of_version_2(folder, faultwire):
    done = faultwire("ci", "-c", ready(folder, "research_v2"))
    assert done.returncode == 0, done.stderr
    for phase in ("mutation", "chaos", "contract", "replay"):
        assert f" {phase} " in done.stdout
    assert "overall  100.00 of 100" in done.stdout


def test_a_fault_of_flakestorms_shape_makes_a_rule_fail(folder, faultwire):
    """The negative control: the tool's error reaches the answer, so a rule about the answer fails."""
    name = ready(folder, "research_v2")
    path = folder / name
    path.write_text(path.read_text().replace('patterns: ["api_key"]', 'patterns: ["service unavailable"]'))
    done = faultwire("contract", "run", "-c", name)
    assert done.returncode == 1, done.stdout
    assert "no-secrets" in done.stdout


class Static(BaseHTTPRequestHandler):
    """An agent that calls nothing."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = b'{"response": "hello"}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args):
        pass


def test_a_server_without_our_proxy_gets_a_message_with_what_it_needs(folder, faultwire):
    with HTTPServer(("127.0.0.1", 0), Static) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        done = faultwire("verify", "-c", "refusing_v1.yaml", AGENT_PORT=str(server.server_port))
        server.shutdown()
        thread.join()
    assert done.returncode == 3, done.stdout + done.stderr
    assert "FAIL  traffic" in done.stdout
    assert "let us start its server behind the proxy (`agent: {start: …}`)" in done.stdout
