from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.mock.conversations import SCHEMAS, heard

from faultwire.mock import talk
from faultwire.mock._api import Call

ALL = tuple(SCHEMAS)


@pytest.mark.parametrize(
    ("question", "tools", "calls"),
    [
        ("What is 2+2?", ALL, (Call("calculator", {"expression": "2+2"}),)),
        ("Weather in Paris?", ALL, (Call("get_weather", {"city": "Paris"}),)),
        ("Who won?", ALL, (Call("get_weather", {"city": "Who won?"}),)),
        ("Who won?", ("calculator", "web_search"), (Call("web_search", {"query": "Who won?"}),)),
        (
            "Weather in Rome, and 3*4?",
            ALL,
            (Call("calculator", {"expression": "3*4"}), Call("get_weather", {"city": "Rome"})),
        ),
        ("Hello there", ALL, ()),
        ("Who won?", ("calculator",), ()),
        ("What is 2+2?", (), ()),
    ],
)
def test_which_tools_are_called(question: str, tools: tuple[str, ...], calls: tuple[Call, ...]) -> None:
    assert talk.reply(heard(question, tools=tools)).calls == calls


def test_tool_choice_is_obeyed() -> None:
    named = {"type": "function", "function": {"name": "web_search"}}
    assert [c.name for c in talk.reply(heard("2+2", tools=ALL, tool_choice=named)).calls] == ["web_search"]
    assert talk.reply(heard("2+2", tools=ALL, tool_choice="none")).calls == ()
    assert len(talk.reply(heard("Hello", tools=("calculator",), tool_choice="required")).calls) == 1
    both = "Weather in Rome, and 3*4?"
    assert len(talk.reply(heard(both, tools=ALL, parallel_tool_calls=False)).calls) == 1


def loop(*results: str) -> list[Any]:
    calls = [
        {"id": f"c{i}", "type": "function", "function": {"name": f"tool{i}", "arguments": "{}"}}
        for i in range(len(results))
    ]
    answers = [{"role": "tool", "tool_call_id": f"c{i}", "content": r} for i, r in enumerate(results)]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *answers]


def test_results_are_quoted_word_for_word() -> None:
    assert (
        talk.reply(heard("q", *loop("It is 22°C."), tools=ALL)).text
        == "Here is what `tool0` says: It is 22°C."
    )
    several = talk.reply(heard("q", *loop("one", "two"), tools=ALL)).text
    assert "`tool0`: one" in several
    assert "`tool1`: two" in several


def test_a_new_question_is_asked_anew() -> None:
    said = ["q", *loop("old"), {"role": "assistant", "content": "done"}, "What is 1+1?"]
    assert talk.reply(heard(*said, tools=ALL)).calls == (Call("calculator", {"expression": "1+1"}),)


def test_without_tools_the_question_comes_back() -> None:
    assert talk.reply(heard("Say this")).text.endswith("Say this")
    assert "Ask me something" in talk.reply(heard({"role": "system", "content": "x"})).text


def test_wanted_json_fits_its_schema() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMAS["get_weather"]}}
    text = talk.reply(heard("weather in Oslo", response_format=wanted)).text
    assert json.loads(text) == {"city": "Oslo"}
    assert json.loads(talk.reply(heard("q", response_format={"type": "json_object"})).text) == {"answer": "q"}
