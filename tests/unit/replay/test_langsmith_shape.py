from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from faultwire.errors import ScenarioError
from faultwire.replay.langsmith_shape import Message, asked, failed_inside, plain, session_of

BEGAN = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)


def run(
    inputs: Any = "hi",
    *,
    name: str = "agent",
    kind: str = "chain",
    outputs: Any = None,
    error: str | None = None,
    children: tuple[Any, ...] = (),
    at: int = 0,
    seconds: float | None = 1.0,
) -> Any:
    began = BEGAN + timedelta(seconds=at)
    return SimpleNamespace(
        id=f"run-{name}-{at}",
        name=name,
        run_type=kind,
        inputs=inputs,
        outputs=outputs,
        error=error,
        start_time=began,
        end_time=None if seconds is None else began + timedelta(seconds=seconds),
        child_runs=list(children),
    )


def lc(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """A message as LangChain writes its objects out."""
    names = ["langchain", "schema", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": names, "kwargs": {"content": content, **more}}


HI = [Message("user", "hi")]
TALK = [
    Message("system", "be kind"),
    Message("user", "one"),
    Message("assistant", "1"),
    Message("user", "two"),
]


@pytest.mark.parametrize(
    ("inputs", "found"),
    [
        ({"input": "hi"}, HI),
        ({"question": "hi", "k": 4}, HI),
        ({"query": "hi"}, HI),
        ({"user_input": "hi", "session": 7}, HI),
        ({"whatever_it_is_called": "hi"}, HI),
        ({"input": {"question": {"text": "hi"}}, "config": {}}, HI),
        ({"inputs": {"messages": [{"role": "user", "content": "hi"}]}}, HI),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url"}]}
                ]
            },
            HI,
        ),
        ({"messages": [{"type": "human", "content": "hi"}]}, HI),
        ({"messages": [{"type": "human", "data": {"content": "hi"}}]}, HI),
        ({"messages": [["human", "hi"]]}, HI),
        ({"messages": ["user", "hi"]}, HI),
        ({"messages": [lc("HumanMessage", "hi")]}, HI),
        (
            {"messages": [[lc("HumanMessage", ["hi", {"type": "text", "text": "you"}])]]},
            [Message("user", "hi\nyou")],
        ),
        ({"messages": {"role": "user", "content": "hi"}}, HI),
        ("hi", HI),
        (
            {
                "messages": [
                    {"role": "system", "content": "be kind"},
                    {"role": "user", "content": "one"},
                    lc("AIMessage", "1"),
                    lc("AIMessage", "", tool_calls=[]),
                    ["user", "two"],
                ]
            },
            TALK,
        ),
        (
            {"chat_history": [["system", "be kind"], ["human", "one"], ["ai", "1"]], "input": "two"},
            TALK,
        ),
        ({"input": "", "question": "hi"}, HI),
        ({}, []),
        (None, []),
        (7, []),
        ({"a": 1, "b": "text"}, []),
        ({"input": {"a": 1, "b": {"c": "x"}}, "n": 1}, []),
        ({"messages": [{"role": "assistant", "content": "1"}], "n": 1}, []),
    ],
)
def test_every_shape_of_inputs(inputs: Any, found: list[Message]) -> None:
    assert asked(inputs) == found


def test_what_was_asked_is_the_users_last_word() -> None:
    made, _ = session_of(
        run({"messages": [["human", "one"], ["ai", "1"], ["human", "two"], ["ai", "2"]]}), "c"
    )
    assert made["input"] == "two"
    assert made["context"] == [{"role": "user", "content": "one"}, {"role": "assistant", "content": "1"}]


@pytest.mark.parametrize(
    ("inputs", "held"),
    [
        ({"a": 1, "b\x1b[2J": "x"}, "the members `a`, `b\\x1b[2J`"),
        ({}, "nothing"),
        ([1], "a value of type `list`"),
        (
            {f"k{n}": n for n in range(10)},
            "the members `k0`, `k1`, `k2`, `k3`, `k4`, `k5`, `k6`, `k7` and 2 more",
        ),
    ],
)
def test_inputs_that_nobody_understands_are_named(inputs: Any, held: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        session_of(run(inputs), "c")
    assert (
        caught.value.message == f"found {held} as the inputs of run `run-agent-0`, expected the agent's input"
    )


def test_deep_inputs_end() -> None:
    inputs: Any = "hi"
    for _ in range(1000):
        inputs = {"input": inputs}
    assert asked(inputs) == []
    lists: Any = ["hi"]
    for _ in range(1000):
        lists = [lists]
    assert asked(lists) == []


def test_tools_in_the_order_in_which_they_began() -> None:
    trace = "Traceback (most recent call last):\n x"
    model = run(name="ChatOpenAI", kind="llm")
    first = run(
        name="price",
        kind="tool",
        error=f"HTTPError('504 Server Error: Gateway Timeout'){trace}",
        at=2,
        seconds=30,
    )
    inner = run(name="fetch", kind="tool", at=3)
    second = run(name="stock", kind="tool", outputs={"output": {"left": 4}}, at=5, children=(inner,))
    chain = run(
        name="tools", children=(second, run(name="docs", kind="retriever", outputs={"documents": []}))
    )
    made, notes = session_of(
        run({"input": "hi"}, children=(chain, first, model), error=f"KeyError('p'){trace}"), "c"
    )
    assert made["tool_responses"] == [
        {
            "tool": "price",
            "response": "HTTPError('504 Server Error: Gateway Timeout')",
            "status": 504,
            "latency_ms": 30_000,
        },
        {"tool": "stock", "response": {"left": 4}, "status": 200, "latency_ms": 1000},
    ]
    assert made["expected_failure"] == "KeyError('p')"
    assert notes == ("runs of type `retriever` are not tools: their results are not replayed",)
    assert made | {"tool_responses": []} == {
        "id": "run-agent-0",
        "name": "agent",
        "source": "langsmith",
        "captured_at": "2026-11-20T10:00:00Z",
        "input": "hi",
        "context": [],
        "tool_responses": [],
        "expected_failure": "KeyError('p')",
        "contract": "c",
    }


@pytest.mark.parametrize(
    ("outputs", "response", "status"),
    [
        ({"output": "3"}, "3", 200),
        ({"price": 3}, {"price": 3}, 200),
        (None, None, 200),
        ({"output": lc("ToolMessage", "3", status="success")}, "3", 200),
        ({"output": {"type": "tool", "content": "no such", "status": "error"}}, "no such", 0),
        ({"output": lc("ToolMessage", [{"type": "text", "text": "3"}])}, "3", 200),
    ],
)
def test_every_shape_of_outputs(outputs: Any, response: Any, status: int) -> None:
    tool = run(name="t", kind="tool", outputs=outputs, seconds=None)
    made, _ = session_of(run(children=(tool,)), "c")
    assert made["tool_responses"] == [{"tool": "t", "response": response, "status": status}]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ("504 Server Error: Gateway Timeout for url", 504),
        ("openai.NotFoundError: Error code: 404 - {}", 404),
        ("request failed with status code 429", 429),
        ("HTTP 503", 503),
        ("took 504 ms", 0),
        ("status 200", 0),
    ],
)
def test_the_status_that_an_error_shows(error: str, status: int) -> None:
    made, _ = session_of(run(children=(run(name="t", kind="tool", error=error),)), "c")
    assert made["tool_responses"][0]["status"] == status


def test_a_warning_is_a_success_in_which_something_failed() -> None:
    failed = run(name="t", kind="tool", error="x")
    assert failed_inside(run(children=(run(children=(failed,)),)))
    assert not failed_inside(run(children=(run(),)))
    assert not failed_inside(run(children=(failed,), error="y"))
    made, _ = session_of(run(children=(failed,)), "c")
    assert made["expected_failure"] == "tool `t` failed"


def test_values_that_json_does_not_know_become_text() -> None:
    assert plain({"at": BEGAN, "n": 1}) == {"at": "2026-11-20 10:00:00+00:00", "n": 1}
