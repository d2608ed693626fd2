from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode, urlsafe_b64encode

import pytest

from faultwire.errors import WireError
from faultwire.tape.redact import content_coding as redact_content_coding
from faultwire.tape.redact.edit import Edit, merged
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.stream import (
    is_suspect,
    open_from,
    open_tail,
    stream_edits,
    text_pieces,
    texts_by_member,
)
from faultwire.tape.redact.text import edits, suspects, unescape
from faultwire.tape.redact.url import form_edits
from faultwire.tape.redact.values import values

KEY = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"
SECRETS = {
    "private_key": "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAA\n-----END EC PRIVATE KEY-----",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "anthropic_key": KEY,
    "api_key": "sk-proj-abcdefghijklmnopqrstuvwxyz",
    "aws_key": "AKIAIOSFODNN7EXAMPLE",
    "github_token": "ghp_" + "a1B2" * 9,
    "gitlab_token": "glpat-" + "a1B2" * 5,
    "slack_token": "xoxb-1234567890-abcdef",
    "google_key": "AIza" + "a1B2c" * 7,
    "huggingface_token": "hf_" + "a1B2" * 8,
    "stripe_key": "sk_live_" + "a1B2" * 6,
    "npm_token": "npm_" + "a1B2" * 9,
    "groq_key": "gsk_" + "a1B2" * 12,
    "langsmith_key": "lsv2_pt_" + "a1B2" * 10,
    "bearer": "Bearer abcdefghijklmnop",
    "userinfo": "://user:word@",
}


def clean(text: str) -> str:
    out, _ = Redactor(b"k").apply(text.encode("latin-1"), edits(text), {})
    return out.decode("latin-1")


@pytest.mark.parametrize("what", SECRETS)
@pytest.mark.parametrize("around", ["{}", "x {} y", '"{}"', "a={}&b", "\n{}\n", "({})", "\\n{}", "%20{}"])
def test_shapes_are_found_wherever_a_word_begins(what: str, around: str) -> None:
    text = around.format(SECRETS[what])
    assert suspects(text)
    assert [found[2] for found in values(text)] == [what]


@pytest.mark.parametrize(
    "text",
    [
        "a risk-based task-oriented desk-bound approach",
        "the task-abcdefghijklmnopqrstuv is done",
        "AKIA is a prefix, ghp_ too, and eyJ begins a token",
        "see https://host:8080/path@here and mailto:me@host",
        '{"max_tokens": 5, "token": "Hello", "prompt_tokens": 3, "tokens": ["a"]}',
        '{"properties": {"password": {"type": "string"}}, "required": ["password"]}',
        "Bearer of bad news",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "0123456789abcdef" * 4,
        "redacted:v1:0123456789abcdef0123456789abcdef",
    ],
)
def test_clean_texts_are_left_alone(text: str) -> None:
    assert edits(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"password":"x","n":1}', '{"password":"R","n":1}'),
        ('{ "client_secret" : "x" }', '{ "client_secret" : "R" }'),
        ('{"Access_Token":"x"}', '{"Access_Token":"R"}'),
        ('{"accessToken":"a\\"b"}', '{"accessToken":"R"}'),
        ('{"pwd":1234}', '{"pwd":"R"}'),
        ('{"a":["b","c"],"d":"{\\"pwd\\":\\"x\\"}"}', '{"a":["b","c"],"d":"{\\"pwd\\":\\"R\\"}"}'),
        ('{"credentials":["a",{"b":1}]}', '{"credentials":["R",{"b":1}]}'),
        ('{"password":"a","password":"b"}', '{"password":"R","password":"R"}'),
        ('{"password":"cut sho', '{"password":"R'),
        ('{"password":""}', '{"password":""}'),
        ('{"session":{"id":"x"},"session_id":"y"}', '{"session":{"id":"x"},"session_id":"R"}'),
        ("{'password': 'x', 'b': 2}", "{'password': 'R', 'b': 2}"),
        ('{"a":"{\\"password\\":\\"x\\",\\"n\\":1}"}', '{"a":"{\\"password\\":\\"R\\",\\"n\\":1}"}'),
        ('{"a":"{\\"pwd\\": 12}"}', '{"a":"{\\"pwd\\": \\"R\\"}"}'),
        ('["\\u0073k-ant-api03-AAAAAAAAAAAAAAAA"]', '["R"]'),
        ('{"password":null,"secret":true}', '{"password":null,"secret":true}'),
    ],
)
def test_only_the_value_is_replaced(text: str, expected: str) -> None:
    found = re.sub(r"redacted:v1:[0-9a-f]{32}", "R", clean(text))
    assert found == expected
    assert clean(clean(text)) == clean(text)


def test_json_within_json_within_json() -> None:
    inner = json.dumps({"password": KEY, "pin": 7})
    text = json.dumps({"a": json.dumps({"b": inner})})
    back = json.loads(json.loads(json.loads(clean(text))["a"])["b"])
    assert back["password"].startswith("redacted:v1:")
    assert back["pin"] == 7


@pytest.mark.parametrize("before", ["", "u", "us", "use", "user:"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_base64_of_a_secret_at_any_offset(before: str, encode: object) -> None:
    wrapped = encode(f"{before}{' ' if before and before != 'user:' else ''}{KEY}".encode()).decode()  # type: ignore[operator]
    assert wrapped not in clean(f"see {wrapped} there")


def test_percent_encoded_letters() -> None:
    text = "".join(f"%{byte:02x}" for byte in KEY.encode())
    assert re.fullmatch(r"a=redacted:v1:\w{32}&b", clean(f"a={text}&b"))


CARRIERS = {
    "alone": "{}",
    "text": "see {} for more",
    "named": "token: {} end",
    "path": "/v1/files/{}/content",
    "query": "/v1/files?q={}&n=1",
    "form": "q={}&n=1",
    "JSON": '{{"q": "{}", "n": 1}}',
    "JSON in JSON": '{{"arguments": "{{\\"q\\": \\"{}\\"}}"}}',
}


@pytest.mark.parametrize("dot", ["%2E", "%2e", "%252E", "%25252e"])
@pytest.mark.parametrize("carrier", CARRIERS.values(), ids=CARRIERS)
@pytest.mark.parametrize("parts", [2, 3])
def test_a_jwt_whose_dots_are_percent_encoded_goes_whole(carrier: str, dot: str, parts: int) -> None:
    jwt = SECRETS["jwt"].split(".")[:parts]
    text = carrier.format(dot.join(jwt))
    assert suspects(text)
    left = clean(text)
    assert not [part for part in jwt if part in left]
    before, _, after = carrier.replace("{{", "{").replace("}}", "}").partition("{}")
    assert left.startswith(before + "redacted:v1:")
    assert left.endswith(after)


@pytest.mark.parametrize("escape", ["\\u002e", "\\u002E"])
def test_a_jwt_whose_dots_are_escaped_in_json_goes_whole(escape: str) -> None:
    left = clean(json.dumps({"q": SECRETS["jwt"]}).replace(".", escape))
    assert not [part for part in SECRETS["jwt"].split(".") if part in left]


@pytest.mark.parametrize(
    "text", ["/files/a%2Etxt", "v1%2E2%2E3", "see report%2Epdf%3Fpage%3D2", "%2E%2E%2F%2E%2E"]
)
def test_other_words_with_encoded_dots_are_left_alone(text: str) -> None:
    assert clean(text) == text


def test_overlaps_are_joined() -> None:
    found = [Edit(5, 9, "b", "y"), Edit(0, 6, "a", "x"), Edit(9, 10, "c", "z"), Edit(0, 3, "d", "w")]
    assert merged(found) == [Edit(0, 9, "a", "x"), Edit(9, 10, "c", "z")]


def test_unescaping_knows_where_each_character_stood() -> None:
    text = r"x\n\u0041\"é\q\u00"
    inner = unescape(text, 1, len(text))
    assert inner.text == '\nA"éqbu00'.replace("b", "")
    assert inner.starts == [1, 3, 9, 11, 12, 14, 16, 17, 18]


def test_forms() -> None:
    assert form_edits("a=1&password=x&token=&key=%20") == [
        Edit(13, 14, "query", "x"),
        Edit(26, 29, "query", "%20"),
    ]


def test_a_place_outside_of_strings_hides_no_string_behind_it() -> None:
    assert KEY[3:] not in clean('\\" {"a": "\\"' + KEY.replace("k", "\\u006b", 1) + '"}')


# ---------------------------------------------------------------- urls


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://b.example/x?X-Amz-Signature=dead&a=1", "see https://b.example/x?X-Amz-Signature=R&a=1"),
        ("<https://h/a?page=2&api_key=x>; rel=next", "<https://h/a?page=2&api_key=R>; rel=next"),
        ("/cb?code=SECRETCODE123&state=zz", "/cb?code=R&state=zz"),
        ("https://h/#access_token=abc&x=1", "https://h/#access_token=R&x=1"),
        ('{"u":"https://h/?a=1\\u0026pwd=x\\u0026b=2"}', '{"u":"https://h/?a=1\\u0026pwd=R\\u0026b=2"}'),
        ('<a href="/?a=1&amp;sig=abc">', '<a href="/?a=1&amp;sig=R">'),
        (
            "to=https%3A%2F%2Fh%2Fcb%3Fcode%3DSECRETCODE1%26x%3D1",
            "to=https%3A%2F%2Fh%2Fcb%3Fcode%3DR%26x%3D1",
        ),
        (
            "https://h/issues?state=open&code=404&max_tokens=5",
            "https://h/issues?state=open&code=404&max_tokens=5",
        ),
        ("if a&key == b? token = c", "if a&key == b? token = c"),
    ],
)
def test_urls_in_texts(text: str, expected: str) -> None:
    assert suspects(text) or text == expected
    assert re.sub(r"redacted:v1:[0-9a-f]{32}", "R", clean(text)) == expected
    assert clean(clean(text)) == clean(text)


# ---------------------------------------------------------------- streams


def sse(*texts: str) -> str:
    return "".join(f'data: {{"delta": {{"content": {json.dumps(t)}}}}}\n\n' for t in texts)


def test_what_a_stream_says() -> None:
    stream = sse("Hel", "lo") + 'data: {"partial_json":"{\\"a"}\n\n'
    assert texts_by_member(stream) == {"content": "Hello", "partial_json": '{\\"a'}
    assert [stream[piece.start : piece.end] for piece in text_pieces(stream)] == ["Hel", "lo", '{\\"a']


def test_bare_text_is_said_too() -> None:
    assert texts_by_member("data: Hel\n\ndata: lo\n\ndata: [DONE]\n\n") == {"": "Hello"}


def test_a_secret_across_events() -> None:
    stream = sse("key ", "sk-ant-", "api03-AAAAAAAA", "AAAAAAAAAAAA", " bye")
    assert is_suspect(stream, texts_by_member(stream))
    out, _ = Redactor(b"k").apply(stream.encode(), stream_edits(stream), {})
    pieces = [json.loads(line[6:])["delta"]["content"] for line in out.decode().split("\n\n")[:-1]]
    assert re.fullmatch(r"key redacted:v1:\w{32} bye", "".join(pieces))
    assert pieces[0] == "key "
    assert pieces[-1] == " bye"


def test_arguments_across_events() -> None:
    parts = ['{"pass', 'word": "hun', 'ter2", "pi', 'n": 7}']
    stream = "".join(f'data: {{"arguments": {json.dumps(p)}}}\n\n' for p in parts)
    out, _ = Redactor(b"k").apply(stream.encode(), stream_edits(stream), {})
    pieces = [json.loads(line[6:])["arguments"] for line in out.decode().split("\n\n")[:-1]]
    said_json = json.loads("".join(pieces))
    assert said_json["password"].startswith("redacted:v1:")
    assert said_json["pin"] == 7


@pytest.mark.parametrize(
    ("text", "tail"),
    [
        ("hello ", ""),
        ("hello wor", "wor"),
        ("a sk-ant-", "sk-ant-"),
        ("Bearer ", "Bearer "),
        ("x Bearer abc", "Bearer abc"),
        ('{"password": ', '"password": '),
        ('{"password": "a b', '"password": "a b'),
        ('{"password": "a", ', ""),
        ("-----BEGIN RSA ", "-----BEGIN RSA "),
        ('{\\"pwd\\": \\"a b', '\\"pwd\\": \\"a b'),
        ("\u4f60\u597d".encode().decode("latin-1"), ""),
        ('{"max_tokens": 5 ', ""),
    ],
)
def test_open_tails(text: str, tail: str) -> None:
    assert text[len(text) - open_tail(text) :] == tail


def test_an_open_tail_begins_in_an_earlier_event() -> None:
    stream = sse("say ", "sk-", "ant-", "api")
    start = open_from(stream, texts_by_member(stream))
    assert stream[start:].startswith("sk-")
    assert open_from(sse("all said "), {"content": "all said "}) == len(sse("all said "))


# ---------------------------------------------------------------- packed bodies


@pytest.mark.parametrize(
    "applied", [("gzip",), ("x-gzip",), ("deflate",), ("zstd",), ("br",), ("gzip", "br")]
)
def test_packing_and_unpacking(applied: tuple[str, ...]) -> None:
    data = b"hello " * 1000
    assert redact_content_coding.unpack(redact_content_coding.pack(data, applied), applied) == data


def test_a_packed_body_cut_short_is_looked_into_as_far_as_it_goes() -> None:
    packed = gzip.compress(json.dumps(list(range(5000))).encode())
    plain = redact_content_coding.unpack(packed[: len(packed) // 2], ("gzip",))
    assert plain.startswith(b"[0, 1, 2")


@pytest.mark.parametrize("data", [b"plain text", gzip.compress(bytes(100_000_000))])
def test_what_cannot_be_unpacked_is_opaque(data: bytes) -> None:
    with pytest.raises(redact_content_coding.Opaque) as caught:
        redact_content_coding.unpack(data, ("gzip",))
    assert str(caught.value)
    assert isinstance(caught.value.__cause__, WireError | None)


def test_a_name_at_the_end_of_a_string_takes_nothing_after_it() -> None:
    text = json.dumps([{"content": "elif kind == 'password':"}, {"role": "user"}])
    assert edits(text) == []
    assert [edit.value for edit in edits("{'password': \"it's\"}")] == ["it's"]
