"""What a stream holds back, what it says, and where its secrets are, to the character."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from faultwire.tape.redact.edit import Edit
from faultwire.tape.redact.rules import Rules, read_rules
from faultwire.tape.redact.stream import (
    TextPiece,
    is_suspect,
    joined_edits,
    last_edits,
    open_from,
    open_tail,
    stream_edits,
    text_pieces,
    texts_by_member,
    whole_edits,
)
from faultwire.tape.redact.user_matches import WINDOW
from faultwire.tape.redact.values import LONGEST

KEY = "sk-ant-api03-" + "Wm5Qx8Zt2Vb7Nk1R" * 2


def ruled(**section: object) -> Rules:
    found = read_rules(section)
    assert found is not None
    return found


STAFF = ruled(patterns=[{"id": "staff", "regex": "EMP-[0-9]{4}"}])
HEADERS = ruled(headers=["x"])
PATHS = ruled(paths=["$..ssn"])


def event(text: str, name: str = "content") -> str:
    return f"data: {json.dumps({'delta': {name: text}})}\n\n"


def events(*texts: str, name: str = "content") -> str:
    return "".join(event(text, name) for text in texts)


def left(text: str, edits: list[Edit]) -> str:
    """The text with each edit made, `<class>` for what stands there."""
    out, at = [], 0
    for edit in edits:
        assert edit.start >= at
        out += [text[at : edit.start], f"<{edit.what}>" if edit.what else ""]
        at = edit.end
    return "".join(out) + text[at:]


# ---------------------------------------------------------------- open tails


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("", 0),
        ("words and ", 0),
        ("words and sk-ant", 6),
        ("password = ", 11),
        ("password: 'hun", 14),
        ("use Bearer ", 7),
        ("use Bearer abc", 10),
        ('"password"', 10),
        ('x "password": "hun', 16),
        ('x "password": "hun"', 0),
        ('x "password": [1, 2', 17),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII", 35),
        ("x -----BEGIN RSA", 14),
        ("a" * 40 + "\n" + "b" * 9, 50),
        ("é", 0),
    ],
    ids=lambda value: ascii(value)[:24].replace("\\", ""),
)
def test_how_much_of_an_end_may_belong_to_a_secret(text: str, size: int) -> None:
    assert open_tail(text) == open_tail(text, HEADERS) == open_tail(text, PATHS) == size
    assert open_tail(text, STAFF) == max(size, len(text))


def test_an_end_is_as_long_as_a_secret_and_no_longer() -> None:
    assert open_tail("a" * (LONGEST + 10)) == LONGEST
    assert open_tail(" " + "a" * LONGEST) == LONGEST
    assert open_tail(" " + "a" * (LONGEST - 1)) == LONGEST - 1
    assert open_tail(" " * 600, STAFF) == WINDOW == 512
    assert open_tail(" " * 600 + "a" * 520, STAFF) == 520


# ---------------------------------------------------------------- what it says


def test_the_pieces_of_a_stream() -> None:
    text = (
        event("ab") + 'data: {"text": "c\\"d","content":"e"}\n\ndata: bare\n\ndata:more\n\ndata: [DONE]\n\n'
    )
    found = text_pieces(text)
    assert [(piece.name, text[piece.start : piece.end]) for piece in found] == [
        ("content", "ab"),
        ("text", 'c\\"d'),
        ("content", "e"),
        ("", "bare"),
        ("", "more"),
    ]
    assert texts_by_member(text) == {"content": "abe", "text": 'c\\"d', "": "baremore"}
    assert texts_by_member(events("a", "b")) == {"content": "ab"}
    assert texts_by_member("") == {}
    assert texts_by_member("data: {}\n\ndata: [DONE]\n\n") == {}
    assert texts_by_member("data: [DONE] data:\n\n") == {}
    assert texts_by_member("data:{}\n\n") == {}


def test_what_is_suspect() -> None:
    clean = events("nothing ", "here ")
    assert not is_suspect(clean, texts_by_member(clean))
    assert is_suspect(clean, texts_by_member(clean), HEADERS)
    assert is_suspect(KEY, {})
    split = events(KEY[:5], KEY[5:])
    assert not is_suspect(split, {})
    assert is_suspect(split, texts_by_member(split))


def test_where_the_earliest_open_end_begins() -> None:
    def at(text: str, rules: Rules | None = None) -> int:
        return open_from(text, texts_by_member(text), rules)

    closed = events("words and ", "more ")
    assert at(closed) == len(closed)
    assert at("") == 0
    open_ = events("words sk-", "ant", "-x")
    assert at(open_) == open_.index("words")
    assert at(events("words ") + events("sk-", "ant")) == len(events("words ")) + event("sk-").index("sk-")
    both = events("a sk-", name="text") + events("ready ", "sk-")
    assert at(both) == both.index("a sk-")
    later = events("ready ", name="text") + events("go sk-")
    assert at(later) == later.index("go sk-")
    assert at(closed, STAFF) == closed.index("words")
    long = events("x" * 300 + " ", "y" * 300 + " ", "z" * 300 + " ")
    assert at(long, STAFF) == long.index("yyy")
    assert at(long, HEADERS) == len(long)


# ---------------------------------------------------------------- where the secrets are


def test_the_first_piece_of_a_secret_keeps_its_place() -> None:
    text = events("take ", KEY[:9], KEY[9:20], KEY[20:] + " now") + event("more ")
    assert left(text, stream_edits(text)) == events("take ", "<anthropic_key>", "", " now") + event("more ")
    found = stream_edits(text)
    assert [edit.what for edit in found] == ["anthropic_key", None, None]
    assert [edit.value for edit in found] == [KEY, "", ""]
    begin = text.index(KEY[:9])
    assert [edit.begin for edit in found] == [begin] * 3


def test_escapes_in_pieces() -> None:
    text = events('say "hi" \n ', f"ä {KEY[:9]}", KEY[9:] + ' "')
    assert left(text, stream_edits(text)) == events('say "hi" \n ', "ä <anthropic_key>", ' "')
    plain = f"data: x {KEY[:9]}\n\ndata: {KEY[9:]} y\n\n"
    assert left(plain, stream_edits(plain)) == "data: x <anthropic_key>\n\ndata:  y\n\n"


def test_a_number_over_pieces_gets_its_quotes_once() -> None:
    text = events('{"password": 12', '345, "n": 1}')
    found = stream_edits(text)
    assert [(edit.what, edit.value, edit.quote) for edit in found] == [
        ("key", "12345", '\\"'),
        (None, "", ""),
    ]


def test_a_number_in_json_in_json_over_pieces_gets_its_quotes_escaped_twice() -> None:
    document = json.dumps({"a": '{"password": 12345}'})
    text = events(document[:24], document[24:])
    found = stream_edits(text)
    assert [(edit.what, edit.value, edit.quote) for edit in found] == [
        ("key", "12345", r"\\\""),
        (None, "", ""),
    ]


def test_plain_lines_have_no_escapes() -> None:
    text = f"data: a\\\\tb\\u0041 \\n {KEY[:9]}\n\ndata: {KEY[9:]} y\n\n"
    assert left(text, stream_edits(text)) == ("data: a\\\\tb\\u0041 \\n <anthropic_key>\n\ndata:  y\n\n")
    dashes = KEY.replace("-", "\\u002d")
    escaped = f"data: x {dashes[:30]}\n\ndata: {dashes[30:]} y\n\n"
    assert stream_edits(escaped) == []


def test_what_a_piece_says_by_itself_keeps_its_class_whatever_stands_before_it() -> None:
    token = "dop_v1_" + "a1b2c3d4" * 8
    text = events('{"password": "', token, '"}')
    assert left(text, stream_edits(text)) == events('{"password": "', "<secret.digitalocean-token>", '"}')


def test_other_members_are_other_texts() -> None:
    text = event(KEY[:9]) + event(KEY[9:], "text")
    assert stream_edits(text) == []
    mixed = event(KEY[:9]) + event("words ", "text") + event(KEY[9:] + " ")
    assert left(mixed, stream_edits(mixed)) == event("<anthropic_key>") + event("words ", "text") + event(" ")


def test_what_rules_cover_in_pieces_and_in_events() -> None:
    text = events("ask EMP-", "1234", " now") + 'data: {"ssn": 12345}\n\n'
    assert left(text, stream_edits(text, STAFF)) == (
        events("ask <rule.staff>", "", " now") + 'data: {"ssn": 12345}\n\n'
    )
    assert left(text, stream_edits(text, PATHS)) == text.replace("12345}", "<rule.path>}")
    assert stream_edits(text, HEADERS) == stream_edits(text) == []
    assert left(text, last_edits(text, STAFF)) == left(text, stream_edits(text, STAFF))


def test_a_stream_that_ended_in_the_middle_of_a_string() -> None:
    whole = events("take ", KEY[:9]) + event(KEY[9:])
    for end in ('"', '"}', '"}}', '"}}\n'):
        cut = whole[: whole.rindex('"}}') + len(end)]
        assert (
            left(cut, last_edits(cut))
            == events("take ", "<anthropic_key>") + event("")[: -len('"}}\n\n')] + end
        )
    open_ = whole[: whole.rindex('"}}')]
    assert left(open_, last_edits(open_)) == events("take ", "<anthropic_key>") + event("")[: -len('"}}\n\n')]
    assert all(edit.end <= len(open_) for edit in last_edits(open_))
    escaped = open_ + "\\"
    assert left(escaped, last_edits(escaped)).startswith(events("take ", "<anthropic_key>"))
    assert last_edits(events("nothing ")) == []
    value = '{"password": "hun'
    assert left(value, last_edits(value)) == '{"password": "<key>'
    assert [edit.end for edit in last_edits(value)] == [len(value)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"password": "hun', [("hun", 3)]),
        ("{'password': '", []),
        ('{"password": "', []),
        ('{"password": [', []),
        (events("take ", KEY[:9])[: -len('"}}\n\n')] + KEY[9:], [(KEY, len(KEY))]),
    ],
    ids=["a value", "single quotes", "a quote", "a list", "a text"],
)
def test_what_closes_a_cut_string_is_no_part_of_its_value(text: str, found: list[tuple[str, int]]) -> None:
    assert [(edit.value, edit.end - edit.start) for edit in last_edits(text)] == found


def test_pieces_joined_by_somebody_else() -> None:
    text = f"{KEY[:9]}|{KEY[9:]}|and EMP-|1234"
    cuts = [0, *[at + 1 for at, letter in enumerate(text) if letter == "|"], len(text) + 1]
    pieces = [TextPiece("", start, end - 1) for start, end in pairwise(cuts)]
    found = joined_edits(text, pieces, STAFF)
    assert [[(part.what, text[part.start : part.end]) for part in one] for one in found] == [
        [("anthropic_key", KEY[:9]), (None, KEY[9:]), (None, "and")],
        [("rule.staff", "EMP-"), (None, "1234")],
    ]
    assert joined_edits("nothing", [TextPiece("", 0, 7)], STAFF) == []
    assert joined_edits("EMP-1234", [TextPiece("", 0, 8)], None) == []
    assert joined_edits("EMP-1234", [TextPiece("", 0, 8)], HEADERS) == []


@pytest.mark.parametrize(
    "pieces",
    [
        ('{"password": "hun', 'ter2secret"}'),
        ('{"password": "', 'hunter2secret"}'),
        ('{"pass', 'word": "hunter2', "sec", 'ret", "n": 1}'),
    ],
    ids=["in its value", "before it", "in its name"],
)
def test_a_password_in_pieces_is_one_value(pieces: tuple[str, ...]) -> None:
    text = events(*pieces)
    first = next(edit for edit in stream_edits(text) if edit.what)
    assert (first.what, first.value) == ("key", "hunter2secret")
    assert [edit.what for edit in last_edits(text) if edit.what] == ["key"]


def test_of_a_pattern_that_matches_a_part_the_whole_counts() -> None:
    rules = ruled(patterns=[{"id": "staff", "regex": "EMP-[0-9]+"}])
    text = events("ask EMP-12", "34 now")
    assert [(e.what, e.value) for e in stream_edits(text, rules)] == [("rule.staff", "EMP-1234"), (None, "")]


def test_a_body_of_which_nothing_is_known() -> None:
    assert whole_edits("nothing") == []
    assert [edit.value for edit in whole_edits(f"x {KEY} y")] == [KEY]
    assert [edit.value for edit in whole_edits("EMP-1234", STAFF)] == ["EMP-1234"]
    array = ' [{"text": "' + KEY[:9] + '"}, {"text": "' + KEY[9:] + '"}'
    assert [edit.value for edit in whole_edits(array)] == [KEY, ""]
    assert whole_edits(array[2:]) == []
    assert [edit.value for edit in whole_edits('[{"text": "EMP-"}, {"text": "1234"}]', STAFF)] == [
        "EMP-1234",
        "",
    ]
