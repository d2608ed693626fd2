"""`faultwire ci --explain N`: real agents, run again until it is known which fault made a failure."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import jsonschema
import pytest

from faultwire.report._blame_shape import schema as of_blame
from faultwire.report.schema import problems

AGENT = '''"""Four calls; without the third one it makes something up."""
import json, sys, urllib.request
URL = "https://api.openai.com/v1/chat/completions"
HEAD = {"content-type": "application/json", "authorization": "Bearer sk-none"}
def ask(words):
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": words}]}
    call = urllib.request.Request(URL, json.dumps(body).encode(), HEAD)
    try:
        with urllib.request.urlopen(call, timeout=60) as reply:
            return json.load(reply)["choices"][0]["message"]["content"]
    except (OSError, ValueError):
        return None
got = [ask(f"{sys.argv[1]} {n}") for n in (1, 2, 3, 4)]
print("Surely it is 42." if got[2] is None else "I asked.")
'''
TOOL = '''"""Looks up twice; without the second one it makes something up."""
import sys, urllib.request
got = []
for n in (1, 2):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:PORT/find?n={n}", timeout=60) as reply:
            got.append(b"tea" in reply.read())
    except (OSError, ValueError):
        got.append(False)
print("I asked." if got[1] else "Surely it is 42.")
'''
NO_GUESS = {"type": "excludes_pattern", "id": "no-guess", "patterns": ["Surely"], "severity": "high"}
ANY = {"host": "*"}
DOWN = {"name": "down", "faults": [{"status": {"code": 503}, "on": ANY}]}


def contract(*scenarios: dict[str, Any], also: dict[str, Any] | None = None) -> dict[str, Any]:
    invariants = [NO_GUESS] if also is None else [NO_GUESS, also]
    return {"name": "rules", "invariants": invariants, "chaos_matrix": [{"name": "calm"}, *scenarios]}


def write(project: Any, program: str = AGENT, **sections: Any) -> None:
    (project.folder / "agent.py").write_text(program)
    agent = {"type": "command", "command": [sys.executable, "-S", "agent.py", "{prompt}"]}
    project.write(**{"agent": agent, "contract": contract(DOWN), "invariants": None, **sections})


def explained(project: Any) -> list[dict[str, Any]]:
    document = project.document("contract")
    assert problems(document) == []
    assert document["explained"] == project.document()["explained"]
    rows: list[dict[str, Any]] = document["explained"]
    for row in rows:
        if row["data"]:
            jsonschema.validate(json.loads((project.runs[-1] / row["data"]).read_text()), of_blame())
    return rows


def test_the_fault_that_made_a_failure_is_named_wherever_the_run_is_reported(project: Any) -> None:
    write(project)
    done = project.run("ci", "--explain", "60", "-o", "reports/")
    assert done.returncode == 1, done.stderr
    (row,) = explained(project)
    assert row["blamed"] == ["status on its call 3"]
    assert row["also"] == 1, "both prompts failed in the same way, and one was searched"
    assert row["runs"] <= 30
    sentence = "#3 makes the failure: status on its call 3"
    assert f"    {sentence}" in done.stdout.splitlines()
    folder = project.runs[-1]
    for name in ("report.html", "contract.html", "report.md", "contract.md", "junit.xml", "contract.xml"):
        text = (folder / name).read_text()
        assert sentence in text, name
        assert row["page"] in text, name
    for place in (folder, project.folder / "reports"):
        page = (place / row["page"]).read_text()
        assert "The conversation" in page
        assert "<script" not in page
    assert not list((project.folder / ".faultwire" / "trials" / "runs").iterdir()), "trials are not kept"


def test_a_budget_that_decides_nothing_says_how_many_runs_are_needed_and_makes_none(project: Any) -> None:
    write(project)
    done = project.run("ci", "--explain", "7")
    assert done.returncode == 1, done.stderr
    (row,) = explained(project)
    assert (row["runs"], row["page"]) == (0, None)
    assert re.search(r"7 runs were left for it, and fewer than 16 decide nothing", done.stdout)
    assert not list(project.runs[-1].glob("blame-*"))


@pytest.mark.nightly
def test_only_what_a_baseline_did_not_have_is_explained(project: Any) -> None:
    write(project)
    assert project.run("ci").returncode == 1
    first = project.runs[-1].name
    done = project.run("ci", "--explain", "60", "--baseline", first)
    assert done.returncode == 1, done.stderr
    assert "there is no new failure to explain" in done.stderr
    assert explained(project) == []
    slow = {"name": "broken", "faults": [{"malformed_body": {}, "trigger": {"calls": [3]}}]}
    write(project, contract=contract(DOWN, slow))
    done = project.run("ci", "--explain", "60", "--baseline", first)
    assert done.returncode == 1, done.stderr
    (row,) = explained(project)
    assert (row["scenario"], row["blamed"]) == ("broken", ["malformed_body on its call 3"])


@pytest.mark.nightly
def test_a_failure_without_a_fault_and_one_that_needs_none_are_not_explained(project: Any) -> None:
    never = {"type": "excludes_pattern", "id": "never", "patterns": ["Surely", "asked"], "severity": "low"}
    write(project, contract=contract(DOWN, also=never))
    done = project.run("ci", "--explain", "60")
    assert done.returncode == 1, done.stderr
    said = {row["scenario"]: row["conclusion"] for row in explained(project) if row["invariant"] == "never"}
    assert said["calm"].startswith("not explained: no fault had reached the agent in it")
    assert said["down"].startswith("not explained by its faults: without them ")


class Find(BaseHTTPRequestHandler):
    """A tool."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("content-length", "13")
        self.end_headers()
        self.wfile.write(b'{"say": "tea"}'[:13])

    def log_message(self, *_: object) -> None:
        """The test reads the report."""


@pytest.fixture
def tool() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Find) as server:
        server.asked = []  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.nightly
def test_the_tape_answers_where_it_can_and_is_not_guessed_where_it_cannot(
    project: Any, tool: ThreadingHTTPServer
) -> None:
    """`status` takes the server's place: how it would have answered is not known."""
    place = f"127.0.0.1:{tool.server_port}"
    broken = {"name": "broken", "faults": [{"empty_body": {}, "on": ANY}]}
    write(
        project,
        TOOL.replace("PORT", str(tool.server_port)),
        proxy={"allow_hosts": [place]},
        golden_prompts=["Find tea."],
        contract=contract(DOWN, broken),
    )
    done = project.run("ci", "--explain", "90")
    assert done.returncode == 1, done.stderr
    rows = {row["scenario"]: row for row in explained(project)}
    assert rows["down"]["conclusion"].endswith("without its faults: needs --mock or --live")
    assert rows["down"]["blamed"] == []
    assert rows["broken"]["blamed"] == ["empty_body on its call 2"]
    assert "needs" not in rows["broken"]["conclusion"]
    assert len(tool.asked) == 4, "calm and broken, and no trial"  # type: ignore[attr-defined]


@pytest.mark.cold
@pytest.mark.nightly
def test_after_ctrl_c_there_is_what_was_learned_and_the_exit_code_of_the_run(project: Any) -> None:
    other = {"type": "excludes_pattern", "id": "other", "patterns": ["42"], "severity": "low"}
    write(project, contract=contract(DOWN, also=other))
    command = [sys.executable, "-m", "faultwire", "ci", "--explain", "90"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=project.folder, stdin=subprocess.DEVNULL, **pipes) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("run 12 "):
                break
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=120)
    assert process.returncode == 1, said
    first, second = explained(project)
    assert "; interrupted after 1" in first["conclusion"]
    assert (project.runs[-1] / first["page"]).is_file()
    assert (second["conclusion"], second["page"]) == (
        "not explained: interrupted before its search began",
        None,
    )
    assert "interrupted" in shown
    assert project.about()["gate"] == "fail"


@pytest.mark.nightly
def test_a_run_that_passes_has_nothing_to_explain_and_takes_no_run(project: Any) -> None:
    write(project, contract=contract())
    done = project.run("ci", "--explain", "60")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "there is no new failure to explain" in done.stderr
    assert not list(project.runs[-1].glob("blame-*"))


def test_without_the_option_no_document_speaks_of_it(project: Any, tmp_path: Path) -> None:
    write(project, contract=contract())
    assert project.run("ci").returncode == 0
    assert "explained" not in project.document("contract")
    assert "explained" not in project.document()
