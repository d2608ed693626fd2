"""No mutated proof or seal is accepted, and no changed byte of a sealed tape goes unnoticed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.tape.conftest import Deck, second_verifier

from faultwire._core import TapeVerifier
from faultwire.errors import TapeError, TapeTampered
from faultwire.tape.evidence import signed_note
from faultwire.tape.evidence.checkpoint import Checkpoint
from faultwire.tape.evidence.inclusion_proof import check, prove
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.verify import verify
from faultwire.tape.export import jsonl
from faultwire.tape.record.writer import TapeWriter

KEY = SignerKey("p", b"s" * 32)
TRUSTED = (KEY.verifier,)
WORDS = (
    b"\n",
    b"\n\n",
    b" ",
    b"+",
    b"=",
    b"A",
    b"0",
    b"\xe2\x80\x94 ",
    b"index ",
    b"extra ",
    b"previous sha256:",
)


@pytest.fixture(scope="module")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sealed") / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32, signer=KEY)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    deck = Deck(path, writer)
    for _ in range(3):
        deck.exchange()
    writer.close_session("s")
    writer.close()
    path.chmod(0o600)
    return path


def mutants(original: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Texts near the original and never it: bytes flipped, cut, doubled, moved, words put in."""
    chance = random.Random(seed)
    while count:
        data = bytearray(original)
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            at = chance.randrange(len(data))
            end = min(len(data), at + chance.choice((1, 2, 44, 90)))
            how = chance.randrange(6)
            if how == 0:
                data[at] ^= 1 << chance.randrange(8)
            elif how == 1:
                del data[at:end]
            elif how == 2:
                data[at:at] = data[at:end]
            elif how == 3:
                data[at:at] = chance.choice(WORDS)
            elif how == 4:
                data[at] = chance.randrange(256)
            else:
                piece = bytes(data[at:end])
                del data[at:end]
                to = chance.randrange(len(data) + 1)
                data[to:to] = piece
            data = data or bytearray(b"x")
        if data != original:
            count -= 1
            yield bytes(data)


def proven(text: str) -> bool:
    try:
        check(text, TRUSTED)
    except TapeTampered:
        return False
    return True


def signed(text: str) -> bool:
    try:
        found = signed_note.parse(text)
        Checkpoint.parse(found.text)
    except signed_note.NoteError:
        return False
    return found.signed_by(KEY.verifier)


@pytest.mark.parametrize("count", [5_000, pytest.param(500_000, marks=pytest.mark.nightly)])
def test_no_mutated_proof_is_accepted(tape: Path, count: int) -> None:
    original = prove(tape, 4)
    assert proven(original)
    accepted = [m for m in mutants(original.encode(), count, 1) if proven(m.decode("utf-8", "replace"))]
    assert accepted == []


@pytest.mark.parametrize("count", [5_000, pytest.param(500_000, marks=pytest.mark.nightly)])
def test_no_mutated_seal_is_accepted(tape: Path, count: int) -> None:
    original = seal_path(tape).read_text()
    assert signed(original)
    accepted = [m for m in mutants(original.encode(), count, 2) if signed(m.decode("utf-8", "replace"))]
    assert accepted == []


@pytest.mark.parametrize("count", [5_000, pytest.param(500_000, marks=pytest.mark.nightly)])
def test_no_mutated_last_line_of_an_export_is_accepted(tape: Path, tmp_path: Path, count: int) -> None:
    """No hash of a later event covers it: the core and, of every fiftieth, the second verifier refuse it."""
    with (tmp_path / "t.jsonl").open("wb") as out:
        jsonl.write(tape, out)
    *before, last = (tmp_path / "t.jsonl").read_bytes().splitlines()[1:]
    second = second_verifier()
    keys = [second.parse_key(str(KEY.verifier))]

    def core(*lines: bytes) -> list[str]:
        verifier = TapeVerifier([str(KEY.verifier)], True)
        for one in (*before, *lines):
            verifier.line(one)
        return [code for code, *_ in verifier.close().findings]

    assert core(last) == []
    for at, mutant in enumerate(mutants(last, count, 3)):
        lines = mutant.removesuffix(b"\n").split(b"\n")  # a line feed makes two of it, but at the end
        if lines == [last]:
            continue
        assert core(*lines), mutant
        if at % 50 == 0:
            assert second.verify([*before, *lines], keys).findings, mutant


@pytest.mark.parametrize("step", [211, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.timeout(3600)
def test_every_flipped_byte_of_a_sealed_tape_is_noticed(tape: Path, tmp_path: Path, step: int) -> None:
    original = tape.read_bytes()
    copy = tmp_path / "t.tape"
    seal_path(copy).write_bytes(seal_path(tape).read_bytes())
    copy.write_bytes(original)
    assert verify(copy, TRUSTED, demanded=True).findings == []
    unnoticed = []
    for at in range(0, len(original), step):
        with copy.open("r+b") as file:
            file.seek(at)
            file.write(bytes([original[at] ^ 0xFF]))
        try:
            noticed = not verify(copy, TRUSTED, demanded=True).ok
        except TapeError:
            noticed = True
        unnoticed += [] if noticed else [at]
        with copy.open("r+b") as file:
            file.seek(at)
            file.write(original[at : at + 1])
    assert unnoticed == []
