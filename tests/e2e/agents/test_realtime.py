"""OpenAI's official SDKs over WebSockets, calm and under faults: Python (`websockets`), Node (`ws`)."""

from __future__ import annotations

import json
from pathlib import Path

import environments
import pytest
from harness import Run, execute

from faultwire import wire
from faultwire.events import Recorded

AGENT = Path(__file__).parent / "realtime_agent.py"
NODE = "node"
AGENTS = ("openai-3", "openai-2", NODE)
BOTH = ("realtime", "responses")
PROTOCOLS = {"realtime": "realtime", "beta": "realtime", "azure": "realtime", "responses": "responses_socket"}


def run(tmp_path: Path, agent: str, *options: str, ways: tuple[str, ...] = BOTH) -> Run:
    if agent == NODE:
        command = ["node", str(environments.node("node_sockets") / "agent.mjs"), *ways]
    else:
        command = [str(environments.python(f"{agent}-realtime")), str(AGENT), *ways]
    done = execute(tmp_path, command, "--mock", *options)
    assert done.code == 0, done.stderr
    assert set(done.met) == set(ways), done.stderr
    return done


def unchanged(exchange: Recorded) -> bool:
    """Every message was delivered as it was said."""
    return all(m.sent_ns is not None and m.delivered_ns is not None for m in exchange.messages)


def check_calm(done: Run, ways: tuple[str, ...]) -> None:
    for way, exchange in zip(ways, done.exchanges, strict=True):
        seen = done.met[way]
        assert "error" not in seen, seen
        assert (seen["errors"], seen["results"], seen["finish"]) == ([], ["42"], "completed")
        assert seen["text"] == "Here is what `calculator` says: 42"
        assert (exchange.kind, exchange.protocol) == ("llm", PROTOCOLS[way])
        assert exchange.provider == ("azure" if way == "azure" else "openai")
        assert unchanged(exchange), "no message was changed"
        told = wire.transcript_of(exchange)
        assert told is not None
        assert told.request is not None
        assert told.answer is not None
        assert [turn.role for turn in told.request.turns] == ["user", "assistant", "tool"]
        assert [(r.name, r.text) for r in told.request.results] == [("calculator", "42")]
        assert (told.answer.text, told.answer.finish_reason) == (seen["text"], "completed")
        assert told.answer.usage is not None
        received = [m for m in exchange.messages if m.by == "server" and m.kind == "text"]
        assert len(received) >= len(seen["types"])
        heard = [json.loads(m.data)["type"] for m in received]
        assert heard[: len(seen["types"])] == seen["types"], "in order, each by itself"


@pytest.mark.nightly
def test_calm_python(tmp_path: Path) -> None:
    ways = ("realtime", "responses", "azure")
    check_calm(run(tmp_path, "openai-3", ways=ways), ways)


@pytest.mark.nightly
def test_calm_node(tmp_path: Path) -> None:
    check_calm(run(tmp_path, NODE), BOTH)


@pytest.mark.nightly
def test_calm_beta(tmp_path: Path) -> None:
    ways = ("realtime", "beta", "responses")
    check_calm(run(tmp_path, "openai-2", ways=ways), ways)


@pytest.mark.nightly
def test_a_tool_s_result_is_replaced_in_the_agent_s_message(tmp_path: Path) -> None:
    done = run(tmp_path, "openai-3", "--fault", "tool_error: {message: on fire}")
    for way, exchange in zip(BOTH, done.exchanges, strict=True):
        assert done.met[way]["results"] == ["42"], "the tool itself ran in the agent's process"
        assert done.met[way]["text"] == "Here is what `calculator` says: Error: on fire"
        made = [m for m in exchange.messages if m.sent_ns is None]
        lost = [m for m in exchange.messages if m.delivered_ns is None]
        assert [m.by for m in (*made, *lost)] == ["client", "client"], "one message, and no other"
        assert made[0].data.replace(b"Error: on fire", b"42") == lost[0].data, "nothing else changed"
    assert [line.subject for line in done.fired] == ["calculator"] * 2


@pytest.mark.nightly
def test_a_session_that_breaks_off(tmp_path: Path) -> None:
    done = run(tmp_path, "openai-3", "--fault", "cut_stream: {after_events: 6}")
    for way in BOTH:
        seen = done.met[way]
        assert (seen["error"], seen["code"], len(seen["types"])) == ("ConnectionClosedError", None, 6)
    assert [line.fault for line in done.fired] == ["cut_stream"] * 2


@pytest.mark.nightly
def test_an_error_inside_a_session(tmp_path: Path) -> None:
    done = run(tmp_path, "openai-3", "--fault", "stream_error: {after_events: 6, message: try later}")
    for way in BOTH:
        seen = done.met[way]
        assert (seen["errors"], seen["types"][6:]) == (["try later"], ["error"])
    assert len(done.fired) == 2


@pytest.mark.nightly
def test_a_close_frame_of_ours(tmp_path: Path) -> None:
    done = run(tmp_path, "openai-3", "--fault", "websocket_close: {code: 1011, after_messages: 3}")
    for way in BOTH:
        assert (done.met[way]["error"], done.met[way]["code"]) == ("ConnectionClosedError", 1011)
    assert [line.fault for line in done.fired] == ["websocket_close"] * 2


@pytest.mark.nightly
def test_a_stall_changes_no_word(tmp_path: Path) -> None:
    done = run(tmp_path, "openai-3", "--fault", "stall: {after_events: 5, for_ms: 200}")
    for way, exchange in zip(BOTH, done.exchanges, strict=True):
        assert "error" not in done.met[way]
        assert done.met[way]["text"].endswith("42")
        assert unchanged(exchange)
        assert exchange.duration_ms >= 200
    assert len(done.fired) == 2


@pytest.mark.nightly
def test_a_refused_upgrade(tmp_path: Path) -> None:
    done = run(tmp_path, "openai-3", "--fault", "status: {code: 503}", ways=("realtime",))
    assert (done.met["realtime"]["error"], done.met["realtime"]["status"]) == ("InvalidStatus", "503")
    assert len(done.fired) == 1


def test_an_answer_cut_short(tmp_path: Path) -> None:
    done = run(tmp_path, "openai-3", "--fault", "truncate_response: {max_tokens: 2}")
    for way in BOTH:
        seen = done.met[way]
        assert seen["finish"] == "max_output_tokens"
        assert set(seen["usage"]) <= {1, 2}
    assert len(done.fired) == 2


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("cut_stream: {after_events: 6}", 1006),
        ("websocket_close: {code: 1011, after_messages: 3}", 1011),
        ("stream_error: {after_events: 6}", 1000),
    ],
)
def test_faults_under_node(fault: str, code: int, tmp_path: Path) -> None:
    done = run(tmp_path, NODE, "--fault", fault)
    for way in BOTH:
        assert (done.met[way]["finish"], done.met[way]["code"]) == (None, code)
        assert bool(done.met[way]["errors"]) == fault.startswith("stream_error")
    assert len(done.fired) == 2
