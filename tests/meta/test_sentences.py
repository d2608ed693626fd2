"""Each sentence about a run has a test in which it is said, and one in which it is not."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from tests.meta.page_sentences import page_sentences, texts
from tests.meta.sentences import MODULES, ROOT, SOURCES, TABLE, all_sentences, sentences

HINT = "test the new sentence, then run `python tests/meta/sentences.py`"
ALWAYS = frozenset(
    {
        "attacker/report.py: {} of {}, interval {} to {} % ({} %)",
        "load/report.py: latency, seconds",
        "load/report.py: per s",
        "load/report.py: throughput, invocations a second",
        "checks/_api.py: no answer to judge: the agent {}",
        "checks/_api.py: the agent was not called: {}",
        "checks/_found.py: redacted secret",
        "checks/_truncated.py: its own exchange",
        "checks/completes.py: the agent {}",
        "checks/similarity.py: the expected text",
        "cli/_summary.py: base URL",
        "cli/_summary.py: ledger: {}",
        "cli/_summary.py: {} fired{}",
        "report/explored.py: {} of {} run, {} excluded",
        "cli/_summary.py: {}, run {}",
        "report/progress.py: {} fault{} fired",
        "report/progress.py: {} of {} invocation{}",
        "report/summary.py: ## {} faultwire ci: {}\n\n{}",
        "report/summary.py: run {} · seed {} · ledger {}",
        "report/passed.py: {} failed no check{}, and{}: {}",
        "report/summary.py: score from",
        "tape/import_/_agentops_chain.py: ELS 1.0",
    }
)
"""Whoever asks their function gets them: they hold what was counted or found, or the caller decides."""
IN_ONE_LINE = {
    "attacker/report.py: attack_resisted: {}": "tests/unit/attacker/test_report.py",
    "load/report.py: not judged": "tests/unit/load/test_report.py",
    "load/report.py: not significant": "tests/unit/load/test_report.py",
    "checks/contains.py: {} is in the answer": "tests/unit/checks/test_contains.py",
    "checks/output_not_empty.py: the answer has {} visible characters": (
        "tests/unit/checks/test_output_not_empty.py"
    ),
    "checks/output_not_empty.py: the answer is empty": "tests/unit/checks/test_output_not_empty.py",
    **dict.fromkeys(
        (
            ("report/terminal.py: \n       {} of {} without a failure: {} interval {} to {} %"),
            "report/terminal.py: , {} unknown)",
            "report/terminal.py: not judged  ",
            "report/terminal.py: resilience score",
            "report/terminal.py: {} ({} passed, {} failed",
        ),
        "tests/unit/report/test_terminal.py",
    ),
    **dict.fromkeys(
        (
            "report/terminal_numbers.py: earlier runs that are not comparable: {}",
            "report/terminal_numbers.py: {} with another {}",
        ),
        "tests/unit/report/test_terminal_numbers.py",
    ),
    **dict.fromkeys(
        ("report/halves.py: at its token limit (`{}`)", "report/halves.py: without its closing event"),
        "tests/unit/report/test_halves.py",
    ),
    **dict.fromkeys(
        ("report/summary.py: **no score**", "report/summary.py: , threshold {}"),
        "tests/unit/report/test_summary.py",
    ),
    **dict.fromkeys(
        ("runner/gate.py: {} is below the minimum {}", "runner/gate.py: {}; unknown cells are allowed"),
        "tests/unit/runner/test_gate.py",
    ),
    **dict.fromkeys(
        (
            "checks/truncated_stream_not_accepted.py: with a result in",
            "checks/truncated_stream_not_accepted.py: the agent {} {} from the answer of exchange {}, {}",
            "checks/truncated_stream_not_accepted.py: which ended at its limit (`{}`)",
            "checks/truncated_stream_not_accepted.py: which was cut short",
            "checks/truncated_stream_not_accepted.py: {}, {} exchange {}",
        ),
        "tests/unit/checks/test_truncated_stream_not_accepted.py",
    ),
}
"""They stand in one line with what is said otherwise, or are built piece by piece; the file tests both."""
NEVER = frozenset(
    {
        "checks/completes.py: the agent's exit is unknown",
        "checks/latency.py: the agent's run time is unknown",
    }
)
"""Only types ask for them: `Check.verdict` has ruled them out."""


@pytest.fixture(scope="module")
def table() -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = json.loads(TABLE.read_text())
    return found


def lacking(table: dict[str, list[str | None]], keys: set[str]) -> list[str]:
    """Sentences without an entry, or with half of one that is not explained here."""
    found = sorted(keys - table.keys())
    for key in sorted(keys & table.keys()):
        said, not_said = table[key]
        if ".js: " in key:
            continue  # the page's own: a half that no browser has shown yet is `null` in the table
        if (said is None and key not in NEVER) or (not_said is None and key not in {*ALWAYS, *IN_ONE_LINE}):
            found.append(key)
    return found


def test_every_sentence_is_tested_where_it_is_true_and_where_it_is_not(
    table: dict[str, list[str | None]],
) -> None:
    keys = {one.key for one in all_sentences()} | set(page_sentences())
    assert lacking(table, keys) == [], HINT
    assert sorted(table.keys() - keys) == [], HINT


def test_the_tests_that_the_table_names_exist(table: dict[str, list[str | None]]) -> None:
    named = {name for pair in table.values() for name in pair if name is not None}
    files = {name.partition("::")[0] for name in named}
    functions = {
        f"{file}::{node.name}"
        for file in files
        for node in ast.walk(ast.parse((ROOT / file).read_text()))
        if isinstance(node, ast.FunctionDef)
    }
    assert sorted(named - functions) == [], HINT


def test_exceptions_are_needed(table: dict[str, list[str | None]]) -> None:
    assert {key for key in (*ALWAYS, *IN_ONE_LINE) if table[key][1] is not None} == set()
    assert all((ROOT / file).is_file() for file in IN_ONE_LINE.values())
    assert {key for key in NEVER if table[key][0] is not None} == set()


def test_a_new_sentence_is_found(table: dict[str, list[str | None]]) -> None:
    path = SOURCES / "checks" / "completes.py"
    source = (
        path.read_text()
        + '\n\ndef more(n):\n    """No sentence."""\n    return f"the agent sang {n} songs"\n'
    )
    keys = {one.key for one in sentences(path, source)}
    assert lacking(table, keys) == ["checks/completes.py: the agent sang {} songs"]
    assert lacking({**table, "checks/completes.py: the agent sang {} songs": ["x", None]}, keys) != []


def test_texts_of_a_script_are_found_wherever_they_stand() -> None:
    source = """// "no text"
    /* `nor this` */ const a = 'it\\'s', b = `1 of ${c ? `two ${"three"} in` : ""} four`;"""
    assert list(texts(source)) == ["it\\'s", "three", "two {} in", "", "1 of {} four"]


def test_a_new_sentence_of_the_page_is_found(
    table: dict[str, list[str | None]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "x.js").write_text("show(`the agent sang ${n} songs`);")
    monkeypatch.setattr("tests.meta.page_sentences.ASSETS", tmp_path)
    assert lacking(table, set(page_sentences())) == ["workbench/assets/x.js: the agent sang {} songs"]


def test_the_modules_are_there() -> None:
    assert all(Path(path).is_file() for path in MODULES)
