"""Exports that somebody bent line by line, judged by the core and by `docs/verify_tape.py`.

Both must say the same of every one: the same findings at the same events, the same root. Some keep their
hashes, in some these are made anew, and some are sealed again, by whom one trusts or by others.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.unit.tape.conftest import Deck, second_verifier

from faultwire import _core
from faultwire.tape.evidence.checkpoint import Checkpoint
from faultwire.tape.evidence.findings import VerifyReport
from faultwire.tape.evidence.signed_note import SignerKey, VerifierKey
from faultwire.tape.export import jsonl, verify_export
from faultwire.tape.format.hash_chain import GENESIS, leaf
from faultwire.tape.record.writer import TapeWriter

OURS, OTHER = SignerKey("p", b"s" * 32), SignerKey("q", b"t" * 32)
DEEP = json.loads("[" * 126 + "]" * 126)
DEEPER = json.loads("[" * 200 + "]" * 200)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**53 - 1, 2**53, 2**64, 10**30, 10**400, 1.5, -0.0, "", "a", "null", "1"),
    *([], {}, [[]], [[], 1], [[1]], [[True, 1]], {"a": 1}, {"blob": 5, "size": 1}, DEEP, DEEPER),
    *("\ud800", "\U0001f600", "\uffff", "{}", "[]", '{"x":NaN}', '{"x":1e400}', '{"a":1,"a":2}', "\x7f\x1c"),
    *('{"x":"\\ud800"}', f'{{"x":{"[" * 130}{"]" * 130}}}', "\ufeff{}", '{"imported":"har"}'),
)
WORDS = (
    b"\xef\xbb\xbf",
    b" ",
    b"\r",
    b"\x00",
    b"\xff",
    b"\xed\xa0\x80",
    b"-0",
    b"1.0",
    b"true",
    b"\\ud800",
    b"{}",
)
STRANGERS = ("a", "a\x1cb", "a\x01b", "a\u00a0b", "a\u200bb", "a+b", "\u2028")


@pytest.fixture
def lines(tmp_path: Path) -> list[bytes]:
    """The lines of a sealed tape, imported by its own word, behind the first."""
    path = tmp_path / "s.tape"
    writer = TapeWriter.create(
        path, origin="p/s", settings={"imported": "har"}, key=b"k" * 32, signer=OURS, seal_every=9
    )
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="a")
    deck = Deck(path, writer)
    for answer in (b'{"ok":0}', b"1", b""):  # whose sizes are `true` and `false`, too
        deck.exchange(answer)
    writer.close_session("s")
    writer.close()
    out = io.BytesIO()
    jsonl.write(path, out)
    return out.getvalue().splitlines(keepends=True)[1:]


# ------------------------------------------------------------ bending


def text(value: Any) -> bytes:
    """Canonical where it can be: what has no bytes is escaped."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        return written.encode()
    except UnicodeEncodeError:
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def value_of(line: bytes) -> Any:
    """What a line says; itself where it is no JSON any more."""
    try:
        return json.loads(line)
    except ValueError:
        return line.decode("latin-1")


def other(value: Any, chance: random.Random) -> Any:
    """The same with another value, one member more or one less, in one place."""
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.15:
        return chance.choice(VALUES)
    if isinstance(value, list):
        at = chance.randrange(len(value))
        return [*value[:at], other(value[at], chance), *value[at + 1 :]]
    name = chance.choice([*value])
    if chance.random() < 0.15:
        return {key: one for key, one in value.items() if key != name}
    if chance.random() < 0.15:
        return {**value, chance.choice(("x", "type", "blob", "chunks", "bypassed")): chance.choice(VALUES)}
    return {**value, name: other(value[name], chance)}


def other_member(lines: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at] = text(other(value_of(lines[at]), chance)) + b"\n"


def other_bytes(lines: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    line, place = lines[at], chance.randrange(len(lines[at]))
    word = chance.choice((*WORDS, bytes([chance.randrange(256)])))
    lines[at] = line[:place] + word + line[place + chance.choice((0, 1, len(word))) :]


def other_form(lines: list[bytes], chance: random.Random) -> None:
    """The same value as another text."""
    at = chance.randrange(len(lines))
    line = lines[at].rstrip(b"\n")
    lines[at] = (
        chance.choice(
            (
                b"\xef\xbb\xbf" + line,
                line.decode("latin-1").encode("utf-16-be"),
                line.replace(b",", b", ", 1),
                line.replace(b'"', b'"\\u0061', 1),
                line[:-1] + b"," + line[1:],
                line + b"\r",
                line.replace(b":1", b":true"),
                line.replace(b":0", b":false"),
                line.replace(b":0", b":-0"),
                line.replace(b":1,", b":1.0,"),
                line[:-1] + b',"zz":' + b"[" * 200 + b"]" * 200 + b"}",
                line[:-1] + b',"zz":' + b"[" * 126 + b"]" * 126 + b"}",
            )
        )
        + b"\n"
    )


def other_body(lines: list[bytes], chance: random.Random) -> None:
    """A body's line with another member, or elsewhere."""
    at = chance.choice([at for at, line in enumerate(lines) if line.startswith(b'{"blob"')] or [0])
    line = lines.pop(at)
    value = value_of(line)
    if chance.random() < 0.6 and isinstance(value, dict):
        known = {"settings": '{"x":1}', "x": {"type": "tape"}, "blob": 5, "size": True, "data": "", "a": 1}
        names = chance.sample([*known], chance.choice((1, 2)))
        line = text({**value, **{name: known[name] for name in names}}) + b"\n"
    lines.insert(chance.randrange(len(lines) + 1), line)


def other_order(lines: list[bytes], chance: random.Random) -> None:
    one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
    chance.choice(
        (
            lambda: lines.insert(one, lines[two]),
            lambda: lines.insert(one, lines.pop(two)),
            lambda: lines.pop(one),
            lambda: lines.__setitem__(slice(one, None), []),
            lambda: lines.insert(one, b"\n"),
        )
    )()


BENDS: tuple[Callable[[list[bytes], random.Random], None], ...] = (
    other_member,
    other_bytes,
    other_form,
    other_body,
    other_order,
)


def stranger(chance: random.Random) -> str:
    """A signature's line, as a witness may add one, and as nobody may."""
    data = base64.b64encode(bytes(chance.choice((67, 68, 68, 68)))).decode()
    return f"— {chance.choice(STRANGERS)} {data}\n"


def sealed_again(
    event: dict[str, Any], leaves: list[bytes], previous: str | None, chance: random.Random
) -> None:
    """Sign what is there now, or nearly."""
    key = chance.choice((OURS, OURS, OTHER))
    size, root = len(leaves), _core.merkle_root(leaves)
    signed = key.sign(Checkpoint("p/s", size, root, previous).text())
    if chance.random() < 0.3:
        signed += stranger(chance)
    if chance.random() < 0.1:
        at = chance.randrange(len(signed))
        signed = signed[:at] + chance.choice(("A", "\n", " ", "=", "\x01")) + signed[at + 1 :]
    event.update(note=signed, size=size, root=root.hex(), key=str(chance.choice((key, OURS)).verifier))


def chained_anew(lines: list[bytes], chance: random.Random, *, sealing: bool) -> None:
    """Numbers and links that fit, and seals where they are wanted."""
    prev, leaves, previous = GENESIS, list[bytes](), None
    for at, line in enumerate(lines):
        event = value_of(line)
        if isinstance(event, dict) and "blob" in event and "type" not in event:
            continue
        if isinstance(event, dict) and "prev" in event:
            event["prev"], event["seq"] = prev, len(leaves)
            if sealing and event.get("type") == "seal":
                sealed_again(event, leaves, previous, chance)
            if event.get("type") == "seal" and isinstance(event.get("note"), str):
                previous = hashlib.sha256(event["note"].encode(errors="replace")).hexdigest()
            lines[at] = line = text(event) + b"\n"
        leaves.append(leaf(line.rstrip(b"\n")))
        prev = leaves[-1].hex()


def bent(lines: list[bytes], chance: random.Random) -> list[bytes]:
    lines = list(lines)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if lines:
            chance.choice(BENDS)(lines, chance)
    if chance.random() < 0.6:
        chained_anew(lines, chance, sealing=chance.random() < 0.7)
        if lines and chance.random() < 0.2:
            chance.choice((other_form, other_body))(lines, chance)
    return lines


# ------------------------------------------------------------ judging


def judged(lines: list[bytes], other_verifier: ModuleType, path: Path, key: VerifierKey) -> VerifyReport:
    """What the core says, which is what the script says."""
    path.write_bytes(jsonl.HEAD + b"".join(lines))
    with path.open("rb") as source:
        source.readline()
        theirs = other_verifier.verify(source, [other_verifier.parse_key(str(key))])
    ours = verify_export.verify(path, (key,), demanded=True)
    assert Counter((one.code, one.seq) for one in ours.findings) == Counter(
        (one["code"], one["seq"]) for one in theirs.findings
    )
    assert (ours.root, ours.events) == (theirs.tree.root().hex(), theirs.tree.size)
    return ours


def alike(lines: list[bytes], path: Path, seeds: range) -> Counter[bool]:
    """How many verify, and how many do not."""
    other_verifier, found = second_verifier(), Counter[bool]()
    assert judged(lines, other_verifier, path, OURS.verifier).ok
    for seed in seeds:
        print("seed", seed)  # a failure shows the last one
        report = judged(bent(lines, random.Random(seed)), other_verifier, path, OURS.verifier)
        found[report.ok] += 1
    return found


def test_bent_exports(lines: list[bytes], tmp_path: Path) -> None:
    found = alike(lines, tmp_path / "t.jsonl", range(300))
    assert found[False] > 200
    assert found[True] > 5


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_many_bent_exports(lines: list[bytes], tmp_path: Path) -> None:
    found = alike(lines, tmp_path / "t.jsonl", range(1_000, 21_000))
    assert min(found.values()) > 1_000
