import ast
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from faultwire.agents.child import ask
from faultwire.agents.child.ask import Absent, Langchain, NoAnswer, Plain, find, perform, settled, shape, text


@dataclass
class Said:
    content: object


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ("Paris", "Paris"),
        ("", ""),
        ({"output": "Paris", "input": "x"}, "Paris"),
        ({"text": "Paris"}, "Paris"),
        ({"output": None, "answer": "Paris"}, "Paris"),
        ({"messages": [Said("no"), Said("Paris")]}, "Paris"),
        ({"messages": [{"role": "assistant", "content": "Paris"}]}, "Paris"),
        ({"output": Said([{"type": "text", "text": "Pa"}, {"type": "image"}, "ris"])}, "Paris"),
        ([{"type": "text", "text": "Paris"}], "Paris"),
        ({"city": "Paris", "sure": True}, '{"city": "Paris", "sure": true}'),
        ([1, "é"], '[1, "é"]'),
        (42, "42"),
    ],
)
def test_the_answer_in_what_it_returned(value, answer):
    assert text(value) == answer


@pytest.mark.parametrize(
    "value", [None, object(), Said(None), {"a": object()}, {"output": object()}, iter("x")]
)
def test_what_is_no_answer_is_never_made_one(value):
    with pytest.raises(NoAnswer, match="it returned"):
        text(value)


class Bot:
    def __init__(self):
        self.heard = []

    def invoke(self, prompt):
        self.heard.append(prompt)
        return " ".join(self.heard)


async def later(prompt):
    return prompt.upper()


@pytest.fixture
def module():
    made = ModuleType("an_agent_of_the_user")
    made.Bot, made.later, made.bot, made.word = Bot, later, Bot(), "text"
    made.calls = []
    made.reset = lambda: made.calls.append("reset")
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


def orders(name, *turns, **more):
    usual = {"langchain": False, "key": "input", "session": "s"}
    return usual | {"endpoint": f"an_agent_of_the_user:{name}", "turns": turns} | more


def test_whom_it_asks(module):
    assert perform(orders("Bot", "a")) == ("answer", "a")
    assert perform(orders("Bot", "a", "b")) == ("answer", "a b")  # one conversation, one object
    assert perform(orders("later", "a")) == ("answer", "A")
    assert perform(orders("bot.invoke", "a")) == ("answer", "a")
    assert perform({"function": "an_agent_of_the_user:reset"}) == ("answer", "")
    assert module.calls == ["reset"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"endpoint": "no_such_module_here:x"}, "found no module `no_such_module_here`"),
        ({"endpoint": "an_agent_of_the_user.sub:x"}, "found no module `an_agent_of_the_user.sub`"),
        ({"endpoint": "an_agent_of_the_user:nobody"}, "found no `nobody` in `an_agent_of_the_user`"),
        ({"endpoint": "an_agent_of_the_user:word"}, "found a `str`, expected a callable"),
        ({"endpoint": "an_agent_of_the_user:word", "langchain": True}, "expected a runnable with `invoke`"),
        ({"function": "an_agent_of_the_user:word"}, "found a `str`, expected a function"),
    ],
)
def test_whom_it_cannot_ask(module, asked, why):
    with pytest.raises(Absent, match=why):
        perform(orders("Bot", "a") | asked)


def test_a_module_that_lacks_something_itself_is_the_agents_own_failure(tmp_path, monkeypatch):
    (tmp_path / "lacks.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency"):
        find("lacks:agent")


class Runnable:
    """Stands for LangChain's: `invoke(input, config)`, and a schema of its input."""

    def __init__(self, schema=None, checkpointer=None, returns=None):
        self.schema, self.checkpointer, self.returns = schema, checkpointer, returns
        self.asked = []

    def get_input_jsonschema(self):
        if self.schema is None:
            raise TypeError("no schema")
        return self.schema

    def invoke(self, asked, config=None):
        self.asked.append((json.loads(json.dumps(asked)), config["configurable"]["thread_id"]))
        return self.returns(asked) if self.returns else {"output": json.dumps(asked)}


def props(*names):
    return {"type": "object", "properties": {name: {} for name in names}}


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        (props("input", "history"), ".input"),
        (props("question"), ".question"),
        (props("messages", "remaining_steps"), "messages"),
        ({"type": "string"}, "text"),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, "text"),
        ({"type": "object"}, ".input"),
        ({}, ".input"),
        (None, ".input"),
    ],
)
def test_what_a_runnable_takes(schema, wanted):
    assert shape(Runnable(schema), "input") == wanted
    assert shape(later, "query") == ".query"


def test_a_runnable_is_asked_in_its_own_shape_and_session():
    for schema, asked in ((props("question"), {"question": "hi"}), ({"type": "string"}, "hi")):
        runnable = Runnable(schema)
        Langchain(runnable, "input", "calm-p1").ask("hi")
        assert runnable.asked == [(asked, "calm-p1")]


def test_a_conversation_is_sent_whole_unless_the_graph_keeps_it():
    def graph(asked):
        return {
            "messages": [*asked["messages"], {"role": "assistant", "content": f"n{len(asked['messages'])}"}]
        }

    forgetful = Runnable(props("messages"), returns=graph)
    asking = Langchain(forgetful, "input", "s")
    assert [text(asking.ask(turn)) for turn in ("a", "b")] == ["n1", "n3"]
    assert [m["content"] for m in forgetful.asked[1][0]["messages"]] == ["a", "n1", "b"]
    keeping = Runnable(props("messages"), checkpointer=object(), returns=graph)
    asking = Langchain(keeping, "input", "s")
    assert [text(asking.ask(turn)) for turn in ("a", "b")] == ["n1", "n1"]


def test_awaitables_are_awaited_and_other_values_are_themselves():
    assert settled(later("x")) == "X"
    assert math.isnan(settled(math.nan))
    assert Plain(later).ask("x") == "X"


def test_old_interpreters_understand_it():
    source = Path(ask.__file__).read_text()
    assert ast.parse(source, feature_version=(3, 8)).body
    imported = {node.names[0].name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import)}
    assert imported <= sys.stdlib_module_names
