"""Real agents on a tape that is left at one exchange."""

from __future__ import annotations

import importlib.util
import json
import sys
import threading
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CALLS = (sys.executable, str(Path(__file__).with_name("calls.py")))
AGENTS = Path(__file__).parents[1] / "agents"
KEYS = {
    "OPENAI_API_KEY": "sk-test-0123456789abcdef0123456789",
    "ANTHROPIC_API_KEY": "sk-ant-test-0123456789abcdef",
}
CURL = """for word in rivers lakes seas; do curl -sS https://api.openai.com/v1/chat/completions \\
  -H 'authorization: Bearer sk-test-0123456789abcdef0123456789' -H 'content-type: application/json' \\
  -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"'$word'"}]}'; echo; done"""

Run = Callable[..., Any]


def environments() -> ModuleType:
    spec = importlib.util.spec_from_file_location("agent_environments", AGENTS / "environments.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answers(done: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def record(faultwire: Run, *command: str, name: str = "t") -> Any:
    done = faultwire("exec", "--mock", "--record", name, "--", *command, env=KEYS)
    assert done.returncode == 0, done.stderr.decode()
    return done


def test_one_answer_of_three_is_another_and_the_branch_names_its_parent(faultwire: Run, about: Run) -> None:
    """`cli/fork`, `cli/_forked`, `cli/tape_tree`: curl, three calls, the second one changed."""
    first = record(faultwire, "sh", "-c", CURL)
    change = ("--set", "text=There are no lakes.", "--tail", "mock", "--record", "b")
    done = faultwire("fork", "t", "--at", "2", *change, "--", "sh", "-c", CURL)
    assert done.returncode == 0, done.stderr.decode()
    old, new = answers(first), answers(done)
    assert new[0] == old[0]
    assert new[1]["choices"][0]["message"]["content"] == "There are no lakes."
    assert new[1]["id"] == old[1]["id"]
    told = about()["replay"]
    assert told["fork"] == {"at": "exec#2", "reached": 2, "tail": "mock", "onward": 1}
    assert (told["served"], told["missed"], told["left"], told["diverged"]) == (2, 0, 0, False)
    (root,) = json.loads(faultwire("tape", "tree", "--format", "json").stdout)
    (branch,) = root["branches"]
    assert (branch["fork"]["at"], branch["fork"]["tail"]) == ("exec#2", "mock")
    assert (branch["parent"]["root"], branch["parent"]["events"]) == (root["root"], root["events"])
    assert set(branch["fork"]["change"]["set"]) == {"status", "bytes", "sha256"}
    assert len(branch["fork"]["exchange"]) == 64
    shown = faultwire("tape", "tree").stdout.decode().splitlines()
    assert shown[0].startswith(".faultwire/tapes/t.tape  3 exchanges")
    assert shown[1].endswith("└─ .faultwire/tapes/b.tape  3 exchanges, forked at exec#2, set, then mock")
    assert faultwire("tape", "verify", "b").returncode == 0
    diff = json.loads(faultwire("tape", "diff", "t", "b", "--format", "json").stdout)
    assert diff["same"] == 1
    assert diff["divergence"]["class"] == "other answer"
    assert [place["path"] for place in diff["divergence"]["differences"]] == ["text"]
    assert diff["divergence"]["differences"][0]["asked"] == "There are no lakes."


@pytest.mark.nightly
def test_a_branch_can_be_forked(faultwire: Run) -> None:
    calls = (*CALLS, "whole", "rivers", "stream", "lakes", "whole", "seas")
    record(faultwire, *calls)
    for parent, at, name in (("t", 2, "b"), ("b", 3, "c")):
        change = ("--set", f"text=changed {name}", "--tail", "tape", "--record", name)
        done = faultwire("fork", parent, "--at", str(at), *change, "--", *calls, offline=True)
        assert done.returncode == 0, done.stderr.decode()
    found = answers(done)
    assert "changed b" in "".join(json.loads(f'"{c}"') for c in deltas(found[1]))
    assert "changed c" in found[2]["chunks"][0]
    (root,) = json.loads(faultwire("tape", "tree", "--format", "json").stdout)
    assert root["branches"][0]["branches"][0]["tape"] == ".faultwire/tapes/c.tape"


def deltas(answer: dict[str, Any]) -> list[str]:
    """The words of a stream's events."""
    lines = "".join(answer["chunks"]).split("\n\n")
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    return [c["delta"].get("content") or "" for event in events for c in event["choices"]]


@pytest.mark.nightly
def test_an_sdk_s_tool_loop_takes_another_way(faultwire: Run, about: Run) -> None:
    """The official OpenAI SDK: the model calls its tool with other arguments, and the mock goes on."""
    command = (str(environments().python("openai-3")), str(AGENTS / "openai_agent.py"), "tools")
    first = json.loads(record(faultwire, *command).stdout)["tools"]
    assert json.loads(first["results"][0])["expression"] == "6*7"
    edit = 'calls[0].arguments={"expression": "1+1"}'
    done = faultwire("fork", "t", "--at", "1", "--set", edit, "--tail", "mock", "--", *command, env=KEYS)
    assert done.returncode == 0, done.stderr.decode()
    met = json.loads(done.stdout)["tools"]
    assert [json.loads(result)["expression"] for result in met["results"]] == ["1+1"]
    assert met["text"]
    assert about()["replay"]["fork"]["onward"] == 1


@pytest.mark.parametrize(
    ("tail", "change"),
    [
        ("tape", ("--fault", "status: {code: 503}")),
        pytest.param("mock", ("--fault", "status: {code: 503}"), marks=pytest.mark.nightly),
        pytest.param("tape", ("--drop",), marks=pytest.mark.nightly),
        ("mock", ("--drop",)),
    ],
)
@pytest.mark.nightly
def test_an_sdk_tries_again_after_what_happens_at_the_fork(
    change: tuple[str, ...], tail: str, faultwire: Run, about: Run
) -> None:
    """Its second try is a call after the fork: from the tape it gets what was recorded."""
    command = (str(environments().python("openai-3")), str(AGENTS / "openai_agent.py"), "sync/stream")
    first = json.loads(record(faultwire, *command).stdout)["sync/stream"]
    done = faultwire("fork", "t", "--at", "1", *change, "--tail", tail, "--", *command, env=KEYS)
    assert done.returncode == 0, done.stderr.decode()
    met = json.loads(done.stdout)["sync/stream"]
    assert (met["text"], met["finish"]) == (first["text"], first["finish"])
    told = about()["replay"]
    assert told["fork"]["reached"] == 1
    assert told["fork"]["onward"] == (0 if tail == "tape" else 1)
    assert (b"1 fired" in done.stderr) == (change[0] == "--fault")


@pytest.mark.parametrize("way", [pytest.param("whole", marks=pytest.mark.nightly), "stream"])
@pytest.mark.nightly
def test_a_node_agent_gets_the_given_answer(way: str, faultwire: Run, here: Path) -> None:
    """The official Anthropic SDK for Node; the file holds a whole answer, the agent may have a stream."""
    command = ("node", str(environments().node() / "agent.mjs"), "anthropic", way)
    record(faultwire, *command)
    answer = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "No rivers on this branch."}], "stop_reason": "end_turn",
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 5},
    }  # fmt: skip
    (here / "given.json").write_text(json.dumps(answer))
    options = ("--at", "1", "--response", "given.json", "--tail", "tape")
    done = faultwire("fork", "t", *options, "--", *command, env=KEYS, offline=True)
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)[way]["text"] == "No rivers on this branch."


@pytest.mark.nightly
def test_a_fault_on_a_stream_acts_at_the_fork_alone(faultwire: Run) -> None:
    calls = (*CALLS, *("stream", "rivers") * 3)
    record(faultwire, *calls)
    fault = "cut_stream: {after_events: 2}"
    done = faultwire("fork", "t", "--at", "2", "--fault", fault, "--tail", "tape", "--", *calls, offline=True)
    assert done.returncode == 0, done.stderr.decode()
    sizes = [len("".join(one["chunks"])) for one in answers(done)]
    assert sizes[1] < sizes[0] == sizes[2]
    assert b"1 fired" in done.stderr


@pytest.mark.nightly
def test_a_fault_that_does_not_act_proves_nothing(faultwire: Run) -> None:
    record(faultwire, *CALLS, "whole", "rivers")
    fault = "cut_stream: {after_events: 2}"
    done = faultwire("fork", "t", "--at", "1", "--fault", fault, "--", *CALLS, "whole", "rivers")
    assert done.returncode == 1
    assert b"the fault did not act: the request asks for no stream" in done.stderr


@pytest.mark.nightly
def test_a_prefix_that_differs_diverges_and_goes_nowhere(faultwire: Run, about: Run) -> None:
    record(faultwire, *CALLS, "whole", "rivers", "whole", "lakes")
    changed = (*CALLS, "whole", "riverbeds", "whole", "lakes")
    done = faultwire("fork", "t", "--at", "2", "--drop", "--tail", "mock", "--", *changed)
    assert done.returncode == 1
    told = about()["replay"]
    assert (told["missed"], told["fork"]["onward"], told["diverged"]) == (1, 0, True)


@pytest.mark.nightly
def test_a_fork_that_is_never_reached_fails(faultwire: Run) -> None:
    record(faultwire, *CALLS, "whole", "rivers", "whole", "lakes")
    done = faultwire("fork", "t", "--at", "2", "--drop", "--tail", "mock", "--", *CALLS, "whole", "rivers")
    assert done.returncode == 1
    assert b"did not reach the fork point exec#2" in done.stderr


REFUSED = (
    (("--at", "9", "--drop"), b"expected one of the 2 exchanges"),
    (("--at", "x#1", "--drop"), b"hint: sessions: exec"),
    (("--at", "none", "--drop"), b"expected the number of an exchange"),
    (("--at", "1"), b"found no change"),
    (("--at", "1", "--drop", "--set", "status=500"), b"found `--set` and `--drop`"),
    (("--at", "1", "--fault", "dns_failure: {}"), b"fork.fault"),
    (("--at", "1", "--response", "absent.json"), b"usage.file"),
    (("--at", "1", "--set", "$.a.b.c=1"), b"fork.answer"),
    (("--at", "1", "--drop", "--tail", "tape", "--script", "x.yaml"), b"fork.tail"),
)


@pytest.mark.nightly
def test_what_makes_no_sense_is_refused(faultwire: Run) -> None:
    record(faultwire, *CALLS, "whole", "rivers", "whole", "lakes")
    for arguments, word in REFUSED:
        done = faultwire("fork", "t", *arguments, "--", "true")
        assert done.returncode == 2, (arguments, done.stderr)
        assert word in done.stderr, arguments


def test_what_comes_after_the_fork_goes_live(faultwire: Run, here: Path) -> None:
    """`--tail live`: the prefix comes from the tape, what follows from the server as it is now."""
    (here / "served").mkdir()
    page = here / "served" / "page"
    page.write_text("old")
    handler = partial(SimpleHTTPRequestHandler, directory=str(here / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://localhost:{server.server_port}/page"
        script = f"curl -sS {url}; curl -sS -o seen -w '%{{http_code}}' {url}; curl -sS {url}"
        program = ("--", "sh", "-c", script)
        first = faultwire("exec", "--allow-host", "localhost", "--record", "t", *program)
        page.write_text("new")
        at = ("--at", "2", "--set", "status=503", "--tail", "live", "--allow-host", "localhost")
        branch = faultwire("fork", "t", *at, *program)
        server.shutdown()
    assert (first.stdout, branch.stdout) == (b"old200old", b"old503new"), branch.stderr.decode()
    assert b"1 later call went live" in branch.stderr
