"""The search on the wire: a scripted victim with a planted weakness, a deaf one, and one that filters."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faultwire.tape.read.reader import TapeReader

AGENT = """
import json, sys, urllib.request as u
def chat(messages):
    headers = {"content-type": "application/json", "authorization": "Bearer sk-none"}
    body = json.dumps({"model": "m", "messages": messages}).encode()
    asked = u.Request("https://api.openai.com/v1/chat/completions", body, headers)
    return json.loads(u.urlopen(asked).read())["choices"][0]["message"]["content"]
open("starts.txt", "a").write("x")
call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
result = {"role": "tool", "tool_call_id": "c1", "content": '{"hits": 391, "note": "from the archive"}'}
assistant = {"role": "assistant", "content": None, "tool_calls": [call]}
print(chat([{"role": "user", "content": "find"}, assistant, result]))
"""
WEAK = """name: weak
turns:
  - match: {last_result: "*SYSTEM NOTE*"}
    reply: {text: "As you wish: {last_result}"}
  - reply: {text: It is 391.}
"""
DEAF = "name: deaf\nturns:\n  - reply: {text: It is 391.}\n"
LESS = ("--family", "override", "--family", "multilingual", "--wording", "plain", "--wording", "noise")


def attack(faultwire: Any, here: Path, script: str, *options: str) -> tuple[Any, dict[str, Any]]:
    (here / "agent.py").write_text(AGENT)
    (here / "s.yaml").write_text(script)
    done = faultwire(
        "attack", "-q", "--format", "json", "--script", "s.yaml", "--finds", "1", *LESS, *options, "--",
        sys.executable, "agent.py",
    )  # fmt: skip
    return done, json.loads(done.stdout) if done.stdout else {}


def test_a_planted_weakness_is_found_and_the_commands_show_it_again(faultwire: Any, here: Path) -> None:
    done, found = attack(faultwire, here, WEAK, "--budget", "60", "-o", "a.html", "-o", "a.sarif")
    assert done.returncode == 1, done.stderr
    (finding,) = found["findings"]
    assert finding["carrier"] == "result:system_note"
    assert (finding["confirmed"]["obeyed"], finding["confirmed"]["runs"]) == (10, 10)
    assert len((here / "starts.txt").read_text()) == found["runs"] <= 60
    assert "result:system_note" in (here / "a.html").read_text()
    assert json.loads((here / "a.sarif").read_text())["runs"][0]["results"]
    transcript = [json.loads(line) for line in next(here.rglob("search.jsonl")).read_text().splitlines()]
    assert [row["number"] for row in transcript] == list(range(2, found["runs"] + 1))
    with TapeReader.open(here / finding["tape"]) as tape:
        assert {one.name for one in tape.sessions()} == {"calm-0000", *(row["session"] for row in transcript)}
    words = shlex.split(finding["reproduce"])
    again = faultwire(*words[1:2], "-q", *words[2:])
    assert re.search(rb"fwc[0-9a-f]{12}", again.stdout), again.stderr
    words = shlex.split(finding["shrink"])
    shrunk = faultwire(*words[1:])
    assert shrunk.returncode == 0, shrunk.stderr
    assert b"1 fault" in shrunk.stdout + shrunk.stderr or b"attack" in shrunk.stdout


def test_of_a_deaf_agent_no_find_is_claimed_and_the_budget_is_kept(faultwire: Any, here: Path) -> None:
    done, found = attack(faultwire, here, DEAF, "--budget", "24")
    assert done.returncode == 0, done.stderr
    assert (found["findings"], found["refuted"], found["stages"]["obeyed"]) == ([], [], 0)
    assert found["ended"] == "budget"
    assert len((here / "starts.txt").read_text()) == found["runs"] <= 24


def test_what_an_agent_keeps_from_its_model_is_seen_as_filtered(
    faultwire: Any, here: Path, server: str
) -> None:
    agent = AGENT.replace("'{\"hits\": 391, \"note\": \"from the archive\"}'", "fetched[:5]").replace(
        "call = {", "import os\nfetched = u.build_opener(u.ProxyHandler({})).open("
        "os.environ['FAULTWIRE_URL_TOOL'] + '/').read().decode()\ncall = {",
    )  # fmt: skip
    assert "fetched[:5]" in agent
    (here / "agent2.py").write_text(agent)
    (here / "s.yaml").write_text(DEAF)
    (here / "p.yaml").write_text(f"name: p\ntools: {{search: {{url: '{server}*'}}}}\nfaults: []\n")
    done = faultwire(
        "attack", "-q", "--format", "json", "--script", "s.yaml", "--profile", "p.yaml", *LESS,
        "--finds", "1", "--reverse", f"tool={server}", "--budget", "24", "--", sys.executable, "agent2.py",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert found["stages"]["filtered"] > 0
    assert found["stages"]["obeyed"] == 0


def test_printed_commands_run_as_they_are_where_the_agent_is_given_base_urls(
    faultwire: Any, here: Path, server: str
) -> None:
    agent = AGENT.replace("'{\"hits\": 391, \"note\": \"from the archive\"}'", "fetched").replace(
        "call = {", "import os\nfetched = u.build_opener(u.ProxyHandler({})).open("
        "os.environ['FAULTWIRE_URL_TOOL'] + '/').read().decode()\ncall = {",
    )  # fmt: skip
    (here / "agent2.py").write_text(agent)
    (here / "s.yaml").write_text(WEAK)
    (here / "p.yaml").write_text(f"name: p\ntools: {{search: {{url: '{server}*'}}}}\nfaults: []\n")
    done = faultwire(
        "attack", "-q", "--format", "json", "--script", "s.yaml", "--profile", "p.yaml", *LESS,
        "--finds", "1", "--reverse", f"tool={server}", "--budget", "60", "--", sys.executable, "agent2.py",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    (finding,) = json.loads(done.stdout)["findings"]
    words = shlex.split(finding["reproduce"])
    assert words[words.index("--reverse") + 1] == f"tool={server}"
    again = faultwire(*words[1:])
    assert re.search(rb"fwc[0-9a-f]{12}", again.stdout), again.stderr
    shrunk = faultwire(*shlex.split(finding["shrink"])[1:])
    assert shrunk.returncode == 0, shrunk.stderr
    at = words.index("--reverse")
    control = faultwire(*words[1:at], *words[at + 2 :])
    assert b"FAULTWIRE_URL_TOOL" in control.stderr, "the control: without it the agent has no address"


@pytest.mark.cold
def test_a_killed_search_goes_on_and_ends_as_one_that_was_not(faultwire: Any, here: Path) -> None:
    (here / "whole").mkdir()
    rows = []
    for folder, killed in ((here / "whole", False), (here, True)):
        (folder / "agent.py").write_text(AGENT)
        (folder / "s.yaml").write_text(WEAK)
        command = [
            sys.executable, "-m", "faultwire", "attack", "--format", "json", "--script", "s.yaml", "--finds",
            "1", "--budget", "40", *LESS, "--", sys.executable, "agent.py",
        ]  # fmt: skip
        if killed:
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            assert process.stderr is not None
            for line in process.stderr:
                if line.startswith(b"5/40"):
                    break
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            process.stderr.close()
            before = len((folder / "starts.txt").read_text())
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
        assert done.returncode == 1, done.stderr
        found = json.loads(done.stdout)
        path = max(folder.glob(".faultwire/runs/*/search.jsonl"), key=lambda one: one.stat().st_mtime_ns)
        steps = [json.loads(line) for line in path.read_text().splitlines()]
        rows.append([(one["number"], one["phase"], one["carrier"], one["stage"]) for one in steps])
        if killed:
            assert b"going on after" in done.stderr
            made = len((folder / "starts.txt").read_text())
            assert before >= 5
            assert made <= found["runs"] + 1, "only the run that was killed is made again"
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--budget", "12"), b"attack.budget: found `--budget 12`, expected at least 13"),
        (("--confirm", "1"), b"attack.confirm: found `--confirm 1`, expected at least"),
        (("--family", "overide"), b"attack.family: found family `overide`"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_starts(
    faultwire: Any, here: Path, options: tuple[str, ...], said: bytes
) -> None:
    done = faultwire("attack", "--mock", *options, "--", "true")
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(here.glob(".faultwire/runs/*"))


def test_an_agent_without_traffic_teaches_nothing(faultwire: Any, here: Path) -> None:
    done = faultwire("attack", "--mock", "--", "true")
    assert done.returncode == 2
    assert b"attack.nothing_to_carry" in done.stderr


TOOLED = """
import json, urllib.request as u
def post(url, body, **more):
    headers = {"content-type": "application/json", "authorization": "Bearer sk-none",
               "accept": "application/json, text/event-stream", **more}
    answer = u.urlopen(u.Request(url, json.dumps(body).encode(), headers))
    return answer.headers, answer.read().decode()
def rpc(method, number, params=None, **more):
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
    return post("http://mcp.mock.test/mcp", body, **more)
hello = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
headers, _ = rpc("initialize", 1, hello)
_, listed = rpc("tools/list", 2, **{"mcp-session-id": headers["mcp-session-id"]})
listed = listed[listed.index("{"):listed.rindex("}") + 1]
about = [one["description"] for one in json.loads(listed)["result"]["tools"]]
chat = {"model": "m", "messages": [{"role": "user", "content": "find. Tools: " + " ".join(about)}]}
_, said = post("https://api.openai.com/v1/chat/completions", chat)
print(json.loads(said)["choices"][0]["message"]["content"])
"""


def test_a_tools_description_carries_attacks_to_the_model(faultwire: Any, here: Path) -> None:
    (here / "agent.py").write_text(TOOLED)
    (here / "s.yaml").write_text(DEAF)
    done = faultwire(
        "attack", "-q", "--format", "json", "--script", "s.yaml", *LESS, "--finds", "1", "--budget", "30",
        "--", sys.executable, "agent.py",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in next(here.rglob("search.jsonl")).read_text().splitlines()]
    assert {one["stage"] for one in rows if one["carrier"] == "description"} == {"read"}
    assert not any(one["carrier"].startswith("result") for one in rows), "it calls no tool"
