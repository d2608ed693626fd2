from __future__ import annotations

from dataclasses import replace

from tests.unit.wire.shapes import CHAT, pack, post

from faultwire import wire
from faultwire.wire import VOLATILE

URL = "https://api.openai.com/v1/chat/completions"


def key(url: str = URL, body: object = CHAT, kind: str = "llm", method: str = "POST") -> str:
    return wire.fingerprint(post(url, body, method=method), kind)  # type: ignore[arg-type]


def test_it_is_fixed_forever() -> None:
    """Every decision of every seed hangs on these digests."""
    assert wire.fingerprint(post("https://a.example/x?b=1", {"a": 1}), "tool") == (
        "bb6bd4b9e6e276c9a7d907101e45ca704a493c4e3e9e0423dae489a9ed487fcb"
    )
    assert wire.tool_key("f", '{"a": 1}') == (
        "2d9d03e964158e5e344561b07d3e1a786176d6a0ff78c19868e10458bac53d0e"
    )


def test_order_blanks_ids_and_ports_do_not_matter() -> None:
    shuffled = dict(reversed(CHAT.items()))
    assert key(body=shuffled) == key()
    assert key(body={**CHAT, "metadata": {"run": 1}, "user": "u1"}) == key(
        body={**CHAT, "metadata": None, "user": "u2"}
    )
    request = post(URL, CHAT)
    assert wire.fingerprint(replace(request, port=8443, host="API.openai.com"), "llm") == key()


def test_call_ids_do_not_matter() -> None:
    other = pack(CHAT).replace(b'"c1"', b'"z9"')
    assert key(body=other) == key()


def test_everything_else_matters() -> None:
    changed = [
        key(body={**CHAT, "model": "other"}),
        key(url=URL + "/x"),
        key(url="https://b.example/v1/chat/completions"),
        key(url=URL + "?q=1"),
        key(kind="other"),
        key(method="PUT"),
        key(body=b""),
        key(),
    ]
    assert len(set(changed)) == len(changed)


def test_volatile_query_fields_are_left_out() -> None:
    plain = key("https://a.example/s?q=1")
    assert key("https://a.example/s?q=1&timestamp=5&key=secret&X-Amz-Signature=1") == plain
    assert key("https://a.example/s?q=2") != plain
    assert "$.timestamp" in VOLATILE


def test_what_a_tool_or_another_server_is_asked_is_never_masked() -> None:
    for kind in ("tool", "other", "agent"):
        asked = [key("https://a.example/t", {"id": n, "user": f"u{n}"}, kind) for n in (1, 2)]
        assert asked[0] != asked[1]
        found = [key(f"https://a.example/t?id={n}&key=k{n}", {}, kind) for n in (1, 2)]
        assert found[0] != found[1]


def test_an_argument_called_id_is_no_id_of_a_call() -> None:
    def history(number: int) -> str:
        used = {"type": "tool_use", "id": f"toolu_{number}", "name": "get", "input": {"id": number}}
        return key(body={**CHAT, "messages": [{"role": "assistant", "content": [used]}]})

    assert history(1) != history(2)


def test_parts_do_not_run_into_each_other() -> None:
    assert wire.tool_key("ab", "c") != wire.tool_key("a", "bc")
    assert wire.tool_key(None, "{}") == wire.tool_key("", "{}")


def test_tool_key_is_canonical_in_the_arguments() -> None:
    assert wire.tool_key("f", '{"a":1,"b":2}') == wire.tool_key("f", '{ "b": 2, "a": 1.0 }')
    assert wire.tool_key("f", '{"id":1}') != wire.tool_key("f", '{"id":2}')
    assert wire.tool_key("f", "not json") != wire.tool_key("f", "nor this")


def long_post(body: bytes, length: int) -> str:
    asked = post(URL, body)
    kept = tuple(field for field in asked.headers if field[0].lower() != "content-length")
    return wire.fingerprint(replace(asked, headers=(*kept, ("content-length", str(length)))), "llm")


def test_the_beginning_of_a_body_that_nobody_reads_has_the_key_of_all_of_it() -> None:
    """A conversation with files grows from turn to turn: its length is what tells one call from the next."""
    whole = pack(CHAT)[:-2] + b"x" * (2 * wire.UNREAD)
    key_of_all = long_post(whole, len(whole))
    assert long_post(whole[: wire.UNREAD], len(whole)) == key_of_all
    assert long_post(whole[: wire.UNREAD], len(whole) + 1) != key_of_all
    assert long_post(b" " + whole, len(whole)) != key_of_all
    at_the_end = whole[: wire.UNREAD - 1] + b"y" + whole[wire.UNREAD :]
    assert long_post(at_the_end, len(whole)) != key_of_all
