"""A tool of the agent's own makes an id in every run; the tape of one run answers another.

The id has no shape that gives it away. It is known by use: a tool's result brought it, and what was recorded
after it repeats it. A value that only looks like one belongs to nobody.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings, strategies as st

from faultwire.events import Exchange, Headers, Request, Response
from faultwire.replay.answer import Answer
from faultwire.replay.player import Player
from faultwire.replay.reader import index
from faultwire.replay.rebind import Rebinder
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import Redactor

KEY = b"k" * 32
JSON: Headers = (("content-type", "application/json"),)
SSE: Headers = (("content-type", "text/event-stream"),)
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
KINDS: dict[str, Callable[[random.Random], str]] = {
    "order": lambda chance: f"ORD-{chance.randrange(10**8):08}",
    "hex": lambda chance: f"ord_{chance.getrandbits(48):012x}",
    "integer": lambda chance: str(chance.randrange(10**4, 10**6)),
    "ulid": lambda chance: "01" + "".join(chance.choices(CROCKFORD, k=24)),
    "snowflake": lambda chance: str(chance.randrange(10**18, 10**19)),
    "base62": lambda chance: "k9" + "".join(chance.choices("abcXYZ0123456789", k=10)),
}
SEEDS = st.integers(1, 2**32)
FAST = settings(max_examples=4, deadline=None)


def made(kind: str, *seeds: int) -> str:
    return KINDS[kind](random.Random(repr((kind, *seeds))))


def post(body: object, path: str = "/v1/chat/completions", host: str = "api.openai.com") -> Request:
    return Request("POST", "https", host, 443, path, JSON, orjson.dumps(body))


def chat(*messages: dict[str, object]) -> Request:
    return post({"model": "m", "messages": [{"role": "user", "content": "order tea"}, *messages]})


def calls(name: str, arguments: object, number: int) -> dict[str, object]:
    function = {"name": name, "arguments": orjson.dumps(arguments).decode()}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(text: str, number: int) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": text}


def answer(message: dict[str, object]) -> list[bytes]:
    return [orjson.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})]


def says(text: str) -> list[bytes]:
    return answer({"role": "assistant", "content": text})


def streamed(text: str) -> list[bytes]:
    parts = [text[at : at + 3] for at in range(0, len(text), 3)]
    chunks = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in parts]
    return [b"data: " + orjson.dumps(one) + b"\n\n" for one in chunks]


Step = tuple[Request, list[bytes]]


def agent(order: str) -> list[Step]:
    """Makes an order, ships it by a tool of its own, asks a server for it, and says it."""
    first, ship = calls("create", {}, 1), calls("ship", {"order": order}, 2)
    history = [first, result(f'{{"status":"made","order":"{order}"}}', 1)]
    more = [*history, ship, result(f"{order}\nis on its way", 2)]
    return [
        (chat(), answer(first)),
        (chat(*history), answer(ship)),
        (post({"lookup": order}, f"/orders/{order}", "shop.example"), [orjson.dumps({"order": order})]),
        (chat(*more), streamed(f"Order {order} is on its way.")),
    ]


def replayed(recorded: list[Step], live: list[Step], *, rebind: bool = True) -> list[bytes | None]:
    """What each live request was answered, where it was."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.tape"
        writer = TapeWriter.create(path, origin="p/t", settings={}, key=KEY)
        writer.open_session("exec", profile="", profile_digest="", seed=1)
        for number, (request, pieces) in enumerate(recorded, start=1):
            recording = writer.record(Exchange("exec", number, request))
            recording.request(request)
            recording.upstream_head(Response(200, "", SSE if len(pieces) > 1 else JSON))
            for piece in pieces:
                recording.upstream_chunk(piece)
            recording.end("complete", None, ())
        writer.close_session("exec")
        writer.close()
        with TapeReader.open(path) as reader:
            player = Player(index(reader), Redactor(KEY), Rebinder() if rebind else None)
            found = [player.play(request, number) for number, (request, _) in enumerate(live, start=1)]
            return [
                b"".join(data for data, _ in one.chunks) if isinstance(one, Answer) else None for one in found
            ]


def text(stream: bytes | None) -> str:
    parts = (stream or b"").split(b"\n\n")
    return "".join(orjson.loads(one[6:])["choices"][0]["delta"]["content"] for one in parts if one)


@pytest.mark.parametrize("kind", KINDS)
@FAST
@given(SEEDS)
def test_an_id_that_a_result_brought_and_later_calls_repeat_is_rebound(kind: str, seed: int) -> None:
    old, new = made(kind, seed, 1), made(kind, seed, 2)
    found = replayed(agent(old), agent(new))
    assert None not in found
    assert new.encode() in (found[1] or b"")
    assert found[2] == orjson.dumps({"order": new})
    assert text(found[3]) == f"Order {new} is on its way."
    assert replayed(agent(old), agent(new), rebind=False)[1:] == [None] * 3


@pytest.mark.parametrize("kind", KINDS)
@FAST
@given(SEEDS)
def test_a_value_that_no_answer_brought_is_not_rebound(kind: str, seed: int) -> None:
    def asks(value: str) -> list[Step]:
        """The agent's own code knows the number from elsewhere: it asks for another order, that is all."""
        ask = post({"lookup": value}, "/orders", "shop.example")
        return [(ask, [orjson.dumps({"order": value, "status": "open"})])]

    def user(value: str) -> list[Step]:
        """The user names another order."""
        ask = post({"model": "m", "messages": [{"role": "user", "content": f"cancel {value}"}]})
        return [(ask, says(f"{value} is cancelled"))]

    old, new = made(kind, seed, 1), made(kind, seed, 2)
    assert replayed(asks(old), asks(new)) == [None]
    assert replayed(user(old), user(new)) == [None]


@pytest.mark.parametrize("kind", KINDS)
@FAST
@given(SEEDS)
def test_a_value_that_nothing_repeats_is_not_rebound(kind: str, seed: int) -> None:
    def run(value: str) -> list[Step]:
        return [(chat(calls("create", {}, 1), result(f"lot {value} is there", 1)), says("There is some."))]

    assert replayed(run(made(kind, seed, 1)), run(made(kind, seed, 2))) == [None]


@pytest.mark.parametrize("kind", KINDS)
@FAST
@given(SEEDS)
def test_a_value_that_was_said_before_is_not_rebound(kind: str, seed: int) -> None:
    old, new = made(kind, seed, 1), made(kind, seed, 2)

    def run(value: str) -> list[Step]:
        """The model asks for the same order in both runs, and the tool finds another one in the second."""
        first = calls("find", {"order": old}, 1)
        return [
            (chat(), answer(first)),
            (chat(first, result(f"found {value}", 1)), answer(calls("ship", {"order": value}, 2))),
        ]

    assert replayed(run(old), run(new))[1] is None


@FAST
@given(st.integers(1000, 10**7), st.integers(1, 999))
def test_an_amount_is_not_rebound(old: int, more: int) -> None:
    def run(amount: int) -> list[Step]:
        history = [calls("create", {}, 1), result(f'{{"total": {amount}}}', 1)]
        return [(chat(*history), answer(calls("pay", {"amount": amount}, 2)))]

    assert replayed(run(old), run(old + more)) == [None]


@FAST
@given(st.integers(10**4, 10**6), st.integers(-5, 5).filter(bool))
def test_serial_numbers_that_overlap_are_kept_apart(start: int, moved: int) -> None:
    def run(at: int) -> list[Step]:
        steps: list[Step] = []
        history: list[dict[str, object]] = []
        for number in range(1, 4):
            history += [calls("create", {}, number), result(f"order_id: {at + number}", number)]
            steps.append((chat(*history), streamed(f"made order {at + number}")))
            history += [{"role": "assistant", "content": f"made order {at + number}"}]
        return steps

    found = replayed(run(start), run(start + moved))
    assert [text(one) for one in found] == [f"made order {start + moved + n}" for n in (1, 2, 3)]
