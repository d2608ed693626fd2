"""One exchange, told to its pipeline and its recording in the same breath."""

from __future__ import annotations

from pathlib import Path

from faultwire.dice import Dice
from faultwire.events import Request, Response
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.flow.recorded_exchange import RecordedExchange
from faultwire.mitm.sessions.sessions import Sessions
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

HEAD = Request("POST", "https", "api.test", 443, "/v1", (("content-type", "application/json"),))
OK = Response(200, "OK", (("content-type", "application/json"),))


class World:
    """A session with a real tape."""

    def __init__(self, folder: Path, profile: Profile | None = None) -> None:
        profile = profile or Profile(name="calm")
        self.session = Sessions().open(SessionContext("s", profile, Dice(1, "s"), SessionState()))
        self.path = folder / "one.tape"
        self.tape = TapeWriter.create(self.path, origin="test/one", settings={})
        self.tape.open_session("s", profile=profile.name, profile_digest="", seed=1)
        self.left: list[RecordedExchange] = []

    def exchange(self) -> RecordedExchange:
        return RecordedExchange(self.session, HEAD, self.tape, self.left.append)

    def recorded(self):
        self.tape.close_session("s")
        self.tape.close()
        with TapeReader.open(self.path) as tape:
            (exchange,) = tape.history("s").exchanges
        return exchange


def test_what_no_fault_touches_is_recorded_once(tmp_path: Path) -> None:
    world = World(tmp_path)
    recorded = world.exchange()
    assert not recorded.needs_request_body
    assert recorded.depart(None).request == HEAD
    recorded.request_chunk(b"{}")
    assert recorded.arrive(OK) is OK
    recorded.sends(OK)
    assert not recorded.touches
    recorded.upstream_chunk(b'{"a"')
    recorded.upstream_chunk(b": 1}")
    recorded.end("complete")
    exchange = world.recorded()
    assert exchange.request.body == b"{}"
    assert exchange.upstream == exchange.delivered
    assert exchange.upstream is not None
    assert exchange.upstream.body == b'{"a": 1}'
    assert exchange.ending == "complete"
    assert world.left == [recorded]
    assert world.session.exchanges == 1


def test_only_the_first_end_counts(tmp_path: Path) -> None:
    world = World(tmp_path)
    recorded = world.exchange()
    recorded.end("cut")
    recorded.end("complete")
    recorded.fail(None, "late")
    assert len(world.left) == 1
    assert world.session.exchanges == 1
    assert world.recorded().ending == "cut"


def test_the_tape_takes_the_body_of_a_request_that_is_refused_as_it_comes(tmp_path: Path) -> None:
    """Else what waits for the writer grows to its limit, at which nothing is read from anybody."""
    world = World(tmp_path)
    recorded = world.exchange()
    for _ in range(3):
        recorded.request_chunk(b"x" * 1000)
        world.tape.flush()
        assert world.tape.behind == 0
    recorded.answered(Response(403, "", (), b"no"))
    recorded.end("refused", "not allowed")
    exchange = world.recorded()
    assert exchange.request.body == b"x" * 3000
    assert exchange.delivered is not None
    assert (exchange.delivered.status, exchange.delivered.body, exchange.upstream) == (403, b"no", None)


def test_an_answer_without_upstream(tmp_path: Path) -> None:
    world = World(tmp_path, inline("status: {code: 503, on: {path: '*'}}"))
    recorded = world.exchange()
    assert recorded.needs_request_body
    departure = recorded.depart(b"{}")
    assert departure.answer is not None
    recorded.answered(departure.answer)
    recorded.end("complete")
    exchange = world.recorded()
    assert exchange.upstream is None
    assert exchange.delivered is not None
    assert exchange.delivered.status == 503
    assert world.session.fired == {"status": 1}


def test_what_a_fault_touches_is_recorded_on_both_sides(tmp_path: Path) -> None:
    world = World(tmp_path, inline("slow_tokens: {ms: 1, on: {path: '*'}}"))
    recorded = world.exchange()
    recorded.depart(b"{}")
    stream = Response(200, "OK", (("content-type", "text/event-stream"),))
    recorded.sends(recorded.arrive(stream))
    if recorded.touches:
        recorded.upstream_chunk(b"data: 1\n\n")
        recorded.delivered([b"data: other\n\n"])
    recorded.end("complete")
    exchange = world.recorded()
    assert exchange.upstream is not None
    assert exchange.delivered is not None
    assert (exchange.upstream.body != exchange.delivered.body) == recorded.touches


def test_a_failure_of_ours_asks_the_pipeline_nothing_more(tmp_path: Path) -> None:
    world = World(tmp_path)
    recorded = world.exchange()
    recorded.pipeline = None  # type: ignore[assignment]  # whatever is asked of it now raises
    recorded.pipeline = type("Broken", (), {"state": world.exchange().pipeline.state})()
    recorded.fail(Response(502, "Bad Gateway", (), b"{}"), "ours failed")
    exchange = world.recorded()
    assert (exchange.ending, exchange.error) == ("refused", "ours failed")
    assert exchange.delivered is not None
    assert exchange.delivered.status == 502


CHAT = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", HEAD.headers)
STREAM = Response(200, "OK", (("content-type", "text/event-stream"),))


def left_after(tmp_path: Path, last: bytes) -> str:
    """How the tape says an exchange ended whose client hung up after these bytes."""
    world = World(tmp_path)
    recorded = RecordedExchange(world.session, CHAT, world.tape, world.left.append)
    recorded.depart(b"{}")
    recorded.arrive(STREAM)
    recorded.upstream_chunk(b'data: {"id": "c", "choices": []}\n\n')
    recorded.upstream_chunk(last)
    recorded.end("client_aborted", "gone")
    return world.recorded().ending


def test_a_client_that_hangs_up_after_the_closing_event_had_it_all(tmp_path: Path) -> None:
    assert left_after(tmp_path, b"data: [DONE]\n\n") == "complete"


def test_a_client_that_hangs_up_before_it_left(tmp_path: Path) -> None:
    assert left_after(tmp_path, b'data: {"id": "c", "choices": []}\n\n') == "client_aborted"


# ---------------------------------------------------------------- after the end


class Deaf:
    """A recording that must not be told anything."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"`{name}` after the end")


def test_nothing_is_reported_after_the_end(tmp_path: Path) -> None:
    world = World(tmp_path, inline("slow_tokens: {ms: 1, on: {path: '*'}}"))
    recorded = world.exchange()
    recorded.depart(b"{}")
    recorded.arrive(STREAM)
    recorded.sends(STREAM)
    recorded.end("client_aborted", "the session was closed")
    recorded.recording = Deaf()  # type: ignore[assignment]
    recorded.request_chunk(b"x")
    recorded.forwards(HEAD)
    recorded.upstream_chunk(b"data: 1\n\n")
    recorded.delivered([b"data: 1\n\n"])
    recorded.sends(OK)
    recorded.answered(OK)
    recorded.end("complete")
    recorded.client_left()
    assert world.session.exchanges == 1


def test_the_tape_has_the_head_that_the_agent_got(tmp_path: Path) -> None:
    world = World(tmp_path)
    recorded = world.exchange()
    recorded.depart(None)
    recorded.arrive(OK)
    framed = Response(200, "OK", (*OK.headers, ("transfer-encoding", "chunked")))
    recorded.sends(framed)
    recorded.end("complete")
    exchange = world.recorded()
    assert exchange.delivered is not None
    assert exchange.delivered.headers == framed.headers
    assert exchange.upstream is not None
    assert exchange.upstream.headers == OK.headers


def test_what_is_still_on_its_way_when_a_socket_ends_was_not_delivered(tmp_path: Path) -> None:
    world = World(tmp_path)
    recorded = world.exchange()
    recorded.depart(None)
    recorded.sends(recorded.arrive(Response(101, "Switching Protocols")))
    recorded.websocket.passed("client", b"one", text=True)
    recorded.websocket.received("server", b"two", text=False)
    recorded.end("complete")
    exchange = world.recorded()
    found = [(m.by, m.kind, m.data, m.sent_ns is None, m.delivered_ns is None) for m in exchange.messages]
    assert found == [("client", "text", b"one", False, False), ("server", "binary", b"two", False, True)]


def test_an_exchange_that_ends_between_heads_delivered_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    recorded = world.exchange()
    recorded.depart(None)
    recorded.arrive(OK)
    recorded.end("client_aborted", "the client left")
    exchange = world.recorded()
    assert exchange.upstream is not None
    assert exchange.delivered is None


def test_trailers_are_recorded_on_the_sides_that_have_them(tmp_path: Path) -> None:
    world = World(tmp_path)
    recorded = world.exchange()
    recorded.depart(None)
    recorded.request_trailers((("x-sum", "1"),))
    recorded.sends(recorded.arrive(OK))
    told = (("grpc-status", "0"), ("authorization", "Bearer secret-secret-secret"))
    assert recorded.trailers(told) is told
    recorded.end("complete")
    exchange = world.recorded()
    assert exchange.delivered is not None
    assert exchange.delivered.trailers[0] == told[0]
    assert "secret" not in exchange.delivered.trailers[1][1]


def test_a_body_that_goes_on_is_recorded_to_its_end(tmp_path: Path) -> None:
    world = World(tmp_path, inline("status: {code: 503, on: {path: '*'}}"))
    recorded = world.exchange()
    recorded.depart(b"one ", live=True)
    recorded.request_chunk(b"two")
    recorded.end("cut")
    assert world.recorded().request.body == b"one two"
