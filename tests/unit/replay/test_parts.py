"""The smaller parts: masks, pictures, minted values, differences, scripts."""

from __future__ import annotations

import random
from typing import Any

import orjson
import pytest

from faultwire.errors import UsageError
from faultwire.events import Message, Recorded, Request
from faultwire.history import Delivery
from faultwire.replay.answer import answer_of
from faultwire.replay.explain_miss import content, differences, dotted, excerpts
from faultwire.replay.mask import Masks, blind
from faultwire.replay.match import Index, Missed
from faultwire.replay.rebind import Rebinder
from faultwire.replay.request_key import asked, clean, place_of
from faultwire.replay.script import Script
from faultwire.replay.settings import ReplaySettings
from faultwire.replay.shingles import alike, sketch
from faultwire.replay.volatile_values import only_minted, pairs, parted
from faultwire.tape.redact.redactor import Redactor

JSON = (("content-type", "application/json"),)
UUIDS = ("4f7c1a52-98f1-4c43-9d2c-0b1f8a6f2a11", "0b1f8a6f-98f1-4c43-9d2c-4f7c1a524f7c")


def post(body: object, path: str = "/v1/chat/completions", port: int = 443) -> Request:
    return Request("POST", "https", "api.openai.com", port, path, JSON, orjson.dumps(body))


# ---------------------------------------------------------------- masks


@pytest.mark.parametrize("text", ["model", "$", "$.a b c $.d e", "a b $.c", "$..a", "?a=b", ""])
def test_what_is_no_mask(text: str) -> None:
    with pytest.raises(UsageError, match="expected a path such as") as caught:
        Masks.parse([text])
    assert caught.value.code == "replay.mask"


def test_a_mask_may_be_for_some_addresses_only() -> None:
    masks = Masks.parse(["api.openai.com/v1/* $.a", "$.b", "other/* $.c", "?run"])
    request = post({}, "/v1/chat/completions?run=1&x=2")
    assert masks.paths(request) == ("$.a", "$.b")
    assert masks.path(request) == "/v1/chat/completions?x=2"


def test_placeholders_look_alike_to_the_blind() -> None:
    one = "redacted:v1:" + "ab" * 16
    assert blind(f"key {one}!") == ("key redacted:v1:*!", (one,))
    assert blind("no secret") == ("no secret", ())


# ---------------------------------------------------------------- what is asked


def key(request: Request) -> str:
    return asked(request, Masks()).key


def test_a_key_depends_on_what_is_asked() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
    base = key(post(body))
    assert key(post({**body, "user": "somebody"})) == key(post({**body, "user": "another"}))
    assert key(post(dict(reversed(body.items())))) == base
    assert key(post({**body, "model": "n"})) != base
    assert key(post(body, port=8443)) != base
    assert key(post(body, "/v1/completions")) != base
    target = Request(
        "POST", "https", "api.openai.com", 443, "/v1/chat/completions", (*JSON, ("X-Amz-Target", "A"))
    )
    assert key(target) != key(Request(*(target.method, "https", target.host, 443, target.path), JSON))


def test_a_live_request_becomes_what_a_tape_would_hold() -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    request = Request(
        "POST",
        "https",
        "h",
        443,
        "/x?api_key=topsecretvalue1",
        (*JSON, ("authorization", f"Bearer {secret}")),
    )
    found = clean(request, Redactor(b"k" * 32))
    assert secret not in str(found)
    assert "topsecret" not in found.path
    assert place_of(request) == ("POST", "h:443", "/x")


# ---------------------------------------------------------------- pictures and minted values


def test_nearer_requests_have_likelier_pictures() -> None:
    def picture(*texts: str) -> frozenset[int]:
        return sketch(post({"model": "m", "messages": [{"content": text} for text in texts]}))

    base = picture("tell me about rivers in the north", "more")
    assert alike(base, base) == 1
    near = alike(base, picture("tell me about rivers in the south", "more"))
    far = alike(base, picture("write a poem", "more"))
    assert 1 > near > far > 0
    assert alike(frozenset(), frozenset()) == 1


def test_the_same_words_elsewhere_in_the_body_are_no_json() -> None:
    plain = Request("POST", "https", "h", 443, "/x?a=1", (), b"one\ntwo")
    assert 0 < alike(sketch(plain), sketch(Request("POST", "https", "h", 443, "/x?a=1", (), b"one\nsix"))) < 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        UUIDS,
        ("call_0123456789abcdef", "call_fedcba9876543210"),
        ("2026-01-02T03:04:05.123Z", "2027-01-02 03:04:05+01:00"),
        ("1763779200.25", "1763779300.75"),
        (1763779200, 1763779201),
        ("at 1763779200000.", "at 1763779200999."),
        ("0" * 32, "f" * 32),
    ],
)
def test_minted_values_are_recognised_by_their_shape(one: Any, other: Any) -> None:
    assert only_minted(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-01-02", "2026-01-03"),
        ("room 12", "room 13"),
        (f"order {UUIDS[0]}", f"offer {UUIDS[1]}"),
        (UUIDS[0], 1763779200),
        (True, False),
        (["a"], ["b"]),
        ("1234567890123456", "1234567890123457"),
        (0.1567676070, 0.1582008524),
        ("0.1767676070722792", "0.1820085240872441"),
    ],
)
def test_what_is_not_minted(one: Any, other: Any) -> None:
    assert not only_minted(one, other)


def test_pairs_name_what_differs() -> None:
    assert pairs(f"{UUIDS[0]} {UUIDS[0]}", f"{UUIDS[0]} {UUIDS[1]}") == ((UUIDS[0], UUIDS[1]),)
    assert parted("x")[1] == ()


# ---------------------------------------------------------------- differences


def test_differences_are_reported_in_document_order() -> None:
    old = {"a": 1, "m": [{"c": "x"}, {"c": "y"}], "z": 1}
    new = {"m": [{"c": "x"}, {"c": "Y"}, {"c": "n"}], "z": 1, "n": None}
    told = [(dotted(path), one, other) for path, one, other in differences(old, new)]
    assert told == [
        ("a", 1, "(absent)"),
        ("m[1].c", "y", "Y"),
        ("m[2]", "(absent)", {"c": "n"}),
        ("n", "(absent)", None),
    ]
    assert differences(old, old) == []


def test_long_values_are_cut_to_where_they_differ() -> None:
    one, other = excerpts("a" * 500 + "X" + "b" * 500, "a" * 500 + "Y" + "b" * 500)
    assert one == "…" + "a" * 60 + "X" + "b" * 59 + "…"
    assert other[61] == "Y"


def test_what_is_no_json_is_text() -> None:
    assert content(b"\xff{", "/x?a=1") == {"?": "a=1", "$": "\ufffd{"}


# ---------------------------------------------------------------- matching


def recorded(number: int, request: Request, body: bytes = b"r", ending: Any = "complete") -> Recorded:
    answer = Delivery(200, "OK", JSON, body, ((1, 5), (len(body), 9)))
    return Recorded("s", number, "llm", None, None, None, request, answer, answer, ending, None, 0, 0, 1.0)


def test_an_index_answers_equal_calls_in_any_interleaving() -> None:
    chance = random.Random(3)
    calls = [chance.randrange(5) for _ in range(60)]
    index = Index(recorded(n, post({"messages": [call], "model": "m"})) for n, call in enumerate(calls))
    order = list(range(60))
    chance.shuffle(order)
    got: dict[int, list[int]] = {}
    for n in order:
        found = index.take(index.ask(post({"messages": [calls[n]], "model": "m"})))
        assert not isinstance(found, Missed)
        got.setdefault(calls[n], []).append(found.recorded.number)
    assert all(numbers == sorted(numbers) for numbers in got.values())
    assert index.left == []
    assert index.expected is None


# ---------------------------------------------------------------- answers


def test_an_answer_is_in_its_pieces() -> None:
    made = answer_of(recorded(1, post({}), b"abcdef"))
    assert made.chunks == ((b"a", 5), (b"bcdef", 9))
    assert (made.status, made.ends, made.size, made.ended_ns) == (200, "complete", 6, 1_000_000)


@pytest.mark.parametrize(
    ("ending", "ends"),
    [
        ("cut", "cut"),
        ("closed", "complete"),
        ("reset", "reset"),
        ("client_aborted", "aborted"),
        ("open", "aborted"),
    ],
)
def test_an_answer_ends_as_it_did(ending: str, ends: str) -> None:
    assert answer_of(recorded(1, post({}), b"abcdef", ending)).ends == ends


def test_packed_answers_are_rebound_as_well() -> None:
    import gzip
    from dataclasses import replace

    found = recorded(1, post({}), gzip.compress(b'{"id":"%s"}' % UUIDS[0].encode(), mtime=0))
    assert found.delivered is not None
    packed = replace(found.delivered, headers=(("content-encoding", "gzip"),))
    rebinder = Rebinder()
    rebinder.bind([UUIDS])
    made = answer_of(replace(found, delivered=packed), rebinder)
    assert gzip.decompress(b"".join(data for data, _ in made.chunks)) == b'{"id":"%s"}' % UUIDS[1].encode()


# ---------------------------------------------------------------- scripts


def message(
    by: Any, data: bytes, *, said: int | None = 1, got: int | None = 1, code: int | None = None
) -> Message:
    return Message(by, "close" if code else "text", data, said, got, code=code)


def told(script: Script) -> list[bytes]:
    return [one.data for one in script.due()]


def script(*messages: Message, upstream: bool = False) -> Script:
    return Script(messages, bytes, lambda said, expected: f"{said!r}/{expected!r}", upstream=upstream)


def test_a_server_waits_for_what_the_client_said_before() -> None:
    made = script(
        message("server", b"hello"),
        message("client", b'{"a":1,"event_id":"x"}'),
        message("server", b"one"),
        message("client", b"b"),
        message("server", b"two"),
        message("server", b"", code=1000),
    )
    assert told(made) == [b"hello"]
    assert told(made) == []
    assert made.received(b'{"event_id":"y","a":1}', text=True) is None
    assert told(made) == [b"one"]
    assert made.received(b"c", text=True) == "b'c'/b'b'"
    assert told(made) == []
    made.closed()
    assert told(made) == [b"two", b""]


def test_more_than_was_recorded_is_reported() -> None:
    made = script(message("client", b"a"))
    assert made.received(b"a", text=False) is not None
    assert made.received(b"a", text=True) is None
    assert made.received(b"a", text=True) == "b'a'/None"


def test_a_script_holds_what_the_agent_got_or_what_the_server_sent() -> None:
    changed = (message("server", b"was", got=None), message("server", b"became", said=None))
    assert told(script(*changed)) == [b"became"]
    assert told(script(*changed, upstream=True)) == [b"was"]


def test_settings_know_no_other_keys() -> None:
    with pytest.raises(ValueError, match="timing"):
        ReplaySettings.model_validate({"tape": "t", "timing": -1})
