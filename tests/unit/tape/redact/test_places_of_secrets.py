"""Where a secret is found beside placeholders and beside what only looks like its beginning.

Covers faultwire.tape.redact.known_keys, faultwire.tape.redact.values and faultwire.tape.redact.text.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode

import pytest

from faultwire.tape.redact.edit import MARK, Edit
from faultwire.tape.redact.known_keys import known_edits
from faultwire.tape.redact.search import search
from faultwire.tape.redact.text import edits
from faultwire.tape.redact.values import values

TWILIO = "SK0123456789abcdef0123456789abcdef"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
PLACEHOLDER = MARK + "ab" * 16


@pytest.mark.parametrize(
    "text",
    [
        f"twilio {TWILIO}",
        f"{PLACEHOLDER} and then twilio {TWILIO}",
        f"twilio {TWILIO}, then {PLACEHOLDER}",
    ],
    ids=["alone", "behind a placeholder", "before one"],
)
def test_a_placeholder_elsewhere_hides_no_key(text: str) -> None:
    (found,) = known_edits(text)
    assert (found.value, found.what) == (TWILIO, "secret.twilio-api-key")
    assert found.lead == 0


@pytest.mark.parametrize("text", [f"{MARK}{TWILIO}", f"twilio {MARK}{TWILIO}"])
def test_a_placeholder_is_no_key(text: str) -> None:
    assert known_edits(text) == []


@pytest.mark.parametrize(
    "text", [JWT, f"eyJ {JWT}", f"eyJ.{JWT}", f"a.eyJx {JWT}"], ids=["alone", "word", "dot", "broken"]
)
def test_a_jwt_is_found_behind_what_begins_like_one(text: str) -> None:
    assert [(found.what, text[found.start : found.end]) for found in values(text)] == [("jwt", JWT)]


def test_a_jwt_begins_where_its_first_part_does() -> None:
    odd = JWT.replace("eyJhbGci", "eyJhbeyJhbGci")
    (found,) = values(f"x {odd}")
    assert (found.start, found.lead) == (2, 2)


def test_the_lead_of_a_value_is_where_its_shape_begins() -> None:
    assert edits("see ://u:pw@h") == [Edit(7, 11, "userinfo", "u:pw", "", 4)]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("{'password': 'x1'}", "x1"),
        ('{"password": "x2"}', "x2"),
    ],
)
def test_members_are_found_in_json_strings(text: str, secret: str) -> None:
    outer = json.dumps({"t": f"it is {text}"})
    (found,) = edits(outer)
    assert found.value == secret
    assert found.lead == outer.index("password") - (1 if text[1] == "'" else 2)


def test_a_bare_double_quote_in_a_json_string_ends_it() -> None:
    assert edits('{"t": "say \'password\': ", "u": "v"}') == []


def test_what_is_packed_is_looked_through_by_the_search_that_was_asked_for() -> None:
    run = b64encode(b"datadog api key: 0123456789abcdef0123456789abcdef").decode()
    packed = gzip.compress(b"datadog api key: 0123456789abcdef0123456789abcdef", mtime=0).decode("latin-1")
    for text in (f'{{"v": "{run}"}}', packed):
        assert edits(text) != []
        assert search().edits(text, 0, "none") == []
