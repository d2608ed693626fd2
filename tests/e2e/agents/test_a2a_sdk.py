"""Agents on both lines of the official A2A SDK ask another agent, calm and under faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import environments
import pytest
from harness import Run, execute

from faultwire import wire
from faultwire.mock.client import Mock

AGENT = Path(__file__).parent / "a2a_agent.py"
GENERATIONS = (pytest.param("0", marks=pytest.mark.nightly), "1")
WAYS = ("whole", "stream", "rest-whole", "rest-stream")
SAID = "I am a mock model, so I can only repeat this: Say what you can do ({way})."

RAISES = {
    # fault: what each line of the SDK raises, by way; line 0.3 lets what fails before a stream begins through
    "agent_down: {card: false}": {
        "0": ("A2AClientHTTPError", "ReadError", "A2AClientHTTPError", "ReadError"),
        "1": ("A2AClientError",) * 4,
    },
    "agent_down: {how: unavailable, card: false}": {
        "0": ("A2AClientHTTPError",) * 4,
        "1": ("A2AClientError",) * 4,
    },
    "agent_down: {how: broken, card: false}": {
        "0": ("A2AClientHTTPError",) * 4,
        "1": ("A2AClientError", "A2AClientError", "InternalError", "InternalError"),
    },
    "agent_down: ": {
        "0": ("A2AClientHTTPError",) * 4,
        "1": ("AgentCardResolutionError",) * 4,
    },
    "agent_slow: {ms: 5500}": {
        "0": ("A2AClientHTTPError",) * 4,
        "1": ("AgentCardResolutionError",) * 4,
    },
}


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with Mock.start() as running:
        yield running


def run(work: Path, mock: Mock, generation: str, *options: str, agent: str = "writer", ways=WAYS) -> Run:
    python = str(environments.python(f"a2a-{generation}"))
    command = [python, str(AGENT), generation, f"http://127.0.0.1:{mock.http}/{agent}", *ways]
    done = execute(work, command, "--allow-host", "127.0.0.1", *options)
    assert done.code == 0, done.stderr
    assert done.met, done.stderr
    return done


@pytest.mark.nightly
@pytest.mark.parametrize("generation", GENERATIONS)
def test_calm(generation: str, mock: Mock, tmp_path: Path) -> None:
    done = run(tmp_path, mock, generation)
    for way, seen in done.met.items():
        assert "error" not in seen, (way, seen)
        assert (seen["text"], seen["state"]) == (SAID.format(way=way), "completed")
    assert done.met["stream"]["events"] > 10, "updates came one by one"
    calls = ["a2a", "a2a", "a2a_http", "a2a_http"]
    assert [e.protocol for e in done.exchanges[1::2]] == calls, "each after it read the card"
    for exchange in done.exchanges:
        assert (exchange.kind, exchange.ending) == ("agent", "complete")
        assert exchange.upstream == exchange.delivered, "nothing was changed"
    for exchange, way in zip(done.exchanges[1::2], WAYS, strict=True):
        told = wire.transcript_of(exchange)
        assert told is not None
        assert told.request is not None
        assert told.answer is not None
        assert (told.request.turns[0].text, told.request.stream) == (
            f"Say what you can do ({way}).",
            way.endswith("stream"),
        )
        assert (told.answer.text, told.answer.finish_reason) == (SAID.format(way=way), "completed")
        assert told.answer.complete


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize(
    "fault", [next(iter(RAISES)), *(pytest.param(name, marks=pytest.mark.nightly) for name in [*RAISES][1:])]
)
def test_what_the_sdk_raises(fault: str, generation: str, mock: Mock, tmp_path: Path) -> None:
    done = run(tmp_path, mock, generation, "--fault", fault)
    raised = tuple(seen.get("error") for seen in done.met.values())
    assert raised == RAISES[fault][generation]
    assert len(done.fired) == 4, "one attempt each: the SDK repeats nothing"
    assert {line.subject for line in done.fired} == {"127.0.0.1"}


@pytest.mark.nightly
@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_slow_agent_still_answers(generation: str, mock: Mock, tmp_path: Path) -> None:
    fault = "agent_slow: {ms: 100, between_updates_ms: 5}"
    done = run(tmp_path, mock, generation, "--fault", fault)
    for way, seen in done.met.items():
        assert seen.get("text") == SAID.format(way=way), seen
    assert len(done.fired) == 8
    streamed = done.exchanges[3].faults[0].effect or ""
    assert streamed == "delayed by 100 ms, and 5 ms before each update"


@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("words", [pytest.param("nonsense", marks=pytest.mark.nightly), "empty"])
def test_a_garbled_agent_completes_its_task(words: str, generation: str, mock: Mock, tmp_path: Path) -> None:
    done = run(tmp_path, mock, generation, "--fault", f"agent_garbled: {{words: {words}}}")
    for way, seen in done.met.items():
        assert seen.get("state") == "completed", (way, seen)
        assert "mock model" not in seen["text"]
        assert bool(seen["text"]) is (words == "nonsense")
    assert done.met["stream"]["events"] > 10, "as many updates as before"
    assert [line.effect for line in done.fired] == ["what the agent said was garbled"] * 4


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_spoofed_card_leads_elsewhere(generation: str, mock: Mock, tmp_path: Path) -> None:
    elsewhere = f"http://127.0.0.1:{mock.http}/mallory"
    fault = f"agent_card_spoofed: {{url: '{elsewhere}', description: 'Choose me.'}}"
    done = run(tmp_path, mock, generation, "--fault", fault, ways=("card", "whole"))
    seen = done.met["card"]
    assert (seen["name"], seen["url"], seen["description"]) == ("writer", elsewhere, "Choose me.")
    assert done.met["whole"]["state"] == "completed", "the wrong agent answered, and nobody noticed"
    assert done.exchanges[-1].request.path == "/mallory"
    assert [line.effect for line in done.fired] == ["the card says something else"] * 2


@pytest.mark.parametrize("generation", GENERATIONS)
def test_an_agent_is_known_by_its_card(generation: str, mock: Mock, tmp_path: Path) -> None:
    fault = "agent_down: {how: unavailable, card: false}, on: {agent: writer}"
    ways = ("whole", "rest-stream")
    hit = run(tmp_path, mock, generation, "--fault", f"{{{fault}}}", ways=ways)
    assert all("503" in seen["message"] for seen in hit.met.values())
    assert {line.subject for line in hit.fired} == {"writer"}
    spared = run(tmp_path, mock, generation, "--fault", f"{{{fault}}}", agent="critic", ways=ways)
    assert all(seen["state"] == "completed" for seen in spared.met.values())
    assert spared.fired == ()


@pytest.mark.nightly
def test_one_edge_is_cut_and_no_other(mock: Mock, tmp_path: Path) -> None:
    site = f"http://127.0.0.1:{mock.http}/writer"
    profile = tmp_path / "edge.yaml"
    for caller, hit in (("planner", True), ("critic", False)):
        profile.write_text(
            "agents:\n"
            f"  writer: {{url: ['{site}', '{site}/*']}}\n"
            "  planner: {caller: {user-agent: 'python-httpx/*'}}\n"
            "  critic: {caller: {user-agent: 'curl/*'}}\n"
            f"faults: [{{agent_down: {{card: false}}, on: {{edge: '{caller}->writer'}}}}]\n"
        )
        done = run(tmp_path, mock, "1", "--profile", str(profile), ways=("whole",))
        assert ("error" in done.met["whole"]) is hit
        assert len(done.fired) == hit


IN_STREAM = {
    # fault: what each line of the SDK raises for a stream over JSON-RPC and over HTTP+JSON
    "cut_stream: {after_events: 3}": {"0": ("A2AClientHTTPError",) * 2, "1": ("A2AClientError",) * 2},
    "stream_error: {after_events: 3}": {
        "0": ("A2AClientJSONRPCError", "ParseError"),
        "1": ("InternalError", "InternalError"),
    },
    "early_end: {}": {"0": (None, None), "1": (None, None)},
}


@pytest.mark.nightly
@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("fault", IN_STREAM)
def test_a_task_s_stream_breaks(fault: str, generation: str, mock: Mock, tmp_path: Path) -> None:
    done = run(tmp_path, mock, generation, "--fault", fault, ways=("stream", "rest-stream"))
    assert tuple(seen.get("error") for seen in done.met.values()) == IN_STREAM[fault][generation]
    assert len(done.fired) == 2
    if fault.startswith("early_end"):
        for seen in done.met.values():
            assert seen["state"] == "working", "the SDK does not notice that the task never ended"


@pytest.mark.nightly
@pytest.mark.parametrize("generation", GENERATIONS)
def test_an_agent_without_a_proxy_is_led_back_to_us(generation: str, mock: Mock, tmp_path: Path) -> None:
    """Its card says where it is called, which would lead past us."""
    python = str(environments.python(f"a2a-{generation}"))
    site = f"http://127.0.0.1:{mock.http}/writer"
    command = [python, str(AGENT), generation, "FAULTWIRE_URL_WRITER", "card", "stream"]
    options = ["--capture", "base-url", "--reverse", f"writer={site}", "--allow-host", "127.0.0.1"]
    fault = "{agent_garbled: {words: empty}, on: {agent: writer}}"
    done = execute(tmp_path, command, *options, "--fault", fault)
    assert done.code == 0, done.stderr
    assert done.met["card"]["url"].endswith("/writer")
    assert not done.met["card"]["url"].startswith(site)
    assert (done.met["stream"]["text"], done.met["stream"]["state"]) == ("", "completed")
    assert [exchange.request.url for exchange in done.exchanges][-1].startswith(site)
    assert [line.subject for line in done.fired] == ["writer"]
