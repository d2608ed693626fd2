"""Evolution on a real process with a planted weakness, and on one that is fine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml

AGENT = """
import json, sys, urllib.request as u
prompt = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()
open("starts.txt", "a").write("x")
headers = {"content-type": "application/json", "authorization": "Bearer sk-none"}
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": prompt}]}).encode()
u.urlopen(u.Request("https://api.openai.com/v1/chat/completions", body, headers)).read()
print(ANSWER)
"""
WEAK = AGENT.replace("ANSWER", '"?" if "!!!" in prompt or prompt.isupper() else "391"')
FINE = AGENT.replace("ANSWER", '"391"')
ASK = ("--prompt", "What is 17 times 23?", "--expect", 'contains: "391"', "--mock")
LESS = ("--type", "tone_shift", "--type", "paraphrase")


def evolve(faultwire: Any, here: Path, agent: str, *options: str) -> tuple[Any, dict[str, Any]]:
    (here / "agent.py").write_text(agent)
    command = ("--", sys.executable, "agent.py", "{prompt}")
    done = faultwire("evolve", "-q", "--format", "json", *ASK, *LESS, *options, *command)
    return done, json.loads(done.stdout) if done.stdout else {}


def test_a_planted_weakness_is_found_exported_and_fails_again(faultwire: Any, here: Path) -> None:
    done, found = evolve(
        faultwire, here, WEAK, "--budget", "40", "--finds", "1", "-o", "f.jsonl", "-o", "p.yaml"
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    (failure,) = found["failures"]
    assert failure["lineage"][-1]["type"] == "tone_shift"
    assert len((here / "starts.txt").read_text()) == found["runs"] <= 40
    (line,) = (here / "f.jsonl").read_text().splitlines()
    assert json.loads(line)["reference"]["answer"] == "391"
    (prompt,) = yaml.safe_load((here / "p.yaml").read_text())["golden_prompts"]
    again = faultwire("exec", "-q", "--mock", "--", sys.executable, "agent.py", prompt["prompt"])
    assert again.stdout.strip() == b"?"


def test_of_an_agent_that_is_fine_nothing_is_exported(faultwire: Any, here: Path) -> None:
    done, found = evolve(faultwire, here, FINE, "--budget", "12", "-o", "f.jsonl")
    assert done.returncode == 0, done.stderr
    assert (found["failures"], found["unfit"], found["runs"]) == ([], [], 10)
    assert (here / "f.jsonl").read_text() == ""


def test_a_prompt_that_fails_as_it_is_is_refused(faultwire: Any, here: Path) -> None:
    done, _ = evolve(faultwire, here, AGENT.replace("ANSWER", '"?"'), "--budget", "12")
    assert done.returncode == 2
    assert b"evolve.unfit: found no prompt that passes as it is" in done.stderr
