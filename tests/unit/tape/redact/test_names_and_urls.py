"""Which names are secret, which pairs of a URL or a form are, and how places that overlap become one.

Covers faultwire.tape.redact.names, faultwire.tape.redact.url, faultwire.tape.redact.headers and
faultwire.tape.redact.edit.
"""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote

import pytest

from faultwire.tape.redact import headers
from faultwire.tape.redact.edit import MARK, Edit, merged
from faultwire.tape.redact.headers import Head, codings, role, roles
from faultwire.tape.redact.names import header_class, kept_scheme, key_offered, query_class
from faultwire.tape.redact.url import form_edits, pair_class, url_edits

KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"


# ---------------------------------------------------------------- names


@pytest.mark.parametrize("name", ["Authorization", " cookie ", "X-API-Key", "my-token", "x-vault-token"])
def test_a_header_that_is_secret_by_its_name(name: str) -> None:
    assert header_class(name) == "header"


@pytest.mark.parametrize("name", ["accept", "idempotency-key", "x-cache-key", "authorization-mode", "x-id"])
def test_a_header_that_is_none(name: str) -> None:
    assert header_class(name) is None


@pytest.mark.parametrize("name", ["api_key", "Code", " sig ", "x%2Damz-date", "access+key", "session_id"])
def test_a_parameter_that_is_secret_by_its_name(name: str) -> None:
    expected = None if name == "access+key" else "query"  # a blank is no part of a name
    assert query_class(name) == expected


@pytest.mark.parametrize("name", ["q", "page", "sort_key", "public-key", "idempotency%5Fkey"])
def test_a_parameter_that_is_none(name: str) -> None:
    assert query_class(name) is None


def test_a_scheme_is_kept_and_the_rest_is_not() -> None:
    assert kept_scheme("Bearer  abc\ndef") == ("Bearer  ", "abc\ndef")
    assert kept_scheme("AWS4-HMAC-SHA256 x y") == ("AWS4-HMAC-SHA256 ", "x y")
    assert kept_scheme("abc def") == ("", "abc def")
    assert kept_scheme("bearer") == ("", "bearer")


def test_a_key_that_a_subprotocol_offers_is_split_off() -> None:
    value = "realtime, OpenAI-Insecure-API-Key.abc, beta"
    assert key_offered(value) == ("realtime, OpenAI-Insecure-API-Key.", "abc", ", beta")
    assert key_offered("realtime, beta") == ("realtime, beta", "", "")


# ---------------------------------------------------------------- header fields


def test_what_a_field_is_to_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "_KNOWN", {})
    fields = {
        "Content-Type": headers.KIND,
        " content-encoding": headers.CODING,
        "Sec-WebSocket-Protocol": headers.OFFERS,
        "X-Api-Key": headers.SECRET,
        "accept": headers.PLAIN,
    }
    for _ in range(2):  # at first, and remembered
        assert [role(name) for name in fields] == list(fields.values())
        assert roles(tuple((name, "") for name in fields)) == list(fields.values())
    assert fields == headers._KNOWN
    assert roles((("accept", ""), ("never-seen-token", ""))) == [headers.PLAIN, headers.SECRET]
    assert roles(()) == []


def test_names_without_end_are_not_all_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headers, "_KNOWN", {})
    for number in range(5000):
        assert role(f"x-{number}") == headers.PLAIN
    assert len(headers._KNOWN) == 4096
    assert role("x-later-token") == headers.SECRET
    assert roles((("x-later-token", ""),)) == [headers.SECRET]


def test_codings_come_in_the_order_in_which_they_were_applied() -> None:
    assert codings(["GZIP, identity ,br", "", " deflate"]) == ("gzip", "br", "deflate")
    assert codings([]) == ()
    assert Head(()) == ((), "", ())


# ---------------------------------------------------------------- URLs


def places(text: str) -> list[tuple[str, str | None, int]]:
    """The values found, their classes and where one begins to look for them."""
    found = list(url_edits(text))
    assert all(edit.value == text[edit.start : edit.end] for edit in found)
    return [(edit.value, edit.what, edit.begin) for edit in found]


def test_secrets_in_urls_are_found_wherever_they_stand() -> None:
    text = "see https://h/x?a=1&api_key=abc&amp;Token=de#access_token=f&page=2 and /y?sig=g"
    assert places(text) == [
        ("abc", "query", text.index("&api_key")),
        ("de", "query", text.index("&amp;")),
        ("f", "query", text.index("#access")),
        ("g", "query", text.index("?sig")),
    ]


def test_a_common_name_needs_a_long_value() -> None:
    assert places("?state=open&code=404&key=1234567") == []
    assert [value for value, *_ in places("?State=12345678&code=12345678&key=12345678")] == ["12345678"] * 3
    assert places("?STATE=open&api_key=open")[0][0] == "open"
    assert len(places("?STATE=open&api_key=open")) == 1


def test_what_is_harmless_or_redacted_already_hides_nothing_behind_it() -> None:
    found = places(f"?sort_key=abcdefgh&sig={MARK}00&token=abc")
    assert [value for value, *_ in found] == ["abc"]


def test_a_pair_is_secret_by_its_name_or_by_what_it_says() -> None:
    assert pair_class("api_key", "x") == "query"
    assert pair_class("api_key", "") is None
    assert pair_class("q", "x") is None
    assert pair_class("q", KEY) is None, "found where the whole path is looked through"
    encoded = KEY.replace("-", "%2D")
    assert pair_class("q", encoded) is not None
    assert pair_class("q", encoded) != "query"
    assert pair_class("q", f"a+{KEY}") is not None
    assert pair_class("q", f"{MARK}%2D{encoded}") is None
    assert pair_class("q", "100%25+b") is None


def test_a_secret_in_the_name_of_a_pair_is_none_in_its_value() -> None:
    assert pair_class(KEY, "a+b") is None
    # The pattern's last `=` is what stands between name and value: nothing of the value is secret.
    padded = "AccountKey=" + b64encode(bytes(range(64))).decode()
    assert pair_class("q", quote(padded, safe="")) == "secret.azure-storage-key"
    assert pair_class(quote(padded[:-1], safe=""), "%20b") is None


def test_secret_fields_of_a_form_are_found_in_place() -> None:
    text = f"q=1&api_key=ab=c&empty&token=&x={KEY.replace('-', '%2D')}&&sig=z"
    found = form_edits(text)
    assert [edit.value for edit in found] == ["ab=c", KEY.replace("-", "%2D"), "z"]
    assert [text[edit.start : edit.end] for edit in found] == [edit.value for edit in found]
    assert [found[0].what, found[2].what] == ["query", "query"]
    assert form_edits("") == []


# ---------------------------------------------------------------- places that overlap


def test_places_are_sorted_and_those_that_touch_stay_apart() -> None:
    one, two = Edit(0, 3, "a", "abc"), Edit(3, 5, "b", "de")
    assert merged([two, one]) == [one, two]
    assert merged([]) == []


def test_the_first_of_several_that_overlap_swallows_the_others() -> None:
    first = Edit(2, 6, "a", "cdef", lead=1)
    assert merged([Edit(4, 9, "b", "efghi"), first]) == [first._replace(end=9)]
    assert merged([Edit(3, 5, "b", "de"), first]) == [first]
    assert merged([Edit(2, 4, "b", "cd"), first]) == [first], "of two that begin alike, the longer is first"
    plain = Edit(2, 6, "a", "cdef")
    assert merged([plain, Edit(3, 7, "b", "defg", lead=0)]) == [plain._replace(end=7, lead=0)]
    assert merged([plain, Edit(3, 7, "b", "defg")]) == [plain._replace(end=7, lead=-1)]
    assert merged([plain, Edit(5, 8, "b", ""), Edit(7, 9, "c", "")]) == [plain._replace(end=9)]


def test_one_must_look_as_far_left_as_what_shows_that_it_is_a_secret() -> None:
    assert [Edit(5, 6, "a", "", lead=lead).begin for lead in (-1, 0, 2)] == [5, 0, 2]
    assert Edit(5, 6, "a", "").begin == 5
