"""`faultwire exec --check-determinism`: which programs make the same run twice, and why others do not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.exec.conftest import Faultwire

AGENT = """
import json, os, random, sys, threading, time, urllib.request

def ask(*said):
    messages = [{"role": "user", "content": text} for text in said]
    body = json.dumps({"model": "gpt-4o-mini", "messages": messages})
    head = {"content-type": "application/json", "authorization": "Bearer sk-test-key-of-nobody"}
    request = urllib.request.Request("https://api.openai.com/v1/chat/completions", body.encode(), head)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]

"""
STEADY = "[ask('rivers', ask(f'lake {n}')) for n in range(3)]\n"
"""Each second call holds the answer to the first."""
PARALLEL = """
# The second run starts its threads the other way round: what a race does at times, it does each time.
again = os.path.exists("again")
open("again", "w").close()
for text in ("east", "west")[:: -1 if again else 1]:
    thread = threading.Thread(target=ask, args=(text,))
    thread.start()
    thread.join()
"""
SAME = "determinism: same: 2 runs with seed 42 made the same {} calls and had the same faults"
URL = "https://api.openai.com/v1/chat/completions"
FAULTS = ("--fault", "{slow_first_token: {ms: 1}, trigger: {probability: 0.5}}", "--mock")


@pytest.fixture
def check(faultwire: Faultwire, here: Path):
    def checked(code: str, *options: str) -> subprocess.CompletedProcess[bytes]:
        (here / "agent.py").write_text(AGENT + code)
        command = (sys.executable, "-S", "agent.py")
        return faultwire("exec", "--check-determinism", *FAULTS, *options, "--", *command)

    return checked


def told(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """What is said of the comparison."""
    lines = done.stderr.decode().splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("determinism:"))
    return lines[first:]


def test_a_program_that_asks_the_same_keeps_the_promise(check, here):
    done = check(STEADY)
    assert done.returncode == 0, done.stderr.decode()
    assert told(done) == [
        SAME.format(6),
    ]
    ended = [json.loads(path.read_text()) for path in (here / ".faultwire" / "runs").glob("*/run.json")]
    assert len({run["ledger"] for run in ended}) == 1
    assert len(ended) == 2


@pytest.mark.by_day("random")
@pytest.mark.parametrize(
    ("code", "cause", "call"),
    [
        ("ask('rivers'); ask(f'pick {random.random()}')", "random value", 2),
        ("ask('rivers'); ask(f'it is {time.time()}')", "clock", 2),
        ("ask('rivers'); open('log', 'a').write('x'); ask('lakes' * os.path.getsize('log'))", "code", 2),
    ],
)  # fmt: skip
def test_the_first_call_that_differs_is_named_with_its_cause(check, code, cause, call):
    done = check(code)
    assert done.returncode == 1, done.stderr.decode()
    lines = told(done)
    assert lines[0] == f"determinism: different: {cause}"
    assert lines[1].startswith(
        f"  call {call}: POST https://api.openai.com/v1/chat/completions: it differs from"
    )
    assert "    $.messages[0].content" in lines
    assert any(line.startswith("      - ") for line in lines)


@pytest.mark.nightly
def test_calls_in_another_order_differ_unless_that_is_accepted(check, here):
    done = check(PARALLEL)
    assert done.returncode == 1
    assert told(done)[0] == "determinism: different: order"
    assert told(done)[1].startswith("  call 1: POST ")
    (here / "again").unlink()
    done = check(PARALLEL, "--any-order")
    assert done.returncode == 0, done.stderr.decode()
    assert told(done) == [
        SAME.format(2),
        "  from call 1 on, calls came in another order",
    ]


@pytest.mark.nightly
def test_another_answer_is_the_models(check, here):
    (here / "script.yaml").write_text("turns:\n  - reply: {text: yes}\n")
    code = STEADY + "open('script.yaml', 'w').write('turns: [{reply: {text: nobody}}]')\n"
    done = check(code, "--script", "script.yaml")
    assert done.returncode == 1
    assert told(done)[0] == "determinism: different: model answer"
    assert told(done)[1].startswith("  call 1: ")


@pytest.mark.nightly
def test_a_missing_call_and_another_exit_code_differ(check, here):
    once = "ask('rivers')\nif not os.path.exists('again'):\n    open('again', 'w').close()\n    "
    done = check(once + "ask('lakes')")
    assert done.returncode == 1
    assert told(done)[:2] == [
        "determinism: different: code",
        "  a call is missing: POST https://api.openai.com/v1/chat/completions: only the first tape has "
        "exec#2 POST https://api.openai.com/v1/chat/completions",
    ]
    (here / "again").unlink()
    done = check(once + "sys.exit(7)")
    assert done.returncode == 1
    assert told(done)[1] == "  the command exited 7 and then 0 after the same calls"


@pytest.mark.nightly
def test_a_program_that_fails_the_same_way_twice_is_the_same(check):
    done = check(STEADY + "sys.exit(7)")
    assert done.returncode == 0
    assert told(done)[0].startswith("determinism: same:")


def test_a_run_that_proves_nothing_is_inconclusive(check):
    assert check("pass").returncode == 3


@pytest.mark.nightly
def test_repeat_alone_compares_nothing_and_passes_the_exit_code_on(faultwire, here):
    (here / "agent.py").write_text(AGENT + "ask(f'pick {random.random()}')\nsys.exit(7)")
    command = ("exec", "--mock", "--repeat", "3", "--", sys.executable, "-S", "agent.py")
    done = faultwire(*command)
    assert done.returncode == 7
    assert b"run 3 of 3" in done.stderr
    assert b"determinism" not in done.stderr
    assert len(list((here / ".faultwire" / "runs").glob("*/run.json"))) == 3


def test_one_tape_is_not_for_several_runs(faultwire):
    done = faultwire(
        "exec", "--repeat", "2", "--record", "t.tape", "--mock", "--", sys.executable, "-c", "pass"
    )
    assert done.returncode == 2
    assert b"found `--record` and 2 runs, expected one run for one tape" in done.stderr
