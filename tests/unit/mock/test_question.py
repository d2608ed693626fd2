from __future__ import annotations

import pytest

from faultwire.mock.question import Question, words


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("What is 2+2?", "2+2"),
        ("Compute (12 + 3) * 4, please", "(12 + 3) * 4"),
        ("how much is 12 times 7", "12 * 7"),
        ("144 divided by 12", "144 / 12"),
        ("What is 3 x 4?", "3*4"),
        ("1,200 + 5", "1200 + 5"),
        ("2^10", "2^10"),
        ("what (is 1+1)", "1+1"),
        ("On 2026-11-21 it rained", None),
        ("Room 12", None),
        ("hello", None),
    ],
)
def test_expression(text: str, expression: str | None) -> None:
    assert Question(text).expression == expression


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("weather in Paris?", "Paris"),
        ("Is it cold in New York today", "New York"),
        ("in the morning", None),
    ],
)
def test_place(text: str, place: str | None) -> None:
    assert Question(text).place == place


def test_number_and_pick() -> None:
    assert Question("give me 3 of them").number() == 3
    assert Question("about 2.5 kg").number() == 2.5
    assert Question("none").number() is None
    assert Question("in fahrenheit").pick(["celsius", "fahrenheit"]) == "fahrenheit"
    assert Question("in kelvin").pick(["celsius", "fahrenheit"]) == "celsius"


def test_text_for() -> None:
    question = Question('weather in Paris and 2+2 for "The Group"')
    assert question.text_for("city", "") == "Paris"
    assert question.text_for("expression", "") == "2+2"
    assert question.text_for("x", "the formula to compute") == "2+2"
    assert question.text_for("query", "") == question.text
    assert question.quoted == "The Group"
    assert Question("").text_for("query", "") == "query"


def test_words_of_names() -> None:
    assert words("get_weatherReport") == {"get", "weather", "report"}


def test_a_long_question_is_read_in_part() -> None:
    assert Question("(" * 3_000_000).expression is None
    assert Question("1 " * 1_000_000).expression is None
