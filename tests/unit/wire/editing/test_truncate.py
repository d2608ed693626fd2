"""An answer cut within a budget: faultwire.wire.editing.truncate."""

from __future__ import annotations

import json

import pytest

from faultwire.wire.editing.token_budget import Budget
from faultwire.wire.editing.truncate import Part, cut_parts, put_count

BODY = json.dumps({"parts": [{"text": "one two three"}, {"text": "four"}]}).encode()
PARTS = tuple(
    Part(("parts", at), text, ("parts", at, "text")) for at, text in enumerate(("one two three", "four"))
)


@pytest.mark.parametrize(
    ("tokens", "left"),
    [(9, ["one two three", "four"]), (3, ["one two three"]), (2, ["one two"])],
)
def test_parts_are_cut_in_order(tokens: int, left: list[str]) -> None:
    budget = Budget(tokens)
    cut = json.loads(cut_parts(BODY, PARTS, budget))
    assert [part["text"] for part in cut["parts"]] == left
    assert budget.spent == (tokens < 9)


def test_a_count_comes_down_and_the_total_with_it() -> None:
    body = b'{"out": 10, "total": 13}'
    assert json.loads(put_count(body, ("out",), 10, 4, (("total",), 13))) == {"out": 4, "total": 7}
    assert put_count(body, ("out",), 10, 10) == body
