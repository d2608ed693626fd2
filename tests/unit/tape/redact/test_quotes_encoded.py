r"""Names of secrets whose quotes are encoded: `\u0022` (as .NET writes it), `%22` in forms, `&quot;`.

Covers faultwire.tape.redact.text and faultwire.tape.redact.user_matches.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, quote, quote_plus

import pytest

from faultwire.tape.record.body import Body
from faultwire.tape.redact.edit import MARK
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.rules import read_rules
from faultwire.tape.redact.text import edits

SECRETS = ('{"password": "hunter2-secret"}', '{"password": 73918264}', "{'password': 'hunter2-secret'}")
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
OWN = {"patterns": [{"id": "own", "regex": "73918264|hunter2-secret"}]}


def stored(text: str, kind: str, rules: Any = None) -> str:
    """What is on the tape of a body."""
    body = Body(Redactor(b"k" * 32, read_rules(rules)), Head((), kind), {})
    body.add(((0, text.encode()),))
    return body.release(final=True)[0].decode()


def in_dotnet(text: str) -> str:
    return json.dumps({"t": text}).replace('\\"', "\\u0022").replace("'", "\\u0027")


def in_html(text: str) -> str:
    return json.dumps({"t": f"<b>{html.escape(text)}</b>"})


def in_form(text: str) -> str:
    return f"a=1&data={quote(text, safe='')}&b=2"


def in_plus_form(text: str) -> str:
    return f"a=1&data={quote_plus(text)}&b=2"


def in_query(text: str) -> str:
    return json.dumps({"t": f"https://h.example/a?data={quote(text, safe='')}&b=2"})


def read(text: str, write: Callable[[str], str]) -> str:
    """What a carrier holds, decoded as its reader would."""
    if write in (in_form, in_plus_form):
        return parse_qs(text)["data"][0]
    inner: str = json.loads(text)["t"]
    if write is in_html:
        return html.unescape(inner.removeprefix("<b>").removesuffix("</b>"))
    return parse_qs(inner.partition("?")[2])["data"][0] if write is in_query else inner


WRITERS = (in_dotnet, in_html, in_form, in_plus_form, in_query)


@pytest.mark.parametrize("rules", [None, OWN], ids=["by name", "by a rule"])
@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("write", WRITERS)
def test_a_secret_goes_and_its_document_can_still_be_read(
    write: Callable[[str], str], secret: str, rules: Any
) -> None:
    text = stored(write(secret), FORM if write in (in_form, in_plus_form) else JSON, rules)
    assert "73918264" not in text
    assert "hunter2" not in text
    found = read(text, write)
    if secret.startswith("{'"):
        assert found.startswith("{'password': '" + MARK)
    else:
        assert json.loads(found)["password"].startswith(MARK)


@pytest.mark.parametrize("write", WRITERS)
def test_another_name_stays(write: Callable[[str], str]) -> None:
    text = write('{"passage": "hunter2-public"}')
    assert stored(text, FORM if write in (in_form, in_plus_form) else JSON) == text


def test_a_query_is_cleaned_of_it_too() -> None:
    path = f"/a?data={quote(SECRETS[0], safe='')}"
    assert "hunter2" not in Redactor(b"k" * 32).text(path, {})


@pytest.mark.parametrize(("deep", "found"), [(1, True), (6, True), (7, False)])
def test_documents_in_strings_are_looked_through_six_deep(deep: int, found: bool) -> None:
    text = SECRETS[0]
    for _ in range(deep):
        text = json.dumps(text)
    assert bool(edits(text)) is found


def percent(text: str) -> str:
    return quote(text, safe="")


def twice(text: str) -> str:
    return percent(percent(text))


NUMBER = '{"password": 73918264}'
IN_HTML = '<b>"{&#92;"password&#92;": 73918264}"</b>'
DOUBLE = "%257B%2522password%2522%253A%2520"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(twice(NUMBER), DOUBLE + "%2522R%2522%257D", id="percent in percent"),
        pytest.param(
            percent(f"https://h.example/?data={percent(NUMBER)}"),
            percent("https://h.example/?data=") + DOUBLE + "%2522R%2522%257D",
            id="percent in a URL in percent",
        ),
        pytest.param(
            percent(json.dumps({"t": NUMBER})),
            percent('{"t": "{\\"password\\": \\"R\\"}"}'),
            id="a string in percent",
        ),
        pytest.param(
            percent(html.escape(NUMBER)),
            percent("{&quot;password&quot;: &quot;R&quot;}"),
            id="HTML in percent",
        ),
        pytest.param(
            percent(IN_HTML),
            percent('<b>"{&#92;"password&#92;": &#92;&quot;R&#92;&quot;}"</b>'),
            id="a string in HTML in percent",
        ),
        pytest.param(
            IN_HTML, '<b>"{&#92;"password&#92;": &#92;&quot;R&#92;&quot;}"</b>', id="a string in HTML"
        ),
        pytest.param(
            html.escape(html.escape(NUMBER)),
            "{&amp;quot;password&amp;quot;: &amp;quot;R&amp;quot;}",
            id="HTML in HTML",
        ),
    ],
)
def test_a_placeholder_has_its_quotes_as_both_encodings_around_it_write_them(
    text: str, expected: str
) -> None:
    assert re.sub(rf"{MARK}[0-9a-f]{{32}}", "R", stored(f"data={text}", "text/plain")) == f"data={expected}"


@pytest.mark.parametrize("encode", [percent, twice])
def test_percent_encoding_is_undone_as_often_as_it_was_done(encode: Callable[[str], str]) -> None:
    found = stored(f"data={encode(SECRETS[0])}", FORM)
    assert "hunter2" not in found
    assert found.startswith("data=" + encode('{"password": "') + MARK)
    assert found.endswith(encode('"}'))
    other = f"data={encode(SECRETS[0].replace('password', 'passage'))}"
    assert stored(other, FORM) == other


LEFT = {"encodeURIComponent": "!*'()", "encodeURI": ";,/:@$!*'()", "PathEscape": "$+:@"}
"""What encoders leave as it is, besides letters, digits and -_.~ (& = ? # are borders for every reader)."""


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
@pytest.mark.parametrize("word", ["hunter2-secret", "hu!nter*2(s)$,;cret", "it's:a@secret/"])
def test_of_a_password_that_is_encoded_nothing_is_left_whatever_stands_in_it(word: str, left: str) -> None:
    text = "a=1&data=" + quote(json.dumps({"user": "me", "password": word}), safe=left) + "&b=2"
    assert [text[edit.start : edit.end] for edit in edits(text)] == [quote(word, safe=left)]
    assert edits(text.replace("password", "passage")) == []


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
@pytest.mark.parametrize("word", ["me:hunter2", "me:hu!nter*2(s)$,;"])
def test_so_it_is_with_the_user_of_a_url_within_a_url(word: str, left: str) -> None:
    text = "GET /fetch/" + quote(f"https://{word}@h.example/a", safe=left.replace("/", "")) + "/b"
    assert [text[edit.start : edit.end] for edit in edits(text)] == [quote(word, safe=left.replace("/", ""))]
    assert edits(text.replace("@", "").replace("%40", "")) == []
