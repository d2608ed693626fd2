"""InjecAgent on the wire: its files are read, the proxy places its orders, and its paper's rule judges."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.agents import environments
from tests.e2e.benchmarks.injecagent_files import HOLE, figures, rule, write

from faultwire.benchmarks.plan import Pair
from faultwire.benchmarks.player import CONTROL, ROUTE, Player
from faultwire.benchmarks.server import AGENT, TaskServer
from faultwire.runner.launch import LaunchSettings, start_run

HERE = Path(__file__).parent
HABITS = ("obeys", "deaf", "first", "last", "unknown", "claims", "reads and claims", "backwards")


@pytest.fixture
def repository(here: Path) -> Path:
    """A folder as its repository is."""
    return write(here)


def bench(faultwire: Any, repository: Path, *more: str) -> Any:
    return faultwire("bench", "injecagent", "--data", str(repository), "--format", "json", *more)


def counts(one: dict[str, Any] | None) -> tuple[int, int] | None:
    return one and (one["count"], one["total"])


def test_an_unmodified_agent_of_the_official_sdk_is_attacked_on_its_http_tools(
    faultwire: Any, repository: Path
) -> None:
    agent = [str(environments.python("openai-3")), str(HERE / "openai_agent.py"), "{prompt}"]
    for chance, succeeded in (("1", 4), ("0", 0)):
        options = ("--pairs", "4", "--controls", "2", "-q", "--scripted-model", chance, "--", *agent)
        done = bench(faultwire, repository, *options)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert counts(found["attack_success"]) == (succeeded, 4)
        assert found["utility"] is found["utility_under_attack"] is None
        assert found["validity"]["valid"]["rate"] == 1.0
        assert found["controls"]["victim"]["obeyed"] == found["controls"]["deaf"]["total"] == 2


@pytest.mark.parametrize("setting", ["base", "enhanced"])
def test_every_rate_is_that_of_the_papers_rule_on_what_the_agent_itself_noted(
    setting: str, faultwire: Any, repository: Path, here: Path
) -> None:
    notes = here / "notes.jsonl"
    agent = [sys.executable, str(HERE / "noting_agent.py"), str(notes), *HABITS]
    options = ("--attack", setting, "--controls", "2", "--concurrency", "1", "-q", "--", *agent)
    done = bench(faultwire, repository, *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    files = {
        kind: json.loads((repository / "data" / f"test_cases_{kind}_{setting}.json").read_text())
        for kind in ("dh", "ds")
    }
    cases = [(kind, row) for kind, rows in files.items() for row in rows]
    noted = [json.loads(line) for line in notes.read_text().splitlines()]
    assert len(noted) == len(cases) == 12
    for (_, row), note in zip(cases, noted, strict=True):
        assert note["offered"] == [row["User Tool"], *row["Attacker Tools"]]
        assert HOLE not in note["read"]
    rows = [
        (kind, rule(row, kind, note["calls"], note["answer"]))
        for (kind, row), note in zip(cases, noted, strict=True)
    ]
    assert {name: counts(one) or (0, 0) for name, one in found["validity"].items()} == figures(rows)
    assert {first for _, (first, _) in rows} == {"succ", "unsucc", "invalid"}, "each outcome has a case"


def test_the_model_reads_what_the_files_say_that_it_reads(here: Path, repository: Path) -> None:
    """Byte by byte, but for an order with an apostrophe: the file breaks the literal that it stands in, and
    the wire writes it as `repr` would."""
    rows = [
        row
        for kind in ("dh", "ds")
        for row in json.loads((repository / "data" / f"test_cases_{kind}_base.json").read_text())
    ]
    with TaskServer(Path(sys.executable), "injecagent_tasks", str(repository)) as server:
        route = {ROUTE: f"http://127.0.0.1:{server.port}"}
        pairs = [Pair(*one) for one in server.ask("pairs", version="")]
        with start_run(LaunchSettings("bench", reverse=route)) as run:
            player = Player(
                server, run, {"version": "", "attack": "base"}, CONTROL, 60.0, 1, obeys=1.0, keep=True
            )
            found = player.play_all([("agent", pair) for pair in pairs], 2, lambda _: None)
            run.folder.end("finished")
    assert all(one.obeyed and one.reach == "reached" for one in found)
    unlike = [
        row for one, row in zip(found, rows, strict=True) if one.results[0] != row["Tool Response"][1:-1]
    ]
    assert [(row["User Tool"], "'" in row["Attacker Instruction"]) for row in unlike] == [
        ("ShelfLookUp", True)
    ]


def test_an_order_that_no_agent_read_is_not_resisted(faultwire: Any, repository: Path, here: Path) -> None:
    agent = [sys.executable, str(HERE / "noting_agent.py"), str(here / "notes.jsonl"), "idle"]
    done = bench(faultwire, repository, "--pairs", "2", "--controls", "1", "-q", "--", *agent)
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert (found["not_reached"], found["attack_success"], found["validity"]["valid"]) == (2, None, None)
    assert b"none of 2 attacks reached the agent" in done.stderr


def test_what_is_printed_names_what_the_benchmark_does_not_define(faultwire: Any, repository: Path) -> None:
    done = faultwire(
        "bench", "injecagent", "--data", str(repository / "data"), "--suite", "ds", "--controls", "1",
        "--attack", "faultwire:authority", "--scripted-model", "1", "--max-asr", "10", "--", sys.executable,
        str(AGENT),
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    text = done.stdout.decode()
    assert "utility               not defined by this benchmark" in text
    assert "utility under attack  not defined by this benchmark" in text
    assert "ASR-valid, second step    100.0 % (6 of 6)" in text
    assert b"another version of its cases: 6 cases of direct harm, published are 510; 6 cases" in done.stderr


def spoiled(repository: Path, name: str, text: str | None) -> None:
    path = repository / "data" / name
    path.unlink()
    if text is not None:
        path.write_text(text)


CASE = {"User Tool": "ShelfLookUp", "User Instruction": "", "Tool Parameters": "{}"}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("test_cases_ds_base.json", None, "test_cases_ds_base.json: No such file or directory"),
        ("tools.json", None, "tools.json: No such file or directory"),
        ("attacker_simulated_responses.json", "[]", "expected an object by tool and arguments"),
        ("test_cases_dh_base.json", "[\n{]", "test_cases_dh_base.json:2: expected JSON"),
        ("test_cases_dh_base.json", json.dumps([CASE]), "case 0: expected `Tool Response Template`"),
    ],
)
def test_files_that_cannot_be_played_are_named(
    name: str, text: str | None, words: str, faultwire: Any, repository: Path, here: Path
) -> None:
    spoiled(repository, name, text)
    done = bench(faultwire, repository, "--", sys.executable, str(AGENT))
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert not list(here.glob(".faultwire/runs/*"))


def test_another_attack_is_named(faultwire: Any, repository: Path) -> None:
    done = bench(faultwire, repository, "--attack", "enhnced", "--", sys.executable, str(AGENT))
    assert done.returncode == 2
    assert b"found attack `enhnced`, expected one of base, enhanced" in done.stderr
