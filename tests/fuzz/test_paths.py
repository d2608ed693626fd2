"""The native path beside mitmproxy's: faultwire.mitm.native. `python -m tests.fuzz.paths` does more of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fuzz.paths import __main__ as fuzz, cases, faults, known
from tests.fuzz.paths.cases import Case
from tests.fuzz.paths.outcomes import differences, outcome, unframed
from tests.fuzz.paths.shrink import shrunk

from faultwire.mitm.native.exchange import NativeExchange
from faultwire.mitm.native.upstream import Upstream
from faultwire.mitm.native.writing import MessageWriter

GET = b"GET /a HTTP/1.1\r\nhost: api.example.com\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def case(*steps: tuple[str, bytes], plain: bool = False) -> Case:
    return Case("made by hand", 0, steps, plain)


def test_no_input_differs_without_a_known_reason(capsys: pytest.CaptureFixture[str]) -> None:
    campaign = fuzz.Campaign(20261128)
    campaign.run(200)
    assert campaign.found == [], capsys.readouterr().out
    assert campaign.inputs == 200
    assert campaign.exchanges > 150, "most of them are exchanges"
    assert campaign.fired > 10, "and faults fire in some"


def test_inputs_have_all_that_a_connection_may_have() -> None:
    made = [cases.make(1, number, len(faults.profiles())) for number in range(400)]
    names = {word for one in made for word in one.name.split()}
    assert names >= {
        "chat",
        "chunked",
        "sse",
        "websocket",
        "switch",
        "odd",
        "bad",
        "damaged",
        "early",
        "plain",
    }
    assert names >= {"pipelined", "client_end", "server_end", "reset", "refused", "close", "none"}
    said = b"".join(data for one in made for _, data in one.steps)
    for part in (
        b"100-continue",
        b"103 Early",
        b"x-sum: 1",
        b"grpc-status",
        b"HTTP/1.0",
        b"HEAD ",
        b"[DONE]",
    ):
        assert part in said, part
    assert len({one.profile for one in made}) == len(faults.profiles())


def test_the_same_seed_makes_the_same_input_with_the_same_outcome() -> None:
    for number in range(12):
        one, again = (cases.make(5, number, len(faults.profiles())) for _ in range(2))
        assert one == again
        for native in (False, True):
            assert differences(outcome(one, native=native), outcome(again, native=native)) == {}
    assert cases.make(5, 0, 9) != cases.make(6, 0, 9)


def test_an_input_in_other_pieces_has_the_same_bytes() -> None:
    one = cases.make(1, 3, 9)
    again = one.divided(fuzz.random.Random(7))
    assert again.steps != one.steps
    joined: list[dict[str, bytes]] = []
    for made in (one, again):
        said: dict[str, bytes] = {}
        for who, data in made.steps:
            said[who] = said.get(who, b"") + data
        joined.append(said)
    assert joined[0] == joined[1]


def no_trailers(self: Any) -> bytes:
    return b"0\r\n\r\n" if self._chunked else b""


def settles_whatever_it_said(self: Any) -> None:
    if self._request_sent and self._response_read:
        self._asks = None


def forgets_an_end(self: Any, problem: str) -> None:
    """The client has left."""


PLANTED = {
    "trailers are lost": (
        (MessageWriter, "end", no_trailers),
        case(("client", GET), ("server", CHUNKED + b"2\r\nhi\r\n0\r\na: b\r\n\r\n")),
        "client",
    ),
    "an answer before its request is taken": (
        (Upstream, "_settle", settles_whatever_it_said),
        case(("client", GET + GET), ("server", OK + OK)),
        "servers",
    ),
    "a client that leaves is not heard of": (
        (NativeExchange, "client_failed", forgets_an_end),
        case(("client", GET), ("open", b""), ("client_end", b""), ("server", OK)),
        "tape.0.ending",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_bug_in_one_path_is_found(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (part, method, does), made, where = PLANTED[name]
    assert fuzz.compared(made)[1] == ""
    monkeypatch.setattr(part, method, does)
    one, why = fuzz.compared(made)
    assert why is None
    assert where in differences(one, outcome(made, native=True))


def test_a_bug_is_found_by_inputs_alone_and_made_small(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(MessageWriter, "end", no_trailers)
    monkeypatch.setattr(fuzz, "SHOWN", 1)
    campaign = fuzz.Campaign(1)
    while not campaign.found and campaign.inputs < 200:
        campaign._compare(cases.make(1, campaign.inputs, len(faults.profiles())), campaign.inputs)
        campaign.inputs += 1
    (small,) = campaign.found
    assert sum(len(data) for _, data in small.steps) < 600
    assert "made small" in capsys.readouterr().out


def test_a_small_case_still_differs_and_has_nothing_left_to_take_away() -> None:
    large = case(("time", b""), ("client", b"xxxxa"), ("client", b"bx"), ("server", b"zzz"))

    def differs(one: Case) -> bool:
        return b"ab" in b"".join(data for who, data in one.steps if who == "client")

    assert shrunk(large, differs).steps == (("client", b"ab"),)


CONNECT = b"CONNECT a:443 HTTP/1.1\r\nhost: a\r\n\r\n"
ONCE_DIFFERED = {
    "an answer that comes before the next request": case(("client", GET + GET), ("server", OK + OK)),
    "a tunnel that is asked for right behind a request": case(
        ("client", GET.replace(b"/a", b"http://a/") + CONNECT), ("server", OK), plain=True
    ),
    "a reason of blanks": case(("client", GET), ("server", b"HTTP/1.1 204  \t\r\n\r\n")),
    "a line feed in front of an answer": case(("client", GET), ("server", b"\n"), ("server", b"\n" + OK)),
    "a malformed head behind an answer": case(("client", GET + b"\n\n"), ("server", OK)),
}


@pytest.mark.parametrize("name", ONCE_DIFFERED)
def test_what_once_differed_is_the_same(name: str) -> None:
    one, why = fuzz.compared(ONCE_DIFFERED[name])
    expected = "a client of the proxy itself that is handed back" if "tunnel" in name else ""
    assert why == expected
    assert one.client, "something is said"


LARGE = b"x: " + b"y" * 66_000


@pytest.mark.parametrize(
    ("name", "made"),
    [
        (
            "the words for a message that cannot be read",
            case(("client", GET), ("server", CHUNKED + b"zz\r\n")),
        ),
        (
            "a head that is both too large and malformed",
            case(("client", b"GET /\0 HTTP/1.1\r\nhost: a\r\n" + LARGE + b"\r\n\r\n")),
        ),
        (
            known.EARLY,
            case(
                (
                    "client",
                    b"PUT /a HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;\r\r\nx\r\n0\r\n\r\n",
                ),
            ),
        ),
        (known.EARLY, case(("client", GET), ("server", CHUNKED + b"2\r\nhi\r\n0\r\nno colon\r\n"))),
        (
            "a half-close of mitmproxy's",
            case(
                *(("client", b"PUT /a HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n1"), ("open", b"")),
                *(("server", b"HTTP/1.1 200 OK\r\n\r\nuntil the end"), ("client", b"2")),
            ),
        ),
        (
            "a client of the proxy itself that is handed back",
            case(
                *(("client", GET.replace(b"/a", b"http://a/")), ("open", b""), ("server", OK)),
                *(("client", GET), ("server", OK)),
                plain=True,
            ),
        ),
        (
            "servers that a client of the proxy itself asks in turn",
            case(
                *(("client", GET.replace(b"/a", b"http://a/")), ("open", b""), ("server", OK)),
                *(("client", GET.replace(b"/a", b"http://b/")), ("open", b""), ("server", OK)),
                *(("client", GET.replace(b"/a", b"http://a/")), ("open", b"")),
                plain=True,
            ),
        ),
    ],
)
def test_a_known_reason_covers_nothing_else(monkeypatch: pytest.MonkeyPatch, name: str, made: Case) -> None:
    assert fuzz.compared(made)[1] == name
    asked = outcome(made, native=True)
    other = known.replace(asked, servers=[*asked.servers, [b"another"]])
    assert known.reason(made, outcome(made, native=False), other) is None


def test_messages_are_compared_without_their_division_into_chunks() -> None:
    one = CHUNKED + b"2\r\nhi\r\n0\r\na: b\r\n\r\n" + OK
    other = CHUNKED + b"1\r\nh\r\n1\r\ni\r\n0\r\na: b\r\n\r\n" + OK
    assert unframed(one) == unframed(other) != unframed(one[:-1])
    cut = CHUNKED + b"1\r\nh\r\n"
    assert unframed(cut) != unframed(cut + b"0\r\n\r\n"), "its end is compared"
    to_head = CHUNKED + OK
    assert unframed(to_head, ["HEAD", "GET"]) == [CHUNKED[:-4] + b"|", OK.replace(b"\r\n\r\n", b"|")]
