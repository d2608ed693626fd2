from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.mock.conversations import heard

from faultwire.errors import ScenarioError
from faultwire.mock._api import Call, Failure
from faultwire.mock.script import load, parse

SCRIPT = """
name: demo
turns:
  - match: {last_user: "*weather*", turn: 0}
    reply: {tool_calls: [{name: get_weather, arguments: {city: Paris}}]}
  - match: {last_tool: get_weather, last_result: "*sun*"}
    reply: {text: "{last_result}! You asked: {last_user}"}
  - match: {system: "be mean*"}
    reply: {error: {status: 503, message: down}}
  - match: {model: [gpt-9*, "m"], last_user: "*bye*"}
    reply: {text: Bye.}
"""
SUN = [
    {
        "role": "assistant",
        "tool_calls": [{"id": "c", "function": {"name": "get_weather", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "full sun"},
]


def test_turns_reply_where_they_fit() -> None:
    script = parse(SCRIPT, "s.yaml")
    assert script.reply(heard("the weather?")).calls == (Call("get_weather", {"city": "Paris"}),)
    assert script.reply(heard("the weather?", *SUN)).text == "full sun! You asked: the weather?"
    assert script.reply(heard({"role": "system", "content": "be mean."}, "x")).failure == Failure(503, "down")
    assert script.reply(heard("good bye")).text == "Bye."


def test_without_a_fitting_turn_small_talk_or_an_error() -> None:
    assert "repeat" in parse(SCRIPT, "s.yaml").reply(heard("else")).text
    strict = parse(f"fallback: error\n{SCRIPT}", "s.yaml").reply(heard("else"))
    assert strict.failure
    assert strict.failure.status == 400


def test_an_old_result_is_not_the_last_one() -> None:
    script = parse("turns: [{match: {last_tool: '*'}, reply: {text: tool}}]", "s.yaml")
    later = heard("q", *SUN, {"role": "assistant", "content": "done"}, "and now?")
    assert script.reply(later).text != "tool"


@pytest.mark.parametrize(
    ("text", "line", "code", "message"),
    [
        ("x: 1\nturns: []", 1, "unknown_key", "found key `x`"),
        ("name: a", 1, "bad_value", "found no `turns`"),
        ("turns:\n- reply: {}", 2, "bad_value", "found an empty `reply`"),
        ("turns:\n- match: {}", 2, "bad_value", "found no `reply` in a turn"),
        ("turns:\n- match: {last_usr: x}\n  reply: {text: a}", 2, "unknown_key", "found key `last_usr`"),
        ("turns:\n- reply: {text: a}\n  replies: 1", 3, "unknown_key", "found key `replies`"),
        ("turns:\n- reply: {text: 5}", 2, "bad_value", "found `5` for `reply.text`"),
        (
            "turns:\n- reply:\n    tool_calls:\n    - {nam: x}",
            4,
            "bad_value",
            "found no `name` in `tool_calls`",
        ),
        ("turns:\n- reply: {error: {status: 200}}", 2, "bad_value", "found `200` for `error.status`"),
        ("turns:\n- reply: {text: a, error: {status: 500}}", 2, "bad_value", "expected it alone"),
        ("turns: 5", 1, "bad_value", "found `5` for `turns`, expected a list"),
        ("turns: [{reply: {text: a, text: b}}]", 1, "yaml", "found key `text` again"),
        ("turns: &a [*a]", 1, "yaml", "found an anchor"),
        ("turns: !!python/none []", 1, "yaml", "found tag"),
        ("fallback: maybe\nturns: []", 1, "bad_value", "found `maybe` for `script.fallback`"),
    ],
)
def test_mistakes_are_reported_with_their_place(text: str, line: int, code: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        parse(text, "talk.yaml")
    errors = [caught.value, *caught.value.also]
    assert any(
        (e.where and (e.where.file, e.where.line), e.code) == (("talk.yaml", line), f"scenario.{code}")
        and message in e.message
        for e in errors
    ), [str(e) for e in errors]


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(ScenarioError) as caught:
        parse("x: 1\nturns:\n- reply: {text: 5}\n- match: {turn: -1}\n  reply: {text: a}", "s.yaml")
    assert len(caught.value.also) == 2


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCRIPT)
    assert load(path).name == "demo"
    with pytest.raises(ScenarioError) as caught:
        load(tmp_path / "none.yaml")
    assert caught.value.code == "scenario.not_found"
    path.write_text("#" * 1_000_001)
    with pytest.raises(ScenarioError, match="found more than 1000000 bytes"):
        load(path)
