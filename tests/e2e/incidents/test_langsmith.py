"""Runs of LangSmith through its real client, against a server that speaks its API."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import environments
import pytest
from langsmith_server import BEGAN, KEY, Runs, ident, serving

from faultwire.replay.incident_read import read_file

pytestmark = pytest.mark.nightly

TRACE = "Traceback (most recent call last):\n  File ..."


@pytest.fixture
def runs() -> Runs:
    """A failed run, one that went well, one in which only a tool failed, and an old failed one."""
    made = Runs()
    made.add(10, {"question": "what does a kettle cost"}, error=f"KeyError('price'){TRACE}", seconds=31)
    made.add(11, {}, name="LLM", kind="llm", parent=10)
    made.add(
        12, {"q": "kettle"}, name="price", kind="tool", parent=10, seconds=30,
        error=f"HTTPError('504 Server Error: Gateway Timeout for url: http://x'){TRACE}",
    )  # fmt: skip
    made.add(13, {"q": "kettle"}, name="price", kind="tool", parent=11, outputs={"output": '{"price": 99}'})
    made.add(20, {"input": "hello"}, outputs={"output": "hi"})
    made.add(30, {"messages": [{"role": "user", "content": "what does tea cost"}]}, seconds=5)
    made.add(31, {"q": "tea"}, name="price", kind="tool", parent=30, error="Error: connection refused")
    made.add(40, {"input": "old"}, error="ValueError('x')", at=BEGAN - timedelta(days=30))
    made.add(50, {"a": 1, "b": {"c": 2}}, error="TypeError('y')")
    return made


@pytest.fixture
def langsmith(runs: Runs, faultwire: Any) -> Iterator[Any]:
    site = environments.python("langsmith-0").parent / "site"
    with serving(runs) as (address, heard):

        def run(*arguments: str, key: str = KEY) -> Any:
            env = {"PYTHONPATH": str(site), "LANGSMITH_ENDPOINT": address, "LANGSMITH_API_KEY": key}
            return faultwire("replay", "import", *arguments, "-o", "out", env=env)

        run.heard = heard  # type: ignore[attr-defined]
        yield run


def names(here: Path) -> set[str]:
    return {path.stem for path in (here / "out").glob("*.yaml")}


def test_one_run_with_its_child_runs(langsmith: Any, here: Path) -> None:
    done = langsmith("--langsmith", f"https://smith.langchain.com/o/x/projects/p/y/r/{ident(10)}")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"out/{ident(10)}.yaml: 2 tool responses\n"
    session = read_file(here / "out" / f"{ident(10)}.yaml")
    assert (session.id, session.source, session.turns) == (
        ident(10),
        "langsmith",
        ("what does a kettle cost",),
    )
    assert session.captured_at == "2026-11-20T10:00:00Z"
    assert session.expected_failure == "KeyError('price')"
    first, second = session.tool_responses
    assert (first.tool, first.status, first.latency_ms) == ("price", 504, 30_000)
    assert first.response == "HTTPError('504 Server Error: Gateway Timeout for url: http://x')"
    assert (second.status, second.response, second.latency_ms) == (200, '{"price": 99}', 1000)
    asked = [query for path, query in langsmith.heard if path == "/runs/query"]
    assert [query["trace"] for query in asked][:1] == [ident(10)], "its child runs were asked for"


@pytest.mark.parametrize(
    ("options", "made", "code"),
    [
        ((), {10, 40}, 1),
        (("--since", "2026-11-19"), {10}, 1),
        (("--filter-status", "warning"), {30}, 0),
        (("--filter-status", "all"), {10, 20, 30, 40}, 1),
        (("--filter-status", "all", "--min-latency-ms", "5000"), {10, 30}, 0),
        (("--filter-status", "all", "--min-latency-ms", "5001"), {10}, 0),
        (("--filter-status", "all", "--limit", "1"), set(), 1),
    ],
)
def test_filters_mean_what_they_say(
    options: tuple[str, ...], made: set[int], code: int, langsmith: Any, here: Path
) -> None:
    done = langsmith("--langsmith-project", "shop", *options)
    assert done.returncode == code, done.stderr
    assert names(here) == {ident(number) for number in made}
    named = f"run `{ident(50)}` was not imported: found the members `a`, `b` as the inputs of run"
    assert (named in done.stderr) == (code == 1)


def test_what_cannot_be_had_is_an_error_with_the_reason(langsmith: Any, here: Path) -> None:
    done = langsmith("--langsmith", ident(99))
    assert done.returncode == 2
    assert done.stderr.startswith(f"langsmith.not_found: found no run `{ident(99)}` at LangSmith")
    done = langsmith("--langsmith-project", "nowhere")
    assert done.returncode == 2
    assert done.stderr.startswith("langsmith.not_found: found no project `nowhere` at LangSmith")
    done = langsmith("--langsmith", ident(10), key="wrong")
    assert done.returncode == 2
    assert done.stderr.startswith("langsmith.key: LangSmith refused its key")
    assert not (here / "out").exists()


def test_without_its_client_the_error_states_how_to_install_it(faultwire: Any) -> None:
    env = {"LANGSMITH_API_KEY": KEY}
    done = faultwire("replay", "import", "--langsmith", ident(10), "-o", "out", env=env)
    assert done.returncode == 2
    assert done.stderr == (
        "langsmith.not_installed: cannot import LangSmith's client (No module named 'langsmith')\n"
        "hint: pip install 'faultwire[langsmith]'\n"
    )


def test_the_sources_of_a_configuration(langsmith: Any, here: Path) -> None:
    (here / "faultwire.yaml").write_text(
        'version: "2.0"\nagent: {type: command, command: ["true", "{prompt}"]}\ngolden_prompts: [hello]\n'
        "invariants: [output_not_empty]\nreplays:\n  sources:\n"
        "    - {type: langsmith, project: shop, filter: {status: warning}}\n"
        f"    - {{type: langsmith_run, run_id: {ident(20)}}}\n"
    )
    done = langsmith("-c", "faultwire.yaml")
    assert done.returncode == 0, done.stderr
    assert names(here) == {ident(30), ident(20)}


@pytest.mark.parametrize(("care", "code"), [("careless", 1), ("careful", 0)])
def test_a_source_that_is_imported_by_itself(
    care: str, code: int, runs: Runs, faultwire: Any, here: Path
) -> None:
    """The run in which only a tool failed: its agent made a price up."""
    site = environments.python("langsmith-0").parent / "site"
    agent = [
        sys.executable,
        "-I",
        "-S",
        str(Path(__file__).with_name("shop_agent.py")),
        "inside",
        care,
        "{prompt}",
    ]
    (here / "script.yaml").write_text(
        "turns: [{match: {last_tool: price}, reply: {text: '{last_result}'}}]\n"
    )
    (here / "faultwire.yaml").write_text(
        f'version: "2.0"\nagent: {{type: command, command: {json.dumps(agent)}}}\n'
        "proxy: {mock: true, script: script.yaml}\ngolden_prompts: [hello]\n"
        "contract:\n  name: honest\n  invariants: [{type: excludes_pattern, patterns: [42 euros]}]\n"
        "  chaos_matrix: [{name: calm}]\n"
        "replays:\n  sources:\n"
        "    - {type: langsmith, project: shop, filter: {status: warning}, auto_import: true}\n"
    )
    with serving(runs) as (address, _):
        env = {"PYTHONPATH": str(site), "LANGSMITH_ENDPOINT": address, "LANGSMITH_API_KEY": KEY}
        done = faultwire("replay", "run", "--timing", "none", env=env)
    assert done.returncode == code, done.stdout + done.stderr
    assert "is judged by the only one, `honest`" in done.stderr
    assert ident(30)[:39] in done.stdout


def test_a_server_that_does_not_answer(faultwire: Any) -> None:
    site = environments.python("langsmith-0").parent / "site"
    env = {"PYTHONPATH": str(site), "LANGSMITH_ENDPOINT": "http://127.0.0.1:9", "LANGSMITH_API_KEY": KEY}
    done = faultwire("replay", "import", "--langsmith", ident(10), "-o", "out", env=env)
    assert done.returncode == 3
    assert done.stderr.startswith(f"langsmith.failed: LangSmith did not give run `{ident(10)}`: ")
