"""Parts of fabricated answers: faultwire.wire.editing.answers."""

from __future__ import annotations

import pytest

from faultwire.events import header
from faultwire.wire.editing import answers


@pytest.mark.parametrize(("status", "phrase"), [(404, "Not Found"), (529, "Overloaded"), (599, "")])
def test_reason_phrases(status: int, phrase: str) -> None:
    assert answers.reason(status) == phrase


def test_an_id_is_the_same_for_the_same_parts_only() -> None:
    made = answers.made_id("req_", "openai", 429, length=32)
    assert made == answers.made_id("req_", "openai", 429, length=32)
    assert (made[:4], len(made)) == ("req_", 36)
    assert made != answers.made_id("req_", "openai", 428, length=32)
    assert answers.made_id("", "ab", "c") != answers.made_id("", "a", "bc")


def test_another_body_has_its_own_length() -> None:
    first = answers.answer(200, b"{}", "application/json", ("x-id", "1"))
    other = answers.with_body(first, b'{"a": 1}', {"x-id": "2"})
    assert [header(one.headers, "content-length") for one in (first, other)] == ["2", "8"]
    assert (header(other.headers, "x-id"), other.body) == ("2", b'{"a": 1}')


def test_a_page_shows_a_message_and_never_runs_it() -> None:
    page = answers.edge_page(502, "<script>x</script>").body or b""
    assert b"&lt;script&gt;" in page
    assert b"<script>" not in page


@pytest.mark.parametrize(("seconds", "told"), [(0.1, "1"), (2.0, "2"), (-3.0, "0")])
def test_retry_after_is_rounded_up(seconds: float, told: str) -> None:
    assert answers.whole_seconds(seconds) == told
