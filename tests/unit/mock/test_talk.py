from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.mock.conversations import OPENAI, SCHEMAS, chat, heard

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


def ending(*said: Any, names: tuple[str, ...] = ("web_search", "final_answer"), **more: Any) -> Any:
    """What is called by an agent that ends by a tool."""
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    offered = [
        {"type": "function", "function": {"name": name, "parameters": SCHEMAS.get(name, schema)}}
        for name in names
    ]
    settings = {"tool_choice": "required", **more}
    return talk.reply(OPENAI.read(json.dumps({**chat(*said), "tools": offered, **settings}).encode()))


def test_an_agent_that_ends_by_a_tool_is_ended_once_the_model_has_spoken() -> None:
    assert [call.name for call in ending("Who won?").calls] == ["web_search"]
    spoken = {"role": "assistant", "content": "Calling tools: web_search"}
    assert ending("Who won?", spoken, "Observation: Ann").calls == (
        Call("final_answer", {"answer": "Observation: Ann"}),
    )
    (call,) = ending("Who won?", *loop("Ann did.")).calls
    assert call == Call("final_answer", {"answer": "Here is what `tool0` says: Ann did."})


def test_the_tool_that_ends_is_no_answer_where_a_text_is_one_or_another_is_asked_for() -> None:
    assert ending("Who won?", *loop("Ann did."), tool_choice="auto").text.endswith("Ann did.")
    named = {"type": "function", "function": {"name": "web_search"}}
    spoken = {"role": "assistant", "content": "done"}
    assert [one.name for one in ending("q", spoken, "Who won?", tool_choice=named).calls] == ["web_search"]
    assert [one.name for one in ending("q", spoken, "Who won?", names=("web_search",)).calls] == [
        "web_search"
    ]
    assert [one.name for one in ending("What is the final answer?", tool_choice="auto").calls] == [
        "web_search"
    ]
    assert [one.name for one in ending("Who won?", names=("final_answer",)).calls] == ["final_answer"]


def test_without_tools_the_question_comes_back() -> None:
    assert talk.reply(heard("Say this")).text.endswith("Say this")
    assert "Ask me something" in talk.reply(heard({"role": "system", "content": "x"})).text


def test_wanted_json_fits_its_schema() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMAS["get_weather"]}}
    text = talk.reply(heard("weather in Oslo", response_format=wanted)).text
    assert json.loads(text) == {"city": "Oslo"}
    assert json.loads(talk.reply(heard("q", response_format={"type": "json_object"})).text) == {"answer": "q"}
