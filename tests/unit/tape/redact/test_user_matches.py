from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from faultwire.tape.record.body import Body
from faultwire.tape.redact.edit import MARK
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.rules import read_rules
from faultwire.tape.redact.user_matches import rule_edits, text_edits

MAIL = "jane.doe@firm.org"
ALL: dict[str, Any] = {
    "pii": True,
    "paths": ["$.user.name", "$..ssn", "$.list[-1]"],
    "patterns": [{"id": "employee", "regex": "EMP-[0-9]{6}"}, {"id": "wide", "regex": "WIDE.{0,40}END"}],
}


def stored(data: bytes, kind: str, cuts: tuple[int, ...] = (), section: Any = ALL) -> bytes:
    """What is on the tape of a body that comes in pieces, released as early as it may be."""
    body = Body(Redactor(b"k", read_rules(section)), Head((), kind), {})
    out = b""
    for start, end in pairwise((0, *sorted(cuts), len(data))):
        body.add(((0, data[start:end]),))
        out += body.release(final=False)[0]
    return out + body.release(final=True)[0]


@pytest.mark.parametrize(
    "document",
    [
        {"user": {"name": "Jane"}},
        {"user": {"name": {"first": "Jane", "last": "Doe"}}},
        {"user": {"name": 12}},
        {"a": [{"b": {"ssn": "x"}}], "ssn": [1, 2]},
        {"list": [1, "last"]},
        {"text": f"write to {MAIL}, thanks"},
        {"text": f'"quoted" {MAIL}\n{MAIL}'},
        {"arguments": json.dumps({"to": MAIL, "n": 1, "deep": json.dumps({"to": MAIL})})},
        {"who": "EMP-123456", "n": 1.5},
        {"text": 'WIDE "x", "y": 1 END'},
        ["WIDE", 7, {"c": "END"}],
        {"card number": 4111111111111111, "n": 3},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_documents_stay_valid_and_say_nothing(document: Any, indent: int | None) -> None:
    if isinstance(document, list):
        indent = None  # what `.` does not go over
    data = json.dumps(document, indent=indent).encode()
    out = stored(data, "application/json")
    assert out != data
    json.loads(out)
    assert MARK.encode() in out
    for secret in (b"Jane", b"Doe", MAIL.encode(), b"EMP-", b'"last"', b"4111"):
        assert secret not in out.replace(b'"last":', b""), (secret, out)


def test_what_no_rule_covers_stays() -> None:
    data = b'{"user":{"names":"x"},"lists":[1],"ssn":null,"n":123456,"at":1732233600,"id":"chatcmpl-123"}'
    assert stored(data, "application/json") == data


def test_a_document_without_its_type_is_one() -> None:
    assert b"Jane" not in stored(b'{"user": {"name": "Jane"}}', "", (5, 12))


def test_a_document_cut_short_is_not_kept() -> None:
    out = stored(b'{"user": {"name": "Ja', "application/json")
    assert out.startswith(MARK.encode())
    assert b"Ja" not in out


def sse(*texts: str) -> bytes:
    deltas = [json.dumps({"choices": [{"delta": {"content": text}}]}) for text in texts]
    return "".join(f"data: {delta}\n\n" for delta in (*deltas,)).encode() + b"data: [DONE]\n\n"


def said(out: bytes) -> str:
    events = [line[6:] for line in out.decode().split("\n") if line.startswith("data: {")]
    return "".join(json.loads(event)["choices"][0]["delta"]["content"] for event in events)


@given(st.lists(st.integers(0, 400), max_size=12), st.lists(st.integers(1, 40), max_size=12))
def test_a_stream_says_nothing_however_it_is_cut(cuts: list[int], parts: list[int]) -> None:
    text = f"hello, my address is {MAIL} and my number EMP-123456, good bye"
    places = [0, *sorted({part % len(text) for part in parts}), len(text)]
    data = sse(*(text[a:b] for a, b in pairwise(places) if a < b))
    out = stored(data, "text/event-stream", tuple(cut % len(data) for cut in cuts))
    told = said(out)
    assert told.startswith("hello, my address is " + MARK)
    assert told.endswith(", good bye")
    assert MAIL not in told
    assert "EMP-" not in told
    assert out.endswith(b"data: [DONE]\n\n")


@given(st.lists(st.integers(0, 400), max_size=12))
def test_paths_reach_into_the_events_of_a_stream(cuts: list[int]) -> None:
    events = [{"user": {"name": f"Jane{n}"}, "n": n} for n in range(5)]
    for kind, data in (
        ("text/event-stream", "".join(f"data: {json.dumps(one)}\n\n" for one in events).encode()),
        ("application/x-ndjson", "".join(f"{json.dumps(one)}\n" for one in events).encode()),
    ):
        out = stored(data, kind, tuple(cut % len(data) for cut in cuts))
        assert b"Jane" not in out
        lines = [line.removeprefix("data: ") for line in out.decode().splitlines() if line]
        assert [json.loads(line)["n"] for line in lines] == [0, 1, 2, 3, 4]


@given(st.lists(st.integers(0, 2000), max_size=12))
def test_plain_text_and_forms(cuts: list[int]) -> None:
    text = b"x" * 700 + b" " + MAIL.encode() + b" and EMP-123456 " + b"y" * 700
    out = stored(text, "text/plain", tuple(cut % len(text) for cut in cuts))
    assert MAIL.encode() not in out
    assert b"EMP-" not in out
    form = stored(b"a=1&mail=jane.doe%40firm.org&b=2", "application/x-www-form-urlencoded")
    assert form.startswith(b"a=1&mail=" + MARK.encode())
    assert form.endswith(b"&b=2")


def test_without_rules_nothing_of_it_is_touched() -> None:
    data = json.dumps({"user": {"name": "Jane"}, "text": MAIL, "who": "EMP-123456"}).encode()
    assert stored(data, "application/json", section=None) == data


def test_an_edit_has_the_place_and_the_value_of_its_match() -> None:
    rules, text = read_rules(ALL), f"write to {MAIL} now"
    for edits in (rule_edits(text, rules), text_edits(text, rules)):
        assert [(edit.start, edit.end, edit.value) for edit in edits] == [(9, 9 + len(MAIL), MAIL)]
    assert rule_edits("write to nobody", rules) == []


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "application/x-ndjson", ""])
def test_a_byte_order_mark_hides_no_document(kind: str) -> None:
    one, two = b'{"user": {"name": "Jane"}}', b'{"user": {"name": "Jack"}}'
    for body in (one, one + b"\n" + two + b"\n", b"data: " + one + b"\n\n"):
        out = stored(b"\xef\xbb\xbf" + body, kind)
        assert out.startswith(b"\xef\xbb\xbf")
        assert b"Jane" not in out
        assert b"Jack" not in out


# ---------------------------------------------------------------- places, to the character

RULES = read_rules(
    {
        "patterns": [
            {"id": "wide", "regex": "WIDE.{0,40}END"},
            {"id": "num", "regex": "77[0-9.,eE+-]*|[0-9]*99"},
            {"id": "emp", "regex": "EMP-[0-9]{6}"},
            {"id": "name", "regex": "Zoë-[0-9]+"},
            {"id": "odd", "regex": "X-[0-9]+"},
            {"id": "first", "regex": "^Q[0-9]+"},
        ]
    }
)
PATHS = read_rules({"paths": ["$.a", "$..ssn", "$.list[-1]", "$.first[0]", "$.all.*"]})
LATIN = "Zoë-7".encode().decode("latin-1")
ESCAPED = "EMP-\\u0031\\u0032\\u0033456"


def places(text: str, rules: Any) -> list[tuple[str, str | None, str, str]]:
    """What is replaced as it stands in the text, its class, its value and its quote."""
    found = rule_edits(text, rules)
    assert all(edit.lead == -1 for edit in found)
    return [(text[edit.start : edit.end], edit.what, edit.value, edit.quote) for edit in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"t": "WIDE x", "y": 1, "z": "END"}', ["WIDE x", "y", "1!", "z", "END"]),
        ('["WIDE", 7, {"c": "END"}]', ["WIDE", "7!", "c", "END"]),
        ('["WIDE", 7, 8.5 , "END"]', ["WIDE", "7!", "8.5!", "END"]),
        ('["WIDE", x, "END"]', ["WIDE", "x", "END"]),
        ('{"n": 1.5e77, "m": 12399}', ["1.5e77!", "12399!"]),
        ('{"n": 77, "m": -1.5E+99}', ["77!", "-1.5E+99!"]),
        ('{"n": 1.599e5}', ["1.599e5!"]),
        ("[77,99]", ["77!", "99!"]),
        ("77", ["77!"]),
        (" 77 ", ["77!"]),
        ('{"n":77\n}', ["77!"]),
        ("5 apples 1299 and 99", ["1299", "99"]),
        ("[ 99 apples", ["99"]),
        ("apples 99 ]", ["99"]),
        ('say "WIDE" END and "x"\n"y', ["WIDE", "END"]),
        ('"a" and WIDE END, "b"', ["WIDE END"]),
        ('"\n WIDE "END', ["WIDE", "END"]),
        ("WIDE  END, 1", ["WIDE  END"]),
        ("mail=EMP-123456&x", ["EMP-123456"]),
        ('"WIDE", 7, "END"', ["WIDE", "7!", "END"]),
        ('\n"WIDE", 7, "END"', ["WIDE", "7!", "END"]),
        ('{"n": 577}', ["577!"]),
        ('{"n": 77, "m": 5}', ["77!"]),
        ("77" + " " * 64 + "x", ["77!"]),  # what follows is looked for in 64 characters
        ("77" + " " * 63 + "x", ["77"]),
        ("X77", ["77"]),
        ("a 577 b", ["577"]),
        ("5X-12", ["X-12"]),
        ("a Q12 100% Q13 b", []),
        (f'"WIDE{MARK}00END"', [f"WIDE{MARK}00END"]),
        (f'WIDE "{MARK}00" END', ["WIDE", "END"]),
    ],
)
def test_a_match_is_cut_down_to_strings_and_numbers(text: str, expected: list[str]) -> None:
    """`!` marks a number that becomes a string."""
    found = places(text, RULES)
    assert [was + ("!" if quote == '"' else quote) for was, _, _, quote in found] == expected
    assert all(was == value for was, _, value, _ in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":"b \\" WIDE q END"}', [("WIDE q END", "rule.wide", "WIDE q END", "")]),
        (f'{{"a":"x","b":"{ESCAPED}"}}', [(ESCAPED, "rule.emp", "EMP-123456", "")]),
        ('{"a":"{\\"n\\": 12399}"}', [("12399", "rule.num", "12399", '\\"')]),
        (
            json.dumps({"a": json.dumps({"b": '{"n": 12399}'})}),
            [("12399", "rule.num", "12399", '\\\\\\"')],
        ),
        (
            "mail=EMP%2D123456&b=EMP-123456",
            [("EMP%2D123456", "rule.emp", "EMP-123456", ""), ("EMP-123456", "rule.emp", "EMP-123456", "")],
        ),
        (
            f'EMP-123456 EMP%2D123456 "{ESCAPED}"',
            [
                ("EMP-123456", "rule.emp", "EMP-123456", ""),
                ("EMP%2D123456", "rule.emp", "EMP-123456", ""),
                (ESCAPED, "rule.emp", "EMP-123456", ""),
            ],
        ),
        ("Zoë-7".encode().decode("latin-1"), [(LATIN, "rule.name", LATIN, "")]),
        ('{"a":"\\n Zo\\u00eb-7"}', [("Zo\\u00eb-7", "rule.name", "Zoë-7", "")]),
        (
            '["\\u0043", "\\u0044", "EMP-123456"]',
            [("EMP-123456", "rule.emp", "EMP-123456", "")],
        ),
        ('WIDE "\\u0041\\u0042" END', [("WIDE", "rule.wide", "WIDE", ""), ("END", "rule.wide", "END", "")]),
    ],
)
def test_what_is_escaped_is_looked_through_decoded(text: str, expected: Any) -> None:
    found = places(text, RULES)
    if '"\\u0041' in text:
        found = [one for one in found if one[0] in ("WIDE", "END")]
    assert found == expected


@pytest.mark.parametrize(("deep", "found"), [(1, True), (4, True), (5, False)])
def test_strings_in_strings_are_looked_through_four_deep(deep: int, found: bool) -> None:
    text = '"EMP-12345\\u0036"'
    for _ in range(deep - 1):
        text = json.dumps(text)
    assert bool(rule_edits(text, RULES)) is found


@pytest.mark.parametrize(("regex", "text"), [(" {3}", "   "), (",", "[1,5]"), ('":"', '{"a":"v"}')])
def test_what_only_matches_structure_is_left_alone(regex: str, text: str) -> None:
    rules = read_rules({"patterns": [{"id": "structure", "regex": regex}]})
    assert rules is not None
    assert rules.in_text(text), "the control"
    assert rule_edits(text, rules) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "x", "all": {"p": 1, "q": [2]}}', ["x", "1!", "[2]!"]),
        (' {"a": "x"} \n', ["x"]),
        ('{"a": "x"', ['{"a": "x"?']),
        ('[1, {"a"', ['[1, {"a"?']),
        ('{"a": "x"}\n{"a": 12}\n{bad\n[1]', ["x", "12!", "{bad?"]),
        ('data: {"a": "x"}\n\ndata: {"a": \n\n', ["x", '{"a": ?']),
        ('data: [DONE]\n\ndata:{"a": "y"}\r\n', ["y"]),
        ('{"a": null}', []),
        ('{"a": ""}', []),
        ('{"a": "redacted:v1:00"}', []),
        ('{"a": 0}', ["0!"]),
        ('{"list": [1, "l"], "first": ["f", 2]}', ["l", "f"]),
        ('{"list": [], "first": {"0": 1}}', []),
        ('{"ssn": {"ssn": "x"}}', ['{"ssn": "x"}!']),
        ('{"x": [{"y": {"ssn": "s"}}], "b": {"a": 1}}', ["s"]),
        ('{"all":  {"p": "Ã©"}}', ["Ã©"]),
        ("plain", []),
        ('{"a": "x"}X', ['{"a": "x"}X?']),
        ('{"a": "x"}\x0c', ['{"a": "x"}\x0c?']),
        ('{"a": 1,  ', ['{"a": 1,?']),
        ('\xef\xbb\xbf{\n"a": "x"\n}', ["x"]),
        ('{"all": [\n1]}\n', ["1!"]),
        ('[\n{"ssn": "s"},\n{"all": {"ssn": "t"}}]', ["s", "t"]),
    ],
)
def test_paths_reach_values_and_what_is_cut_short_goes_whole(text: str, expected: list[str]) -> None:
    """`!` marks what becomes a string, `?` what is no document."""
    marks = {("rule.path", '"'): "!", ("rule.path", ""): "", ("unreadable", ""): "?"}
    found = places(text, PATHS)
    assert [was + marks[what or "", quote] for was, what, _, quote in found] == expected
    assert all(was == value for was, _, value, _ in found)
