from __future__ import annotations

import json

import pytest

from faultwire.faults.response.malformed_body import MalformedBody, broken

MISTAKES = ("unclosed", "trailing_comma", "unquoted_key", "html_after")


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize(
    "body", [b'{"a": [1, 2], "b": "c"}', b"[1, 2]", b"[]", b"{}\n", b"12", b'"x"', b"null"]
)
def test_no_strict_parser_reads_it(mistake, body):
    with pytest.raises(json.JSONDecodeError):
        json.loads(broken(body, mistake))


def test_the_mistakes_are_what_they_are_called():
    body = b'{"a": 1}'
    assert [broken(body, mistake) for mistake in MISTAKES] == [
        b'{"a": 1',
        b'{"a": 1,}',
        b'{a: 1}',
        b'{"a": 1}\n<html><body><h1>502 Bad Gateway</h1></body></html>',
    ]  # fmt: skip


def test_what_is_no_json_is_left_alone(run, web, dice):
    mutator = MalformedBody().start(web, dice())
    (sent,) = run(mutator, web, [b"<html>"], "body")
    assert sent.data == b"<html>"
    assert mutator.effect is None


def test_the_effect_names_the_mistake(run, web, dice):
    mutator = MalformedBody(mistake="trailing_comma").start(web, dice())
    (sent,) = run(mutator, web, [b'{"a": 1}'], "body")
    assert sent.data == b'{"a": 1,}'
    assert mutator.effect == "JSON broken: trailing_comma"
