"""The generated page names SDKs and faults of the matrix, and no other; some cells of it are run again."""

from __future__ import annotations

import outcomes
import pytest


def test_the_page_has_no_stale_row_or_column() -> None:
    text = outcomes.DOC.read_text()
    cells = outcomes.read(text)
    assert cells
    assert list(cells) == [name for name in outcomes.ROWS if name in cells], "rows that exist, in their order"
    for name, row in cells.items():
        assert set(row) == set(outcomes.FAULTS), name
        assert all(stream for _, stream in row.values()), name
        assert all(whole for column, (whole, _) in row.items() if column not in outcomes.STREAMED), name
    assert outcomes.document(cells) + outcomes.rest(text) == text, "it is as the command writes it"


def test_a_page_that_is_read_and_written_again_is_the_same() -> None:
    cells = {name: dict.fromkeys(outcomes.FAULTS, ("`A`", "`B`, 2 attempts")) for name in outcomes.ROWS}
    for row in cells.values():
        for column in outcomes.STREAMED:
            row[column] = ("", row[column][1])
    assert outcomes.read(outcomes.document(cells)) == cells


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", ["openai 3 (Python)", "google-generativeai 0.8, gRPC", "ai 6 (Node), Responses"]
)
def test_the_statements_of_the_page_still_hold(name: str) -> None:
    said = outcomes.read(outcomes.DOC.read_text())[name]
    for column in ("429", "cut stream", "error in stream"):
        whole, stream = outcomes.run(outcomes.ROWS[name], column)
        assert stream == said[column][1]
        assert column in outcomes.STREAMED or whole == said[column][0]
