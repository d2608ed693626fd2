"""WebSocket messages that wait: what they say joined is redacted, in order and within limits."""

from __future__ import annotations

import json

import pytest

from faultwire.events import Message
from faultwire.tape.redact.messages import MOST, MOST_BYTES, WaitingMessages
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.rules import read_rules

KEY = "sk-ant-api03-" + "Wm5Qx8Zt2Vb7Nk1R" * 2


def delta(text: str, kind: str = "say") -> Message:
    data = json.dumps({"type": kind, "item": {"delta": text}}).encode()
    return Message(by="client", kind="text", data=data, sent_ns=1, delivered_ns=1)


def waiting(*messages: Message) -> WaitingMessages:
    held = WaitingMessages(Redactor(b"k" * 32), {})
    for message in messages:
        held.add(message)
    return held


def text(found: list[tuple[Message, bytes]]) -> str:
    return "".join(json.loads(data)["item"]["delta"] for _, data in found)


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_key_in_pieces_is_replaced(size: int) -> None:
    said = f"take {KEY} now"
    held = waiting(*(delta(said[at : at + size]) for at in range(0, len(said), size)))
    assert held.release(final=False) == []
    left = text(held.release(final=True))
    assert left.startswith("take redacted:v1:")
    assert left.endswith(" now")
    assert held.release(final=True) == []


def test_pieces_of_other_kinds_stand_between_them() -> None:
    pieces = [delta(KEY[at : at + 4]) for at in range(0, len(KEY), 4)]
    held = waiting(*(one for piece in pieces for one in (piece, delta("x", "other"))))
    left = held.release(final=True)
    assert len(left) == 2 * len(pieces)
    assert KEY not in text([one for one in left if b"other" not in one[1]])


def test_clean_messages_come_back_as_they_were() -> None:
    messages = [delta("a few words "), Message("server", "binary", b"\x00\xff", 1, 1), delta("and more")]
    assert waiting(*messages).release(final=True) == [(one, one.data) for one in messages]


def test_the_first_half_is_released_where_too_many_wait() -> None:
    held = waiting(*(delta(f"word {number} ") for number in range(MOST + 1)))
    first = held.release(final=False)
    assert len(first) == (MOST + 1) // 2
    rest = held.release(final=True)
    assert text(first + rest) == "".join(f"word {number} " for number in range(MOST + 1))
    assert waiting(delta("x" * MOST_BYTES)).release(final=False)


def test_a_key_over_the_middle_waits_whole() -> None:
    before = [delta("word ") for _ in range(MOST // 2 - 10)]
    key = [delta(letter) for letter in KEY + " "]
    after = [delta("word ") for _ in range(MOST + 1 - len(before) - len(key))]
    held = waiting(*before, *key, *after)
    first = held.release(final=False)
    assert len(first) == len(before)
    left = text(first + held.release(final=True))
    assert left.count("redacted:v1:") == 1
    assert KEY[:10] not in left
    assert KEY[-10:] not in left


# ---------------------------------------------------------------- what is one text


def message(data: bytes, by: str = "client") -> Message:
    return Message(by=by, kind="text", data=data, sent_ns=1, delivered_ns=1)


def halves(first: bytes, second: bytes, by: tuple[str, str] = ("client", "client")) -> tuple[bytes, bytes]:
    """What is left of two messages, in which `A` and `B` are the halves of a key."""
    whole = [one.replace(b"A", KEY[:9].encode()).replace(b"B", KEY[9:].encode()) for one in (first, second)]
    held = waiting(*(message(data, one) for data, one in zip(whole, by, strict=True)))
    (_, left), (_, right) = held.release(final=True)
    return left, right


PLACE = Redactor(b"k" * 32).placeholder("anthropic_key", KEY, {}).encode()
DEEP = ['{"a":' * depth + '"%s"' + "}" * depth for depth in (1, 9, 10)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (b'{"type":"a","t":"x A"}', b'{"type":"a","t":"B y"}'),
        (b'{"t":"A","type":"a"}', b' \n{"t" : "B","more":1,"type":"a"}'),
        (b'{"type":"a","t":["A"]}', b'{"type":"a","t":["B"," y"]}'),
        (b'{"type":"a","t":["y","A"]}', b'{"type":"a","t":["B"]}'),
        (b'{"type":"a","t":[{"u":"A"}]}', b'{"type":"a","t":[{"u":"B"}]}'),
        (b'{"type":7,"t":"A"}', b'{"type":null,"t":"B"}'),
        (b'{"type":"","t":"A"}', b'{"t":"B"}'),
        (b'{"t":{"type":"A"}}', b'{"t":{"type":"B"}}'),
        (b"x A", b"B y"),
        (b'{"t":"A', b"B y"),
        (b'["A', b'B"]'),
        (DEEP[0].replace("%s", "A").encode(), DEEP[0].replace("%s", "B").encode()),
        (DEEP[1].replace("%s", "A").encode(), DEEP[1].replace("%s", "B").encode()),
    ],
    ids=[
        *(
            "one name",
            "blanks",
            "list first",
            "list last",
            "object in list",
            "no kind",
            "empty kind",
            "type further in",
        ),
        *("plain text", "broken", "array", "shallow", "deep"),
    ],
)
def test_a_key_in_two_messages_is_one(first: bytes, second: bytes) -> None:
    assert halves(first, second) == (first.replace(b"A", PLACE), second.replace(b"B", b""))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (b'{"type":"a","t":"A"}', b'{"type":"b","t":"B"}'),
        (b'{"type":"a","t":{"u":"A"}}', b'{"type":"b","t":{"u":"B"}}'),
        (b'{"type":"a","t":"A"}', b'{"type":"a","u":"B"}'),
        (b'{"type":"a","t":"A"}', b'{"type":"a","t":["B"]}'),
        (b'{"type":"a","t":{"t":"A"}}', b'{"type":"a","t":"B"}'),
        (b'{"type":"A"}', b'{"type":"B"}'),
        (b'{"type":"a","t":"A"}', b"B"),
        (b'{"A":1}', b'{"B":1}'),
        (DEEP[2].replace("%s", "A").encode(), DEEP[2].replace("%s", "B").encode()),
    ],
    ids=["kind", "kind further in", "name", "list", "depth", "kinds", "form", "keys", "too deep"],
)
def test_what_other_texts_say_is_not(first: bytes, second: bytes) -> None:
    whole = tuple(
        one.replace(b"A", KEY[:9].encode()).replace(b"B", KEY[9:].encode()) for one in (first, second)
    )
    assert halves(first, second) == whole
    same = b'{"type":"a","t":"A"}', b'{"type":"a","t":"B"}'
    assert PLACE not in halves(*same, by=("client", "server"))[0]
    assert PLACE in halves(*same, by=("server", "server"))[0]


def test_json_that_is_nested_without_end_is_a_text() -> None:
    deep = b'{"t":' * 100_000
    left, right = halves(deep + b"A", b"B")
    assert (left, right) == (deep + PLACE, b"")


def test_two_secrets_are_counted_once_each_and_stand_where_they_were() -> None:
    counts: dict[str, int] = {}
    held = WaitingMessages(Redactor(b"k" * 32), counts)
    said = f"{KEY} and {KEY[:-1]}Z"
    for at in range(0, len(said), 5):
        one = delta(said[at : at + 5])
        held.add(one)
    left = text(held.release(final=True))
    other = PLACE.decode().replace(PLACE.decode()[-32:], left[-32:])
    assert left == f"{PLACE.decode()} and {other}"
    assert counts == {"anthropic_key": 2}


# ---------------------------------------------------------------- how much waits


def test_as_many_and_as_much_as_may_wait_do() -> None:
    assert waiting(*(delta("x") for _ in range(MOST))).release(final=False) == []
    assert len(waiting(*(delta("x") for _ in range(MOST + 1))).release(final=False)) == 256
    exact = message(b"x" * MOST_BYTES)
    assert waiting(exact).release(final=False) == []
    assert waiting(exact, message(b"y")).release(final=False) == [(exact, exact.data)]
    assert waiting().release(final=True) == []


def test_what_was_released_takes_no_room() -> None:
    big, small = message(b"x" * MOST_BYTES), message(b"y")
    held = waiting(big, small)
    assert held.release(final=False) == [(big, big.data)]
    assert held.release(final=False) == []
    for _ in range(3):
        held.add(small)
    assert held.release(final=False) == []
    assert len(held.release(final=True)) == 4
    held.add(big)
    assert held.release(final=False) == []


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_secret_that_fills_all_the_room_is_cut_where_the_room_ends(ahead: int) -> None:
    head = "-----BEGIN PRIVATE KEY-----"
    body = head + "M" * 700 + "-----END PRIVATE KEY-----"
    held = waiting(*(delta("x ") for _ in range(ahead)), *(delta(letter) for letter in body))
    first = held.release(final=False)
    left = text(first + held.release(final=True))
    assert left.count("redacted:v1:") == 1
    assert "MM" not in left
    assert left.startswith("x " * ahead + "redacted:v1:")
    assert len(first) == (ahead or len(body) // 2)


def test_a_chain_of_secrets_over_the_middle_waits_from_its_first() -> None:
    """Two texts, each with a key: the second reaches over the middle, the first into the second."""
    words = [delta("word ") for _ in range(230)]
    one, two = ([delta(letter, kind) for letter in KEY] + [delta(" ", kind)] for kind in ("one", "two"))
    mixed = one[:20] + [each for pair in zip(one[20:], two[:-20], strict=False) for each in pair]
    mixed += two[len(one) - 20 :]
    after = [delta("word ") for _ in range(MOST + 1 - len(words) - len(mixed))]
    held = waiting(*words, *mixed, *after)
    first = held.release(final=False)
    assert len(first) == len(words)
    left = first + held.release(final=True)
    for kind in (b"one", b"two"):
        assert text([each for each in left if kind in each[1]]) == PLACE.decode() + " "


# ---------------------------------------------------------------- what a message says by itself


@pytest.mark.parametrize(
    "pieces",
    [
        ['{"password": "hun', 'ter2secret"}'],
        ['{"password": "', 'hunter2secret"}'],
        ['{"pass', 'word": "hunter2', "sec", 'ret", "n": 1}'],
        ['{"password": "hunter2secret"}'],
    ],
    ids=["in its value", "before it", "in its name", "whole"],
)
def test_a_password_that_is_cut_anywhere_gets_one_placeholder(pieces: list[str]) -> None:
    counts: dict[str, int] = {}
    held = WaitingMessages(Redactor(b"k" * 32), counts)
    for piece in pieces:
        held.add(delta(piece))
    left = text(held.release(final=True))
    place = Redactor(b"k" * 32).placeholder("key", "hunter2secret", {})
    assert left == "".join(pieces).replace("hunter2secret", place)
    assert counts == {"key": 1}


@pytest.mark.parametrize("cut", range(1, len(KEY)))
def test_a_key_that_is_cut_anywhere_leaves_nothing(cut: int) -> None:
    held = waiting(delta(f"take {KEY[:cut]}"), delta(f"{KEY[cut:]} now"))
    assert text(held.release(final=True)) == f"take {PLACE.decode()} now"


def test_what_one_message_says_is_replaced_and_counted_once() -> None:
    counts: dict[str, int] = {}
    held = WaitingMessages(Redactor(b"k" * 32), counts)
    for said in (f"a {KEY} b", "c", f'{{"password": "x{KEY[:9]}"}}'):
        held.add(delta(said))
    left = text(held.release(final=True))
    assert left.startswith(f"a {PLACE.decode()} bc" + '{"password": "redacted:v1:')
    assert KEY[:9] not in left
    assert counts == {"anthropic_key": 1, "key": 1}


def test_a_message_that_waits_on_is_still_looked_through_by_itself() -> None:
    """Its beginning belongs to a secret that fills the room and is released without it."""
    body = "-----BEGIN PRIVATE KEY-----" + "M" * 700 + "-----END PRIVATE KEY-----"
    last = delta(f'. {{"password": "hunter2"}} {KEY}')
    held = waiting(*(delta(letter) for letter in body), last)
    first = held.release(final=False)
    left = text(first + held.release(final=True))
    assert left.count("redacted:v1:") == 3
    assert "hunter2" not in left
    assert KEY[-9:] not in left
    assert "MM" not in left


def test_rules_count_in_one_message_and_over_several() -> None:
    rules = read_rules({"patterns": [{"id": "staff", "regex": "EMP-[0-9]+"}], "paths": ["$.ssn"]})
    held = WaitingMessages(Redactor(b"k" * 32, rules), {})
    for data in (b'{"t":"EMP-12"}', b'{"t":"34 x"}', b'{"ssn":"abc","t":"y EMP-5"}', b'[{"ssn":"d"}]'):
        held.add(message(data))
    place = {
        value: Redactor(b"k" * 32).placeholder(what, value, {}).encode()
        for what, value in (("rule.staff", "EMP-1234"), ("rule.path", "abc"), ("rule.staff", "EMP-5"))
    }
    assert [data for _, data in held.release(final=True)] == [
        b'{"t":"%s"}' % place["EMP-1234"],
        b'{"t":" x"}',
        b'{"ssn":"%s","t":"y %s"}' % (place["abc"], place["EMP-5"]),
        b'[{"ssn":"d"}]',
    ]


def test_plain_text_has_no_escapes() -> None:
    said = (b"see https://user:pa\\", b"u0073word@host.example/")
    held = waiting(*map(message, said))
    assert tuple(data for _, data in held.release(final=True)) == said


def test_an_escape_in_plain_text_says_nothing() -> None:
    said = (b"x sk\\u002dant-api03-ABCDEFGHIJ", b"KLMNOPQRSTUVWX y")
    assert tuple(data for _, data in waiting(*map(message, said)).release(final=True)) == said


def test_kinds_are_no_text_that_goes_on_from_message_to_message() -> None:
    """Joined they are nothing that anybody said, and an agent needs them."""
    rules = read_rules({"patterns": [{"id": "number", "regex": "[0-9]{6}"}]})
    held = WaitingMessages(Redactor(b"k" * 32, rules), {})
    for said in ("12", "34", "56"):
        held.add(message(b'{"type":"100","t":"%s"}' % said.encode()))
    left = [json.loads(data) for _, data in held.release(final=True)]
    assert [one["type"] for one in left] == ["100"] * 3
    assert left[0]["t"].startswith("redacted:v1:")
    assert [one["t"] for one in left[1:]] == [""] * 2


def test_what_begins_where_the_room_ends_waits_for_its_end() -> None:
    words = [message(b"word ") for _ in range(256)]
    body = "-----BEGIN PRIVATE KEY-----" + "M" * 260
    held = waiting(*words, *(message(letter.encode()) for letter in body[: MOST + 1 - len(words)]))
    first = held.release(final=False)
    assert [data for _, data in first] == [b"word "] * 256
    for letter in body[MOST + 1 - len(words) :] + "-----END PRIVATE KEY-----":
        held.add(message(letter.encode()))
    left = b"".join(data for _, data in held.release(final=True))
    assert left.startswith(b"redacted:v1:")
    assert len(left) == len(PLACE)


def test_the_message_in_which_a_secret_ends_that_was_released_keeps_its_other_text() -> None:
    head = "-----BEGIN PRIVATE KEY-----"
    body = head + "M" * (256 - len(head))
    last = '-----END PRIVATE KEY----- {"password": "hunter2"} bye'
    held = waiting(*(delta(letter) for letter in body), delta(last), *(delta("x ") for _ in range(256)))
    first = held.release(final=False)
    assert len(first) == 256
    left = held.release(final=True)
    place = Redactor(b"k" * 32).placeholder("key", "hunter2", {})
    assert text(left) == f' {{"password": "{place}"}} bye' + "x " * 256
