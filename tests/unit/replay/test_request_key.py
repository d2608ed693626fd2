"""What a request asks, with what is masked, and as a tape would hold it.

Covers faultwire.replay.request_key and faultwire.replay.mask.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from faultwire.errors import UsageError
from faultwire.events import Request
from faultwire.replay.mask import Masks, blind
from faultwire.replay.request_key import RequestKey, around, asked, clean, place_of
from faultwire.tape.redact.redactor import Redactor

JSON = (("content-type", "application/json"),)
A, B, C, D = (f"redacted:v1:{letter * 32}" for letter in "abcd")
REDACTOR = Redactor(b"k" * 32)


def post(value: object, path: str = "/tool", **changed: Any) -> Request:
    made = Request("POST", "https", "h.example", 443, path, JSON, orjson.dumps(value))
    return replace(made, **changed)


# ---------------------------------------------------------------- what a request asks


def test_a_place_is_method_host_with_port_and_bare_path() -> None:
    assert place_of(post({}, "/a?b=c?d", host="H.Example.", port=8443)) == ("POST", "h.example:8443", "/a")
    assert asked(post({}, "/a?b"), Masks()).place == ("POST", "h.example:443", "/a")


def test_only_fields_that_ask_count_beside_the_fingerprint() -> None:
    headers = (("X-Amz-Target", "T"), ("SoapAction", "S"), ("x-HTTP-method-override", "M"), ("x-run", "1"))
    found = around(post({}, headers=headers, scheme="http", port=81))
    assert found == "http:81\nx-amz-target=T\nsoapaction=S\nx-http-method-override=M\n"
    assert around(post({})) == "https:443\n"


def test_a_key_has_the_place_the_fields_and_the_body_but_no_secret_and_nothing_masked() -> None:
    masks = Masks.parse(["$.run", "?run"])

    def key(body: object, path: str = "/tool?run=1&x=2", **changed: Any) -> str:
        return asked(post(body, path, **changed), masks).key

    base = key({"a": 1, "run": 1})
    same = [
        key({"a": 1, "run": 3}),
        key({"a": 1, "run": 1}, "/tool?x=2"),
        key({"run": 1, "a": 1}, "/tool?x=2&run=9"),
    ]
    assert same == [base] * 3
    others = [
        key({"a": 2, "run": 1}),
        key({"a": 1, "run": 1}, "/tool?run=1&x=3"),
        key({"a": 1, "run": 1}, "/tools?run=1&x=2"),
        key({"a": 1, "run": 1}, scheme="http"),
        key({"a": 1, "run": 1}, port=444),
        key({"a": 1, "run": 1}, host="other.example"),
        key({"a": 1, "run": 1}, method="PUT"),
        key({"a": 1, "run": 1}, headers=(*JSON, ("soapaction", "x"))),
    ]
    assert len({base, *others}) == 9


def test_blind_keys_take_secrets_for_equal_and_name_them_in_order() -> None:
    def found(*secrets: str, header: str = "x") -> RequestKey:
        one, two, three = secrets
        headers = (*JSON, ("soapaction", header))
        return asked(post({"a": two, "b": three}, f"/tool?k={one}", headers=headers), Masks())

    first, second = found(A, B, C), found(D, C, B)
    assert (first.secrets, second.secrets) == ((A, B, C), (D, C, B))
    assert first.blind == second.blind
    assert len({first.key, second.key, first.blind}) == 3
    assert found(A, B, C, header="y").blind != first.blind
    plain = asked(post({"a": 1}), Masks())
    assert (plain.secrets, plain.blind) == ((), plain.key)
    in_path = asked(post({}, f"/tool?k={A}"), Masks())
    assert (in_path.secrets, in_path.blind == in_path.key) == ((A,), False)


def test_masks_count_in_blind_keys_too() -> None:
    masks = Masks.parse(["$.run"])
    one, two = (asked(post({"k": A, "run": run}), masks) for run in (1, 2))
    assert one.blind == two.blind
    assert one.blind != asked(post({"k": A, "run": 1}), Masks()).blind, "the control"


def test_a_body_that_is_no_text_and_none_at_all() -> None:
    binary = asked(post(None, body=b"\xff\x00" + A.encode()), Masks())
    assert binary.secrets == (A,)
    assert asked(post(None, body=None), Masks()).key == asked(post(None, body=b""), Masks()).key


def test_what_counts_for_nothing_is_listed() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}]}
    llm = post(body, "/v1/chat/completions", host="api.openai.com")
    found = asked(llm, Masks.parse(["$.run"]))
    assert found.request is llm
    assert found.kind == "llm"
    assert found.protocol is not None
    assert found.masked[-1] == "$.run"
    assert len(found.masked) > 1
    tool = asked(post({}), Masks.parse(["$.run"]))
    assert (tool.kind, tool.protocol, tool.masked) == ("other", None, ("$.run",))


# ---------------------------------------------------------------- a live request as a tape would hold it


HOOK = "/services/" + "T0123ABCD/" + "B0123ABCD/" + "abcdefghijklmnopqrstuvwx"
SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


def test_a_live_request_is_cleaned_in_path_headers_and_body() -> None:
    headers = (*JSON, ("authorization", f"Bearer {SECRET}"), ("x-trace", "t"))
    live = post({"note": f"use {SECRET}", "n": 1}, f"/tool?api_key={SECRET}&x=1", headers=headers)
    found = clean(live, REDACTOR)
    assert SECRET not in str(found)
    assert (found.method, found.scheme, found.host, found.port) == ("POST", "https", "h.example", 443)
    assert found.path.startswith("/tool?api_key=redacted:v1:")
    assert found.path.endswith("&x=1")
    assert [name for name, _ in found.headers] == ["content-type", "authorization", "x-trace"]
    assert (found.headers[0], found.headers[2]) == (JSON[0], ("x-trace", "t"))
    body = orjson.loads(found.body or b"")
    assert (body["n"], body["note"].startswith("use redacted:v1:")) == (1, True)
    assert clean(live, REDACTOR) == found


def test_a_live_request_without_secrets_stays_as_it_is() -> None:
    for live in (post({"a": 1}, "/tool?x=1"), post(None, body=None), post(None, body=b"")):
        assert clean(live, REDACTOR) == live


# ---------------------------------------------------------------- masks


def test_a_mask_that_is_none_is_named() -> None:
    with pytest.raises(UsageError) as refused:
        Masks.parse(["$.a", "model"])
    assert refused.value.message == (
        "found the mask `model`, expected a path such as `$.metadata.run`, or `HOST/PATH $.…`"
    )
    assert refused.value.code == "replay.mask"
    assert refused.value.hint == "`faultwire tape learn A B` proposes masks"


def test_masks_are_parsed_into_addresses_and_places() -> None:
    masks = Masks.parse(["  api.example/v1/*   $.a.b ", "?run", "$.list.*.id"])
    assert masks.rules == (("api.example/v1/*", "$.a.b"), ("*", "?run"), ("*", "$.list.*.id"))


def test_a_mask_counts_where_its_address_is() -> None:
    masks = Masks.parse(["h.example/tool $.a", "h.example/tool ?a", "other/* $.b", "other/* ?b", "?c"])
    assert masks.paths(post({}, "/tool?x", host="H.example")) == ("$.a",)
    assert masks.path(post({}, "/tool?a=1&b=2&c=3&a&ab=4", host="H.example")) == "/tool?b=2&ab=4"
    assert masks.paths(post({}, "/tools")) == ()
    assert masks.path(post({}, "/tools?a=1&c")) == "/tools?a=1"
    assert masks.path(post({}, "/tools?c=1&c=2")) == "/tools"
    assert masks.path(post({}, "/tools")) == "/tools"
    assert Masks().path(post({}, "/tools?")) == "/tools?"
    assert Masks().paths(post({})) == ()


def test_placeholders_are_made_the_same_and_listed_in_order() -> None:
    assert blind(f"{B} and {A}.") == ("redacted:v1:* and redacted:v1:*.", (B, A))
    assert blind("none") == ("none", ())
    assert blind("redacted:v1:short") == ("redacted:v1:short", ())


def test_a_mask_counts_for_a_path_with_two_question_marks() -> None:
    masks = Masks.parse(["h.example/tool $.a", "h.example/tool ?run"])
    request = post({}, "/tool?run=1?x&b=2?c")
    assert (masks.paths(request), masks.path(request)) == (("$.a",), "/tool?b=2?c")


def test_a_mask_with_a_space_in_its_address_is_refused() -> None:
    with pytest.raises(UsageError):
        Masks.parse(["h.example/a b/* $.a"])


def test_what_a_protocol_s_ids_are_counts_for_nothing_with_and_without_secrets() -> None:
    def call(number: int, *secrets: str) -> RequestKey:
        params = {"name": "f", "arguments": {"k": secrets}}
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return asked(post(body, "/mcp"), Masks())

    assert call(1).key == call(2).key
    assert call(1, A).key == call(2, A).key != call(2, B).key
    assert call(1, A).blind == call(2, B).blind
    assert "$.id" in call(1).masked


def test_no_body_is_no_text() -> None:
    assert asked(post(None, body=None), Masks()).key != asked(post(None, body=b"XXXX"), Masks()).key


def test_a_body_that_is_kept_in_pieces_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faultwire.tape.record.body.MAX_PIECE", 8)
    live = post(None, body=b"words that need three pieces", headers=(("content-type", "text/plain"),))
    assert clean(live, REDACTOR).body == live.body


def test_a_path_that_is_a_secret_at_its_host_is_replaced() -> None:
    live = post(None, HOOK, host="hooks.slack.com", body=None)
    assert HOOK not in clean(live, REDACTOR).path
    assert clean(replace(live, host="h.example"), REDACTOR).path == live.path, "the control"
