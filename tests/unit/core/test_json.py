"""JCS, fingerprints, spans and edits (`faultwire._core`, module json)."""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from faultwire import _core

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "jcs.json").read_text())


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_jcs(case):
    canonical = case["canonical"].encode()
    assert _core.jcs(case["input"].encode()) == canonical
    assert _core.jcs(canonical) == canonical


@pytest.mark.parametrize("case", VECTORS["refused"], ids=lambda case: case["name"])
def test_jcs_refuses(case):
    with pytest.raises(ValueError, match=r"^invalid JSON at byte \d+: "):
        _core.jcs(case["input"].encode())


def test_jcs_names_the_duplicate():
    with pytest.raises(ValueError, match="duplicate key `a`"):
        _core.jcs(b'{"a":1,"a":2}')


@pytest.mark.parametrize("case", VECTORS["numbers"], ids=lambda case: case["bits"])
def test_jcs_number(case):
    (number,) = struct.unpack(">d", bytes.fromhex(case["bits"]))
    assert _core.jcs(repr(number).encode()) == case["text"].encode()


def generated_doubles() -> Iterator[float]:
    for bits in VECTORS["generated"]["fixed"]:
        yield struct.unpack(">d", bytes.fromhex(bits))[0]
    for offset in range(2000):
        yield struct.unpack(">d", struct.pack(">Q", 0x0010000000000000 + offset))[0]
    block = bytes(32)
    while True:
        block = hashlib.sha256(block).digest()
        yield from (x for x in struct.unpack("<4d", block) if x != 0 and abs(x) < float("inf"))


@pytest.mark.parametrize(
    "lines", [1_000, 10_000, 100_000, pytest.param(1_000_000, marks=pytest.mark.nightly)]
)
def test_jcs_generated_numbers_have_the_published_digest(lines):
    digest = hashlib.sha256()
    for number in itertools.islice(generated_doubles(), lines):
        (bits,) = struct.unpack(">Q", struct.pack(">d", number))
        digest.update(b"%x,%s\n" % (bits, _core.jcs(repr(number).encode())))
    assert digest.hexdigest() == VECTORS["generated"]["sha256"][str(lines)]


def test_fingerprint_is_the_digest_of_the_masked_canonical_text():
    body = b'{ "id": 7, "x": [{"y": 1.0, "id": {"z": 1}}] }'
    expected = hashlib.sha256(b'{"id":null,"x":[{"id":null,"y":1}]}').digest()
    assert _core.json_fingerprint(body, ["id"]) == expected


@pytest.mark.parametrize("body", [b"", b"a=1&b=2", b"\xff\xfe", b'{"a":', b"[NaN]", b'["\\ud800"]'])
def test_fingerprint_of_what_is_not_json(body):
    assert _core.json_fingerprint(body, ["a"]) == hashlib.sha256(b"raw:" + body).digest()


def test_fingerprint_keeps_long_ids_apart():
    bodies = [b"[%d]" % (sign * (2**53 + n)) for n in (1, 2, 2**62) for sign in (1, -1)]
    bodies.append(b'["9007199254740993"]')
    assert len({_core.json_fingerprint(body, []) for body in bodies}) == len(bodies)


BODY = ' {"a": [1, {"b\\u00e9": "x"}], "d": {"é": [7, 8]}, "a": [2] } '.encode()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ([], BODY.strip()),
        (["a"], b"[2]"),
        (["a", 0], b"2"),
        (["a", 1], None),
        (["d", "é", 1], b"8"),
        (["d", 0], None),
        (["a", "0"], None),
        (["missing", "x"], None),
    ],
)
def test_span(path, expected):
    span = _core.json_span(BODY, path)
    assert (span and BODY[slice(*span)]) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"a":1,}',
        b'{"a":1}x',
        b'{"a" 1}',
        b"[1 2]",
        b"\xff",
        b'{"a":1,"b":tru}',
        b"[" * 257 + b"]" * 257,
    ],
)
def test_malformed_is_refused_even_behind_the_match(body):
    for find in (_core.json_span, _core.json_member_span, _core.json_children):
        with pytest.raises(ValueError, match=r"^invalid JSON at byte \d+: "):
            find(body, ["a"])


def test_negative_index_is_refused():
    with pytest.raises(ValueError, match="`index` is -1"):
        _core.json_span(b"[1]", [-1])


@pytest.mark.parametrize(
    ("body", "path", "expected"),
    [
        (b'{"a": 1, "b": 2}', ["a"], b'{"b": 2}'),
        (b'{"a": 1, "b": 2}', ["b"], b'{"a": 1}'),
        (b'{\n  "a": 1,\n  "b": 2\n}', ["a"], b'{\n  "b": 2\n}'),
        (b'{"a" : 1}', ["a"], b"{}"),
        (b"[1, 2, 3]", [1], b"[1, 3]"),
        (b'{"x": ["a,", ",b"]}', ["x", 1], b'{"x": ["a,"]}'),
    ],
)
def test_member_span_leaves_valid_json(body, path, expected):
    span = _core.json_member_span(body, path)
    assert span is not None
    assert _core.json_splice(body, [(*span, b"")]) == expected


def test_member_span_of_the_root_and_of_nothing():
    assert _core.json_member_span(b"{}", []) is None
    assert _core.json_member_span(b"{}", ["a"]) is None


def test_children():
    body = b'{"x": {"k\\n": [1], "b": {}, "b": null}, "y": ["s", [2]]}'
    values = [(key, body[start:end]) for key, start, end in _core.json_children(body, ["x"])]
    assert values == [("k\n", b"[1]"), ("b", b"{}"), ("b", b"null")]
    values = [(key, body[start:end]) for key, start, end in _core.json_children(body, ["y"])]
    assert values == [(0, b'"s"'), (1, b"[2]")]
    assert _core.json_children(body, ["y", 0]) == []
    assert _core.json_children(body, ["z"]) == []


def test_children_refuse_a_key_that_is_no_text():
    with pytest.raises(ValueError, match="at byte 7: lone surrogate in a key"):
        _core.json_children(b'{"x": {"\\ud800": 1}}', ["x"])


def test_splice():
    assert _core.json_splice(b"abcdef", [(4, 5, b"E"), (2, 2, b"<"), (2, 2, b">"), (0, 1, b"")]) == b"b<>cdEf"
    assert _core.json_splice(b"", [(0, 0, b"x")]) == b"x"


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([(0, 2, b""), (1, 3, b"")], "edit 1..3 overlaps the one that ends at 2"),
        ([(5, 7, b"")], "edit 5..7 is out of range for 6 bytes"),
        ([(3, 2, b"")], "edit 3..2 is out of range for 6 bytes"),
        ([(-1, 2, b"")], "`start` is -1, expected at least 0"),
    ],
)
def test_splice_refuses(edits, message):
    with pytest.raises(ValueError, match=message):
        _core.json_splice(b"abcdef", edits)


def test_big_bodies_from_many_threads():
    body = json.dumps([{"id": n, "x": "y" * 100} for n in range(2_000)]).encode()
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(_core.json_fingerprint(body, ["id"]))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("body", "marks", "in_texts"),
    [
        (b"", 0, 0),
        (b'{"a":[1,2]}', 4, 0),
        (b'{"a":"1,2,3,4,5,6"}', 7, 5),
        (b'["1,2\\",3,4,5,6"]', 6, 5),
        (b'["1,2,3,4,5,6', 6, 0),
        (b'["a","b","c","1,2,3,4,5,6"]', 9, 0),
    ],
)
def test_marks_are_counted_apart_from_those_in_long_texts(body: bytes, marks: int, in_texts: int) -> None:
    assert _core.json_marks(body) == marks
    assert _core.json_marks_in_texts(body, 8, 2) == in_texts


def _made_text(random: Random, depth: int) -> str:
    """A document with blanks, escapes and numbers of all kinds, members that come twice, and slips."""
    blank = random.choice(("", "", "", " ", "\n", "\t\r"))
    kind = random.randrange(8 if depth else 4)
    if kind == 0:
        odd = (
            "1e3",
            "-0",
            "1.50",
            "-12",
            "0",
            "123456789012345",
            "1234567890123456",
            "9" * 20,
            "01",
            "- 1",
            "NaN",
        )
        return blank + random.choice((*odd[2:6], *odd)) + blank
    if kind == 1:
        return blank + random.choice(("true", "false", "null", "nul"))
    if kind in (2, 3):
        parts = (
            "a",
            "é",
            "😀",
            "\\n",
            '\\"',
            "\\\\",
            "\\/",
            "\\u0041",
            "\\ud800",
            "\x7f",
            "x" * 30,
            "\\b",
            "\n",
        )
        text = "".join(
            random.choice(parts[: random.choice((6, 8, 12, 13))]) for _ in range(random.randrange(6))
        )
        return f'"{text}"{blank}'
    inner = [_made_text(random, depth - 1) for _ in range(random.randrange(4))]
    if kind < 6:
        return f"{blank}[{','.join(inner)}{blank}]"
    names = ("a", "b", "id", "é", "*", "a\\/", "")
    return "{" + ",".join(f'{blank}"{random.choice(names)}":{one}' for one in inner) + "}" + blank


def test_a_fingerprint_in_one_pass_is_that_of_the_parsed_value() -> None:
    """A bare name in the mask makes the core parse the body: no member has this one."""
    masks = [(), ("$.a", "$.*.id", "$.b.a"), ("$.*", "$.a.*.*"), ("$.id", "$.id.a")]
    made, random, kinds = [_core.JsonMask(mask) for mask in masks], Random(5), set()
    for _ in range(20_000):
        body = _made_text(random, 4).encode("utf-8", "surrogatepass")
        for mask, paths in zip(made, masks, strict=True):
            wanted = _core.json_fingerprint(body, [*paths, "no member"]).hex()
            assert mask.fingerprint(body) == _core.json_fingerprint(body, paths).hex() == wanted, body
        kinds.add(wanted == hashlib.sha256(b"raw:" + body).hexdigest())
    assert kinds == {True, False}, "some are no JSON"
