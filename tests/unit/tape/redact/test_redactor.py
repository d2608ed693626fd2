from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from faultwire.errors import TapeError
from faultwire.tape.redact.headers import CODING, KIND, PLAIN, SECRET, Head, codings, role, roles
from faultwire.tape.redact.names import header_class, kept_scheme, query_class
from faultwire.tape.redact.redactor import Redactor, fresh_key, load_key, moved

PLACEHOLDER = re.compile(r"redacted:v1:[0-9a-f]{32}")


@pytest.fixture
def redactor() -> Redactor:
    return Redactor(b"k" * 32)


def test_equal_values_stay_equal_under_one_key(redactor: Redactor) -> None:
    counts: dict[str, int] = {}
    first = redactor.placeholder("header", "abc", counts)
    assert PLACEHOLDER.fullmatch(first)
    assert redactor.placeholder("header", "abc", counts) == first
    assert Redactor(b"k" * 32).placeholder("header", "abc", {}) == first
    assert counts == {"header": 2}


def test_other_values_classes_and_keys_give_others(redactor: Redactor) -> None:
    texts = {
        redactor.placeholder("header", "abc", {}),
        redactor.placeholder("header", "abd", {}),
        redactor.placeholder("query", "abc", {}),
        redactor.placeholder("head", "erabc", {}),
        Redactor(b"K" * 32).placeholder("header", "abc", {}),
    }
    assert len(texts) == 5


def test_a_placeholder_is_not_redacted_again(redactor: Redactor) -> None:
    first = redactor.placeholder("header", "abc", {})
    assert redactor.placeholder("query", first, {}) == first


def test_memory_is_bounded(redactor: Redactor) -> None:
    first = redactor.placeholder("header", "0", {})
    for n in range(3000):
        redactor.placeholder("header", str(n), {})
    assert len(redactor._memory) <= 2048
    assert redactor.placeholder("header", "0", {}) == first


# ---------------------------------------------------------------- heads


def test_the_roles_of_many_are_those_of_each() -> None:
    headers = (("Authorization", "x"), ("X-Never-Seen-Before", "y"), ("content-type", "z"), ("accept", ""))
    for _ in range(2):
        assert roles(headers) == [role(name) for name, _ in headers] == [SECRET, PLAIN, KIND, PLAIN]
    assert roles(()) == []


def test_secret_headers_lose_their_values_and_keep_their_scheme(redactor: Redactor) -> None:
    counts: dict[str, int] = {}
    sent = (("Authorization", "Bearer abc"), ("X-API-Key", "k"), ("Accept", "*/*"), ("Cookie", ""))
    clean = redactor.head(sent, counts).headers
    assert re.fullmatch(r"Bearer redacted:v1:\w{32}", clean[0][1])
    assert PLACEHOLDER.fullmatch(clean[1][1])
    assert clean[2:] == sent[2:]
    assert counts == {"header": 2}


def test_what_a_head_says_of_its_body(redactor: Redactor) -> None:
    sent = (
        ("Content-Type", "Text/Event-Stream"),
        ("content-encoding", "gzip, BR"),
        ("Content-Encoding", "zstd"),
    )
    assert redactor.head(sent, {}) == Head(sent, "text/event-stream", ("gzip", "br", "zstd"))
    assert redactor.head((), {}) == Head(())
    assert codings(["identity", ""]) == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [("content-TYPE", KIND), ("Content-Encoding", CODING), ("authorization", SECRET), ("accept", PLAIN)],
)
def test_roles(name: str, expected: int) -> None:
    assert role(name) == role(name) == expected


SECRET_HEADERS = """authorization proxy-authorization cookie set-cookie x-api-key api-key x-goog-api-key
x-amz-security-token x-auth-token x-csrf-token x-xsrf-token x-forwarded-for openai-organization openai-project
x-access-token x-vault-token x-gitlab-token x-hub-signature private-token my-client-secret
x-subscription-token x-rapidapi-key x-auth-key x-postmark-server-token dd-application-key x-token token
x_secret x-app-pwd x-client-auth"""


@pytest.mark.parametrize("name", SECRET_HEADERS.split())
def test_headers_that_are_secret(name: str) -> None:
    assert header_class(name) == header_class(name.title()) == "header"


@pytest.mark.parametrize(
    "name",
    [
        "content-length",
        "x-request-id",
        "user-agent",
        "x-ratelimit-remaining-tokens",
        "host",
        "idempotency-key",
        "sec-websocket-key",
        "sec-websocket-accept",
        "content-key",
        "x-cache-key",
        "x-ratelimit-limit-token",
        "monkey",
        "www-authenticate",
        "x-author",
        "etag",
        "surrogate-key",
    ],
)
def test_headers_that_are_not(name: str) -> None:
    assert header_class(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "key",
        "api_key",
        "token",
        "access_token",
        "code",
        "state",
        "sig",
        "X-Amz-Signature",
        "session_id",
        "access_key",
        "subscription-key",
        "Ocp-Apim-Subscription-Key",
        "appid",
        "apiKey",
        "pwd",
        "db_password",
    ],
)
def test_query_parameters_that_are_secret(name: str) -> None:
    assert query_class(name) == "query"


@pytest.mark.parametrize("name", ["page", "model", "q", "max_tokens", "keyword", "monkey", "sort_key"])
def test_query_parameters_that_are_not(name: str) -> None:
    assert query_class(name) is None


def test_schemes() -> None:
    assert kept_scheme("Basic dXNlcg==") == ("Basic ", "dXNlcg==")
    assert kept_scheme("my secret words") == ("", "my secret words")


def test_paths_keep_every_other_byte(redactor: Redactor) -> None:
    clean = redactor.path("/a?x=1&api%5Fkey=abc&&y&key=&q=%20+", {})
    assert re.fullmatch(r"/a\?x=1&api%5Fkey=redacted:v1:\w{32}&&y&key=&q=%20\+", clean)
    assert redactor.path("/token/x", {}) == "/token/x"


def test_an_exchanges_key_cannot_be_tried_out(redactor: Redactor) -> None:
    assert re.fullmatch(r"[0-9a-f]{32}", redactor.keyed("ab" * 32))
    assert redactor.keyed("ab" * 32) == redactor.keyed("ab" * 32) != redactor.keyed("ac" * 32)
    assert redactor.keyed("ab" * 32) != Redactor(b"K" * 32).keyed("ab" * 32)
    assert redactor.keyed("") == ""


# ---------------------------------------------------------------- texts and events


def test_texts(redactor: Redactor) -> None:
    counts: dict[str, int] = {}
    clean = redactor.text("bad key sk-ant-api03-AAAAAAAAAAAAAAAAAAAA at https://me:pw@host/", counts)
    assert re.fullmatch(r"bad key redacted:v1:\w{32} at https://redacted:v1:\w{32}@host/", clean)
    assert counts == {"anthropic_key": 1, "userinfo": 1}
    assert redactor.text("nothing here", counts) == "nothing here"


def test_events_are_looked_at_in_every_string(redactor: Redactor) -> None:
    key = "ghp_" + "a" * 36
    clean = redactor.event({"a": [{"b": key}], "c": (key, 1, None, True)}, {})
    assert key not in str(clean)
    assert clean["c"][1:] == [1, None, True]


def test_suspicion_is_never_wrong_with_no(redactor: Redactor) -> None:
    assert redactor.suspects(b'{"effect":"key sk-ant-api03-AAAAAAAAAAAAAAAAAAAA"}')
    assert redactor.suspects(rb'{"effect":"{\"password\": \"x\"}"}')
    assert not redactor.suspects(b'{"session":"s","exchange":1}')


@pytest.mark.parametrize(
    ("places", "moves", "expected"),
    [
        ([0, 5, 10], [], [0, 5, 10]),
        ([0, 3, 6, 10], [(3, 6, 10)], [0, 3, 13, 17]),
        ([4, 5, 6], [(3, 6, 10)], [13, 13, 13]),
        ([4, 5, 6, 9], [(3, 6, 0), (7, 9, 1)], [3, 3, 3, 5]),
        ([2, 2, 8], [(0, 2, 4), (2, 4, 4)], [4, 4, 12]),
    ],
)
def test_places_move_with_what_was_replaced(
    places: list[int], moves: list[tuple[int, int, int]], expected: list[int]
) -> None:
    assert moved(places, moves) == expected


# ---------------------------------------------------------------- the key


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "redact.key"
    key = load_key(path)
    assert len(key) == 32
    assert load_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == [path]
    assert fresh_key() != fresh_key()


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "redact.key"
    load_key(path)
    path.chmod(0o644)
    with pytest.raises(TapeError, match="has mode 644, expected 600"):
        load_key(path)


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "redact.key"
    path.write_bytes(b"short")
    path.chmod(0o600)
    with pytest.raises(TapeError, match="has 5 bytes, expected 32"):
        load_key(path)
    (tmp_path / "link.key").symlink_to(path)
    with pytest.raises(TapeError, match="cannot use redaction key"):
        load_key(tmp_path / "link.key")


def test_a_key_among_subprotocols_is_replaced_and_the_others_stay() -> None:
    offered = "realtime, openai-insecure-api-key.plain-key-123, openai-beta.realtime-v1"
    (name, value), *_ = Redactor(b"k" * 32).head((("Sec-WebSocket-Protocol", offered),), {}).headers
    before, _, after = value.partition("openai-insecure-api-key.")
    assert (name, before, "plain-key" in value) == ("Sec-WebSocket-Protocol", "realtime, ", False)
    assert after.endswith(", openai-beta.realtime-v1")
    harmless = (("sec-websocket-protocol", "realtime, graphql-ws"),)
    assert Redactor(b"k" * 32).head(harmless, {}).headers == harmless
