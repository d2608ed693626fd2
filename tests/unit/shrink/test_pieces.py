from __future__ import annotations

import json

import pytest

from faultwire.shrink.pieces import MOST, pieces


@pytest.mark.parametrize(
    ("text", "count", "kept", "left"),
    [
        ("one\ntwo\nthree\n", 3, {0, 2}, "one\nthree"),
        ("Go there. Come back! Why?", 3, {1}, "Come back!"),
        ("rivers of Europe", 3, {0, 2}, "rivers Europe"),
        ("river", 1, {0}, "river"),
        ('{"a": {"b": 1, "c": [2, 3]}, "d": ""}', 4, {2}, '{"a": {"c": [3]}}'),
        ("[1, 2, 3]", 3, {0, 2}, "[1, 3]"),
        ("{}", 1, {0}, "{}"),
    ],
)
def test_along_the_structure(text: str, count: int, kept: set[int], left: str) -> None:
    found = pieces(text)
    assert len(found) == count
    assert found.text(kept) == left
    assert found.text(set()) in ("", "{}", "[]")


@pytest.mark.parametrize("text", ["one\ntwo\n", "Go there. Come back!", "a b c"])
def test_all_pieces_are_the_text(text: str) -> None:
    found = pieces(text)
    assert found.text(set(range(len(found)))) == text.strip()


def test_json_stays_json_whatever_is_left_out() -> None:
    found = pieces(json.dumps({"tool": "x", "rows": [{"id": 1, "tags": []}, {"id": 2}]}))
    for one in range(2 ** len(found)):
        json.loads(found.text({at for at in range(len(found)) if one >> at & 1}))


def test_a_long_text_has_few_pieces() -> None:
    found = pieces(" ".join(f"w{at}" for at in range(1000)))
    assert len(found) <= MOST
    assert "w999" in found.text({len(found) - 1})
