from __future__ import annotations

import hashlib
import hmac
import os
import re
import stat
from pathlib import Path

import pytest

from faultwire.errors import TapeError
from faultwire.tape.redact import redactor as redactor_module
from faultwire.tape.redact.edit import Edit
from faultwire.tape.redact.headers import CODING, KIND, PLAIN, SECRET, Head, codings, role, roles
from faultwire.tape.redact.names import header_class, kept_scheme, query_class
from faultwire.tape.redact.redactor import Redactor, fresh_key, load_key, moved
from faultwire.tape.redact.rules import read_rules

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


def test_what_is_forgotten_is_worked_out_again(redactor: Redactor) -> None:
    first = redactor.placeholder("header", "0", {})
    for n in range(3000):
        redactor.placeholder("header", str(n), {})
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
    assert re.fullmatch(r"/a\?token=redacted:v1:\w{32}&b=\?c", redactor.path("/a?token=x&b=?c", {}))
    assert redactor.path("/a?token=x=y", {}) == f"/a?token=redacted:v1:{mac('query', 'x=y')}"
    assert redactor.path("/a?", {}) == "/a?"


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
        ([7, 8, 9], [(3, 6, 10), (7, 9, 1)], [14, 15, 15]),
        # Where something stands in for nothing, what comes after it goes behind it.
        ([2, 3, 4], [(3, 3, 2)], [2, 5, 6]),
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
    assert after.startswith(f"redacted:v1:{mac('header', 'plain-key-123')},")
    assert (name, before, "plain-key" in value) == ("Sec-WebSocket-Protocol", "realtime, ", False)
    assert after.endswith(", openai-beta.realtime-v1")
    harmless = (("sec-websocket-protocol", "realtime, graphql-ws"),)
    assert Redactor(b"k" * 32).head(harmless, {}).headers == harmless


# ---------------------------------------------------------------- to the letter


def mac(what: str, value: str, key: bytes = b"k" * 32) -> str:
    """As the documentation says: over class, length and value."""
    raw = value.encode("utf-8", "surrogatepass")
    said = f"{len(what)}:{what}{len(raw)}:".encode() + raw
    return hmac.digest(key, said, "sha256").hex()[:32]


@pytest.mark.parametrize("value", ["abc", "", "ä", "\udc80", "x" * 5000], ids=len)
def test_a_placeholder_is_the_digest_that_is_documented(redactor: Redactor, value: str) -> None:
    assert redactor.placeholder("header", value, {}) == f"redacted:v1:{mac('header', value)}"
    assert redactor.keyed("ab") == mac("exchange", "ab")
    assert redactor.keyed("") == ""
    assert redactor.keyed("ac") == mac("exchange", "ac")


def test_one_placeholder_counts_every_time(redactor: Redactor) -> None:
    counts = {"header": 3, "other": 1}
    first = redactor.placeholder("header", "abc", counts)
    assert redactor.placeholder("header", first, counts) == first
    assert counts == {"header": 5, "other": 1}


def test_the_first_media_type_counts_and_codings_add_up(redactor: Redactor) -> None:
    sent = (
        ("content-type", "Text/HTML"),
        ("authorization", "Bearer abc"),
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
        ("accept", "x"),
        ("x-api-key", "k"),
    )
    head = redactor.head(sent, {})
    assert (head.kind, head.codings) == ("text/html", ("gzip",))
    assert [name for name, _ in head.headers] == [name for name, _ in sent]
    assert head.headers[1] == ("authorization", f"Bearer redacted:v1:{mac('header', 'abc')}")
    assert head.headers[5] == ("x-api-key", f"redacted:v1:{mac('header', 'k')}")
    assert [head.headers[at] for at in (0, 2, 3, 4)] == [sent[at] for at in (0, 2, 3, 4)]


def test_a_scheme_without_a_secret_stays(redactor: Redactor) -> None:
    counts: dict[str, int] = {}
    sent = (("authorization", ""), ("cookie", "a=b"))
    assert redactor.head(sent, counts).headers == (sent[0], ("cookie", f"redacted:v1:{mac('header', 'a=b')}"))
    assert counts == {"header": 1}


def test_what_the_rules_name_in_heads(redactor: Redactor) -> None:
    rules = read_rules({"headers": ["x-tenant*"], "patterns": [{"id": "staff", "regex": "EMP-[0-9]{4}"}]})
    ruled, counts = Redactor(b"k" * 32, rules), dict[str, int]()
    place = f"redacted:v1:{mac('rule.staff', 'EMP-1234')}"
    sent = (
        ("x-tenant", "Bearer abc"),
        ("X-Tenant-2", ""),
        ("x-note", "EMP-1234, EMP-1234 and EMP-12"),
        ("content-type", "EMP-1234"),
        ("authorization", "EMP-1234"),
        ("x-plain", "nothing"),
        ("x-again", f"{place} EMP-1234"),
    )
    assert ruled.head(sent, counts).headers == (
        ("x-tenant", f"Bearer redacted:v1:{mac('rule.header', 'abc')}"),
        ("X-Tenant-2", ""),
        ("x-note", f"{place}, {place} and EMP-12"),
        ("content-type", "EMP-1234"),
        ("authorization", f"redacted:v1:{mac('header', 'EMP-1234')}"),
        ("x-plain", "nothing"),
        ("x-again", f"{place} {place}"),
    )
    assert counts == {"rule.header": 1, "rule.staff": 3, "header": 1}
    assert ruled.error("EMP-1234 sk-ant-api03-AAAAAAAAAAAAAAAAAAAA", {}) == (
        f"{place} redacted:v1:{mac('anthropic_key', 'sk-ant-api03-AAAAAAAAAAAAAAAAAAAA')}"
    )
    assert redactor.error("EMP-1234", {}) == "EMP-1234"


def test_a_rule_that_matches_a_part_of_a_placeholder_leaves_it_whole() -> None:
    ruled = Redactor(b"k" * 32, read_rules({"patterns": [{"id": "word", "regex": "redacted|EMP-[0-9]{4}"}]}))
    place, counts = f"redacted:v1:{mac('rule.word', 'EMP-1234')}", dict[str, int]()
    assert ruled.head((("x-note", f"{place} EMP-1234"),), counts).headers == (("x-note", f"{place} {place}"),)
    assert ruled.error(f"{place} EMP-1234", counts) == f"{place} {place}"
    assert counts == {"rule.word": 2}


def test_what_the_rules_name_in_paths() -> None:
    rules = read_rules({"patterns": [{"id": "staff", "regex": "EMP-[0-9]{4}|ä+"}]})
    ruled, counts = Redactor(b"k" * 32, rules), dict[str, int]()
    place = f"redacted:v1:{mac('rule.staff', 'EMP-1234')}"
    assert ruled.path("/a/EMP-1234?q=EMP-1234&api_key=x", counts) == (
        f"/a/{place}?q={place}&api_key=redacted:v1:{mac('query', 'x')}"
    )
    assert counts == {"rule.staff": 2, "query": 1}
    assert ruled.path("/half\udc80/EMP-1234", {}) == f"/half\udc80/{place}"
    only = Redactor(b"k" * 32, read_rules({"headers": ["x"]}))
    assert only.path("/a/EMP-1234", {}) == "/a/EMP-1234"
    inside = Redactor(b"k" * 32, read_rules({"paths": ["$..ssn"]}))
    assert inside.path('{"ssn":"x"}', {}) == '{"ssn":"x"}', "those are of bodies"


def test_a_path_that_is_a_secret_at_its_host(redactor: Redactor) -> None:
    path = "/services/T0123456789/B0123456789/aB3dE5fG7hJ9kL1mN3pQ5rS7"
    assert redactor.path(path, {}) == path
    left = redactor.path(f"{path}?token=x", {}, "hooks.slack.com")
    assert left == (
        f"/redacted:v1:{mac('secret.slack-webhook', path[1:])}?token=redacted:v1:{mac('query', 'x')}"
    )


def test_edits_of_a_body_and_where_its_places_went(redactor: Redactor) -> None:
    edits = [Edit(2, 4, "a", "x"), Edit(4, 5, None, ""), Edit(6, 8, "b", "12", '"')]
    counts: dict[str, int] = {}
    new, moves = redactor.apply(b"01234567\xe4", edits, counts)
    first, second = (f"redacted:v1:{mac(*one)}".encode() for one in (("a", "x"), ("b", "12")))
    assert new == b"01" + first + b"5" + b'"' + second + b'"\xe4'
    assert moves == [(2, 4, 44), (4, 5, 0), (6, 8, 46)]
    assert counts == {"a": 1, "b": 1}
    assert redactor.apply(b"abc", [], counts) == (b"abc", [])


def test_a_number_in_a_text_gets_quotes(redactor: Redactor) -> None:
    left = redactor.text('{"password": 123456} and more', {})
    assert left == f'{{"password": "redacted:v1:{mac("key", "123456")}"}} and more'


def test_an_event_is_looked_at_as_it_would_be_stored(redactor: Redactor) -> None:
    key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA"
    place = f"redacted:v1:{mac('anthropic_key', key)}"
    counts: dict[str, int] = {}
    clean = redactor.checked(
        {
            "headers": ((key, key), ("x", "y")),
            "path": f"/a/{key}?b=1",
            "more": {"deep": [key, {key: key}, 1.5]},
            "half": "\udc80",
        },
        counts,
    )
    assert clean == {
        "headers": [[place, place], ["x", "y"]],
        "path": f"/a/{place}?b=1",
        "more": {"deep": [place, {key: place}, 1.5]},
        "half": "\\udc80",
    }
    assert counts == {"anthropic_key": 5}
    same = {"headers": (("a", "b"),), "path": None, "n": 1}
    assert redactor.checked(same, {}) is same
    assert redactor.event({"path": [key]}, {}) == {"path": [place]}
    # Only in a path is every pair behind a question mark one of a query.
    query = "/a?key=b"
    assert redactor.event({"path": query, "note": query}, {}) == {
        "path": f"/a?key=redacted:v1:{mac('query', 'b')}",
        "note": query,
    }


# ---------------------------------------------------------------- the key, in every way that it may be


def refused(path: Path) -> tuple[str, str, str | None]:
    with pytest.raises(TapeError) as error:
        load_key(path)
    return error.value.message, error.value.code, error.value.hint


def test_the_errors_of_a_key_name_it_and_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "redact.key"
    for size in (31, 33, 40):
        path.write_bytes(b"k" * size)
        path.chmod(0o600)
        found = min(size, 33)
        said = f"redaction key `{path}` has {found} bytes, expected 32"
        assert refused(path) == (said, "tape.key", None)
    path.write_bytes(b"k" * 32)
    path.chmod(0o400)
    assert load_key(path) == b"k" * 32
    for mode in (0o610, 0o601):
        path.chmod(mode)
        said = f"redaction key `{path}` has mode {mode:03o}, expected 600"
        assert refused(path) == (said, "tape.key", f"chmod 600 {path}")
    (tmp_path / "file").write_text("")
    below = tmp_path / "file" / "redact.key"
    said = f"cannot use redaction key `{below}`: "
    assert refused(below)[0].startswith(said)
    assert refused(below)[1] == "tape.key"


def test_a_new_key_is_for_its_owner_alone_whatever_the_mask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        load_key(tmp_path / "deep" / "keys" / "redact.key")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "deep" / "keys").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "deep" / "keys" / "redact.key").stat().st_mode) == 0o600


def test_of_two_that_make_a_key_at_once_the_first_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "redact.key"
    made = redactor_module.fresh_key

    def late() -> bytes:
        path.write_bytes(b"f" * 32)
        path.chmod(0o600)
        return made()

    monkeypatch.setattr(redactor_module, "fresh_key", late)
    assert load_key(path) == b"f" * 32
    assert list(tmp_path.iterdir()) == [path], "no draft is left"


def test_a_key_that_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "redact.key"
    key = load_key(path)
    monkeypatch.setattr(redactor_module, "fresh_key", lambda: pytest.fail("made another"))
    assert load_key(path) == key


def test_nobody_can_put_a_file_in_the_place_of_a_new_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redactor_module.dice, "token", lambda size: "ab" * size)
    waiting = tmp_path / f"redact.key.{'ab' * 4}"
    waiting.write_bytes(b"mine")
    assert refused(tmp_path / "redact.key") == (
        f"cannot use redaction key `{tmp_path / 'redact.key'}`: File exists",
        "tape.key",
        None,
    )
    assert waiting.read_bytes() == b"mine"


@pytest.mark.parametrize("codes", [10_000, pytest.param(1_000_000, marks=pytest.mark.nightly)])
def test_nobody_without_the_key_finds_a_short_secret_by_trying_all(codes: int) -> None:
    """Every code of few digits is tried: bare, under a key of nothing and under another project's key."""
    secret = f"{codes * 7 // 10:06}"
    shown = Redactor(b"k" * 32).placeholder("field", secret, {})
    wanted, keyless, strange = shown.removeprefix("redacted:v1:"), Redactor(b""), Redactor(b"l" * 32)
    for number in range(codes):
        code = f"{number:06}"
        bare = f"5:field6:{code}".encode()
        guesses = (
            hashlib.sha256(code.encode()).hexdigest()[:32],
            hashlib.sha256(bare).hexdigest()[:32],
            keyless._placeholders.digest("field", code),
            strange._placeholders.digest("field", code),
        )
        assert wanted not in guesses, code
    ours = Redactor(b"k" * 32)
    digest = ours._placeholders.digest
    hits = [number for number in range(codes) if digest("field", f"{number:06}") == wanted]
    assert hits == [int(secret)], "the control: whoever has the key finds it"
