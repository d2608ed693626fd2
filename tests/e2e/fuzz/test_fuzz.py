"""Fuzzing of real agents in processes of their own: planted crashes, fine agents, and what is claimed."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents import environments
from tests.e2e.fuzz.conftest import FINE, HEAD, PROFILE, WEAK

from faultwire.fuzz.messages import valid
from faultwire.tape.read.reader import TapeReader

SEED = ("--seed", "1", "--budget", "150", "--shrink", "4")
EASY = ("--finds", "1", "--budget", "40", "--shrink", "6")


def kinds(found: dict[str, Any]) -> dict[str, str]:
    return {one["kind"]: one["title"] for one in found["crashes"]}


def test_three_planted_crashes_are_found_as_three_and_each_comes_again_by_its_command(
    fuzz: Any, faultwire: Any, here: Path
) -> None:
    done, found = fuzz(WEAK, *SEED)
    assert done.returncode == 1, done.stderr
    assert kinds(found) == {
        "exception": "TypeError at agent.py:16 charge",
        "signal": "ended by SIGABRT",
        "exit": "exited 7",
    }
    assert found["runs"] <= 150
    assert len((here / "starts.txt").read_text()) == found["runs"]
    assert [one["confirmed"] for one in found["crashes"]] == [[1, 1]] * 3
    for one in found["crashes"]:
        words = shlex.split(one["reproduce"])
        again = faultwire(*words[1:])
        assert (again.returncode, again.stdout.split(b":")[0]) == (1, b"the agent crashes as recorded")
        assert one["shrunk"][1] <= one["shrunk"][0]
    with TapeReader.open(here / found["crashes"][0]["tape"]) as tape:
        names = {one.name for one in tape.sessions()}
    assert {one["session"] for one in found["crashes"]} <= names


HANGING = f"""{HEAD}
import threading
try:
    total = json.loads(get("/order/7"))["total"]
except Exception:
    print("refused")
    sys.exit()
if not isinstance(total, (int, float)):
    threading.Event().wait()
print(total)
"""
LIMIT = 10


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_an_input_that_never_lets_the_agent_end_is_found_once_made_smaller_and_comes_again(
    fuzz: Any, faultwire: Any
) -> None:
    done, found = fuzz(
        HANGING, "--seed", "1", "--budget", "60", "--shrink", "6", "--timeout", f"{LIMIT}s", "--confirm", "1"
    )
    assert done.returncode == 1, done.stderr
    (crash,) = found["crashes"]
    assert (crash["kind"], crash["confirmed"]) == ("hang", [1, 1])
    assert crash["times"] >= 2, "several inputs, one crash"
    before, after, runs = crash["shrunk"]
    assert after < before, crash
    assert runs <= 6
    words = shlex.split(crash["reproduce"])
    again = faultwire(*words[1:])
    assert (again.returncode, again.stdout.split(b":")[0]) == (1, b"the agent crashes as recorded")


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_max_time_ends_a_search_whose_runs_hang(fuzz: Any) -> None:
    limits = ("--seed", "1", "--budget", "5000", "--timeout", f"{LIMIT}s", "--max-time", "40s")
    began = time.monotonic()
    done, found = fuzz(HANGING, *limits)
    took = time.monotonic() - began
    assert (done.returncode, found["ended"]) == (1, "time"), done.stderr
    assert found["runs"] < 5000
    assert took < 40 + LIMIT + 60, "one run may have begun in time; starting and reporting take the rest"
    _, control = fuzz(FINE, "--seed", "1", "--budget", "6", "--max-time", "10m")
    assert control["ended"] == "budget"


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", ["2", "3"])
def test_other_seeds_find_the_three_in_the_same_budget(fuzz: Any, seed: str) -> None:
    done, found = fuzz(WEAK, "--seed", seed, "--budget", "150", "--shrink", "4")
    assert done.returncode == 1, done.stderr
    assert set(kinds(found)) == {"exception", "signal", "exit"}


@pytest.mark.nightly
def test_without_guidance_the_crash_behind_two_conditions_is_not_reached_in_the_same_budget(
    fuzz: Any,
) -> None:
    done, found = fuzz(WEAK, *SEED, "--guidance", "none")
    assert done.returncode == 1
    assert set(kinds(found)) == {"exception", "signal"}


def test_of_an_agent_that_refuses_what_it_cannot_read_no_crash_is_claimed(fuzz: Any, here: Path) -> None:
    done, found = fuzz(FINE, "--budget", "40", "-o", "x.md", "-o", "x.jsonl")
    assert (done.returncode, found["crashes"], found["ended"]) == (0, [], "budget")
    assert (found["cases"]["generated"], found["cases"]["agent"], found["runs"]) == (38, 38, 40)
    assert "No crash was found. That says nothing of what was not generated." in (here / "x.md").read_text()
    assert (here / "x.jsonl").read_text() == ""
    assert any("prompts" in one for one in found["not_generated"])


def test_an_agent_that_fails_by_itself_is_refused(fuzz: Any) -> None:
    done, _ = fuzz(FINE + "sys.exit(3)\n", "--budget", "10")
    assert done.returncode == 2
    assert b"fuzz.baseline: found an agent that fails without any generated text: exited 3" in done.stderr


def test_a_call_without_a_tools_name_is_named_as_not_generated(faultwire: Any, here: Path, shop: str) -> None:
    (here / "agent.py").write_text(FINE)
    done = faultwire(
        "fuzz", "-q", "--budget", "6", "--reverse", f"shop={shop}", "--", sys.executable, "agent.py"
    )
    assert done.returncode == 2
    assert b"fuzz.surface: found nothing that can be generated: GET 127.0.0.1/order/7" in done.stderr


def test_lines_that_ran_come_from_python_and_lead_the_search(fuzz: Any) -> None:
    silent = WEAK.replace('    get("/audit/7")\n', "    audited = True\n")
    done, found = fuzz(silent, "--seed", "1", "--budget", "30", "--shrink", "0", "--coverage", "python")
    assert done.returncode == 1, done.stderr
    assert found["coverage"] == {"asked": "python", "reported": ["python"]}
    first, last = found["features"]["coverage"]
    assert 10 < first < last
    _, other = fuzz(silent, "--seed", "1", "--budget", "5", "--coverage", "node")
    assert other["coverage"] == {"asked": "node", "reported": []}, "the control: no Node runs here"


NODE = """
const http = require("http")
require("fs").appendFileSync("starts.txt", "x")
http.get(process.env.FAULTWIRE_URL_SHOP + "/order/7", { agent: new http.Agent() }, (answer) => {
  let text = ""
  answer.on("data", (part) => { text += part })
  answer.on("end", () => {
    let order
    try { order = JSON.parse(text) } catch { console.log("refused"); return }
    if (order === null || typeof order !== "object") { console.log("refused"); return }
    if (order.status !== "shipped") { console.log("waiting") }
    console.log(charge(order))
  })
})
function charge(order) { return order.total.toFixed(2) }
"""


def test_a_node_agent_has_v8s_coverage_and_its_exception_has_its_stack(
    faultwire: Any, here: Path, shop: str
) -> None:
    (here / "agent.cjs").write_text(NODE)
    (here / "p.yaml").write_text(PROFILE)
    done = faultwire(
        "fuzz", "-q", "--format", "json", "--profile", "p.yaml", "--reverse", f"shop={shop}", *EASY,
        "--coverage", "auto", "--", shutil.which("node") or "node", "agent.cjs",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    (crash,) = found["crashes"]
    assert (crash["kind"], crash["title"]) == ("exception", "TypeError at agent.cjs:15 charge")
    assert found["coverage"]["reported"] == ["node"]
    assert found["features"]["coverage"][0] > 10


def test_a_prompt_that_crashes_is_exported_and_is_repeated_by_exec(faultwire: Any, here: Path) -> None:
    agent = HEAD.replace('os.environ["FAULTWIRE_URL_SHOP"]', '""') + (
        "prompt = sys.argv[1]\n"
        'body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()\n'
        'headers = {"content-type": "application/json", "authorization": "Bearer sk-none"}\n'
        'u.urlopen(u.Request("https://api.openai.com/v1/chat/completions", body, headers)).read()\n'
        'assert len(prompt) < 400, "too long"\n'
    )
    (here / "agent.py").write_text(agent)
    options = ("--mock", "--prompt", "Where is order 7?", "--seed", "3", *EASY)
    command = ("--", sys.executable, "agent.py", "{prompt}")
    done = faultwire("fuzz", "-q", "-o", "x.jsonl", "-o", "x.yaml", "-o", "x.json", *options, *command)
    assert done.returncode == 1, done.stderr
    (line,) = map(json.loads, (here / "x.jsonl").read_text().splitlines())
    assert len(line["messages"][0]["content"]) >= 400
    (crash,) = json.loads((here / "x.json").read_text())["crashes"]
    assert line["reason"] == f"exception: {crash['title']}"
    prompt = (here / crash["folder"] / "prompt.txt").read_text()
    assert prompt == line["messages"][0]["content"]
    assert f"fuzz-{crash['key']}" in (here / "x.yaml").read_text()
    again = faultwire("exec", "-q", "--mock", "--", sys.executable, "agent.py", prompt)
    assert b"AssertionError" in again.stderr


TURNS = """turns:
  - match: {turn: 0}
    reply: {tool_calls: [{name: look_up, arguments: {order: 7}}]}
  - reply: {text: It is shipped.}
"""
ASKING = f"""{HEAD.replace('os.environ["FAULTWIRE_URL_SHOP"]', '""')}
def ask(messages):
    body = json.dumps({{"model": "m", "stream": STREAM, "messages": messages}}).encode()
    headers = {{"content-type": "application/json", "authorization": "Bearer sk-none"}}
    url = "https://api.openai.com/v1/chat/completions"
    return u.urlopen(u.Request(url, body, headers)).read().decode()
def look_up(arguments):
    return arguments["order"]
try:
    text = ask([{{"role": "user", "content": "Where is order 7?"}}])
    calls = []
    for part in text.splitlines() if STREAM else ["data: " + text]:
        if part.startswith("data: {{"):
            message = json.loads(part[6:])["choices"][0]["delta" if STREAM else "message"]
            calls += [one["function"] for one in message.get("tool_calls") or []]
    arguments = json.loads("".join(one["arguments"] for one in calls) or "{{}}")
except Exception as error:
    print("refused", type(error).__name__)
    sys.exit()
"""
TRUSTING = "print(look_up(arguments) if calls else None)\n"
CAREFUL = "print(arguments.get('order') if calls and isinstance(arguments, dict) else None)\n"


@pytest.mark.parametrize("stream", [False, True])
def test_a_crash_that_only_an_answer_of_the_model_reaches_is_found_and_comes_again(
    faultwire: Any, here: Path, stream: bool
) -> None:
    (here / "s.yaml").write_text(TURNS)

    def run(agent: str, *options: str) -> Any:
        (here / "agent.py").write_text(f"STREAM = {stream}\n{agent}")
        given = ("--script", "s.yaml", *options, "--format", "json", "--", sys.executable, "agent.py")
        return faultwire("fuzz", "-q", "--seed", "1", *given)

    done = run(ASKING + TRUSTING, "--budget", "80", "--finds", "1", "--shrink", "4")
    found = json.loads(done.stdout)
    assert done.returncode == 1, (done.stderr, found)
    (crash,) = found["crashes"]
    assert crash["kind"] == "exception"
    assert crash["title"].endswith("look_up")
    assert {one["target"] for one in crash["parts"]} == {"answer of the model, call 1"}
    assert (crash["reached"], crash["confirmed"]) == (["agent"], [1, 1])
    again = faultwire(*shlex.split(crash["reproduce"])[1:])
    assert (again.returncode, again.stdout.split(b":")[0]) == (1, b"the agent crashes as recorded")
    fine = run(ASKING + CAREFUL, "--budget", "24")
    control = json.loads(fine.stdout)
    assert (fine.returncode, control["crashes"]) == (0, []), fine.stderr
    assert control["cases"]["agent"] == control["cases"]["generated"]


def test_messages_of_mcp_reach_the_official_client_which_stays_whole(faultwire: Any, here: Path) -> None:
    agent = [str(environments.python("mcp-2")), str(environments.HERE / "mcp_agent.py")]
    done = faultwire(
        "fuzz", "-q", "--format", "json", "--mock", "--budget", "12", "--", *agent, "http",
        "http://mcp.mock.test/mcp", "list", "weather",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert done.returncode == 0, (done.stderr, found["crashes"])
    reached = {one["target"]: one["agent"] for one in found["targets"] if one["agent"]}
    assert any(name.startswith("answer to `tools/") for name in reached), found["targets"]
    assert found["cases"]["agent"] + found["cases"]["not"] == found["cases"]["generated"] == 10


CHECK = """
import json, sys
from mcp import types
results = {"tools/call": types.CallToolResult, "tools/list": types.ListToolsResult}
for method, texts in json.load(sys.stdin).items():
    for name, text in texts.items():
        lines = [json.loads(line.replace('"{id}"', "7")) for line in text.split("\\n")]
        adapter = types.jsonrpc_message_adapter if hasattr(types, "jsonrpc_message_adapter") else None
        for one in lines:
            (adapter.validate_python if adapter else types.JSONRPCMessage.model_validate)(one)
        if "result" in lines[-1]:
            results[method].model_validate(lines[-1]["result"])
        else:
            assert name.startswith("error"), name
print("valid")
"""


def test_valid_messages_are_valid_by_the_official_models(tmp_path: Path) -> None:
    python, script = str(environments.python("mcp-2")), tmp_path / "check.py"
    script.write_text(CHECK)
    texts = {method: valid(method) for method in ("tools/call", "tools/list")}

    def asked(given: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run([python, str(script)], input=json.dumps(given).encode(), capture_output=True)

    done = asked(texts)
    assert done.stdout == b"valid\n", done.stderr.decode()
    broken = {"tools/call": {"block": texts["tools/call"]["block text"].replace('"text": "ok"', '"text": 7')}}
    assert asked(broken).returncode != 0, "the control"


@pytest.mark.cold
def test_a_killed_search_goes_on_and_ends_as_one_that_was_not(here: Path, shop: str) -> None:
    rows = []
    for folder, killed in ((here / "whole", False), (here / "killed", True)):
        folder.mkdir()
        (folder / "agent.py").write_text(FINE.replace('["total"]', '["total"] * 1.5'))
        (folder / "p.yaml").write_text(PROFILE)
        command = [
            sys.executable, "-m", "faultwire", "fuzz", "--format", "json", "--profile", "p.yaml", "--reverse",
            f"shop={shop}", "--budget", "24", "--", sys.executable, "agent.py",
        ]  # fmt: skip
        if killed:
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            assert process.stderr is not None
            for line in process.stderr:
                if line.startswith(b"12/24"):
                    os.kill(process.pid, signal.SIGKILL)
                    break
            process.stderr.close()
            process.wait()
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        found = json.loads(done.stdout)
        assert b"going on after 1" in done.stderr or not killed
        rows.append({key: found[key] for key in ("runs", "cases", "targets", "changes", "features", "ended")})
        assert len((folder / "starts.txt").read_text()) in (24, 25), (
            "the run that was killed may be made again"
        )
    assert rows[0] == rows[1]
