"""The part of the page about SDKs has every SDK of the matrix, both ways, and is as the command writes it."""

from __future__ import annotations

from tests.e2e.sdks import matrix, page

import outcomes  # isort: skip  # its folder is on the path since the import above


def test_the_page_has_every_sdk_both_ways() -> None:
    text = outcomes.DOC.read_text()
    table, when = page.read(text)
    assert list(table) == list(matrix.ROWS)
    assert all(set(ways) == set(matrix.WAYS) for ways in table.values())
    assert outcomes.rest(text) == "\n" + page.document(table, when), "it is as the command writes it"


def test_a_table_that_is_written_and_read_again_is_the_same() -> None:
    cells = dict.fromkeys(page.COLUMNS, "`A` / an answer, finish `stop`")
    other = {**cells, "on the tape": "0 of 10; past the proxy"}
    table = {name: {"variables": other, "netns": cells} for name in matrix.ROWS}
    table["axios 1"] = {"variables": cells, "netns": cells}
    text = page.document(table, "2026-01-02 (Node 1)")
    assert page.read(text) == (table, "2026-01-02 (Node 1)")
    assert "| axios 1 | both | `A`" in text
    assert "| got 14, HTTP/2 | variables | 0 of 10; past the proxy |" in text


def seen(**changed: object) -> matrix.Seen:
    row = matrix.ROWS["axios 1"]
    asked = matrix.cases(row)
    whole: dict[str, object] = {
        "answers": {case: {"text": "t"} for case in asked},
        "attempts": dict.fromkeys(asked, 1),
        "fired": {},
        "strangers": 0,
        "past": 0,
        "stderr": "",
    }
    return matrix.Seen(**{**whole, **changed})  # type: ignore[arg-type]


def test_a_run_that_is_not_on_the_tape_is_said_to_be_none() -> None:
    row = matrix.ROWS["axios 1"]
    assert matrix.kept(row, seen()) == "all"
    none = dict.fromkeys(matrix.cases(row), 0)
    past = seen(attempts=none, past=3, stderr="  went past the proxy: 203.0.113.5:443")
    assert matrix.kept(row, past) == "0 of 10; past the proxy"
    assert matrix.kept(row, seen(attempts=none, past=3)) == "0 of 10; past the proxy, not told"
    assert matrix.kept(row, seen(past=1)) == "10 of 10; past the proxy, not told", "never `all` with one past"
    assert matrix.cells(row, past)["503"] == "–", "it did not meet the fault"
    assert matrix.cells(row, seen())["503"] == "an answer"


def test_each_fault_is_on_the_question_that_names_it() -> None:
    text = matrix.profile(matrix.ROWS["axios 1"])
    assert '  - status: {code: 503}\n    id: met_503\n    on: {text: "(whole/503)"}\n' in text
    assert text.count("  - ") == len(matrix.FAULTS) == 8
    assert "stream/" not in matrix.profile(matrix.ROWS["dspy 3, OpenAI"]), "it is asked for no stream"
