"""What proves that a certificate is in a log, and that every part of it matters. Both verifiers."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.certificate.witnessed import OURS, entry, log, standalone

from faultwire import _core
from faultwire.certificate.log_proof import entry_of, logged, proof_text
from faultwire.tape.evidence.inclusion_proof import HEAD
from faultwire.tape.evidence.signed_note import NoteError, SignerKey

SIGNED = b"DSSEv1 what was signed"
KEY = str(OURS.verifier)
THEIRS = standalone()


def made(folder: Path, before: int, after: int) -> str:
    with log(folder) as one:
        for number in range(before):
            one.append(entry(number))
        index = one.append(entry_of(SIGNED))
        for number in range(after):
            one.append(entry(number, "after"))
        return proof_text(one.leaves, index, OURS.sign(one.text))


def ours_holds(text: str, signed: bytes = SIGNED, key: str = KEY) -> bool:
    try:
        logged(text, signed, key)
    except NoteError:
        return False
    return True


def theirs_hold(text: str, signed: bytes = SIGNED, key: str = KEY) -> bool:
    try:
        THEIRS.logged(text, signed, key)
    except THEIRS.Unreadable:
        return False
    return True


@pytest.mark.parametrize(("before", "after"), [(0, 0), (0, 1), (1, 0), (2, 0), (3, 4), (6, 0), (0, 16)])
def test_an_entry_at_any_place_is_proven(tmp_path: Path, before: int, after: int) -> None:
    text = made(tmp_path, before, after)
    assert text.startswith(f"{HEAD}\nindex {before}\n")
    found = logged(text, SIGNED, KEY)
    assert (found.index, found.tree.size, found.origin) == (before, before + after + 1, OURS.name)
    index, size, *_ = THEIRS.logged(text, SIGNED, KEY)
    assert (index, size) == (before, before + after + 1)
    assert not ours_holds(text, SIGNED + b"!")
    assert not theirs_hold(text, SIGNED + b"!")


def bends(text: str) -> Iterator[str]:
    """Each character changed to another of its kind, each line left out, doubled or exchanged."""
    for at, char in enumerate(text):
        other = {"A": "B", "0": "1", "=": "A", "\n": " ", " ": "\n"}.get(char, "A" if char != "A" else "B")
        yield text[:at] + other + text[at + 1 :]
    lines = text.split("\n")
    for at in range(len(lines) - 1):
        yield "\n".join(lines[:at] + lines[at + 1 :])
        yield "\n".join(lines[: at + 1] + lines[at:])
    yield text.replace(HEAD, f"{HEAD}\nextra AAAA")
    yield text[:-1]
    yield text + "\n"


def test_every_part_of_a_proof_bent_once_is_refused_by_both_verifiers(tmp_path: Path) -> None:
    text = made(tmp_path, 3, 3)
    assert ours_holds(text)
    assert theirs_hold(text)
    count = 0
    doubled = text + text.rpartition("\n\n")[2]
    for bent in bends(text):
        if bent == doubled:  # a signature twice is still one that holds
            continue
        assert not ours_holds(bent), bent
        assert not theirs_hold(bent), bent
        count += 1
    assert count > 370


def test_a_checkpoint_of_another_log_or_signer_is_refused(tmp_path: Path) -> None:
    text = made(tmp_path, 2, 1)
    head, _, note = text.partition("\n\n")
    body = note.partition("\n\n")[0] + "\n"
    other_seed, other_name = SignerKey(OURS.name, b"\x0d" * 32), SignerKey("other", OURS.seed)
    for signed in (other_seed.sign(body), other_name.sign(body), other_name.sign(f"other\n{body}")):
        assert not ours_holds(f"{head}\n\n{signed}")
        assert not theirs_hold(f"{head}\n\n{signed}")
    for key in (str(other_seed.verifier), str(other_name.verifier), "no key", ""):
        assert not ours_holds(text, key=key)
        assert not theirs_hold(text, key=key)
    elsewhere = f"{head}\n\n{OURS.sign(body.replace(OURS.name, 'elsewhere'))}"
    assert not ours_holds(elsewhere), "signed by the log's key, for another log"
    assert not theirs_hold(elsewhere)
    extended = f"{head}\n\n{OURS.sign(body + 'a line of extension' + chr(10))}"
    assert ours_holds(extended)
    assert theirs_hold(extended)


def test_an_index_beyond_the_tree_and_too_many_hashes_are_refused(tmp_path: Path) -> None:
    alone = made(tmp_path, 0, 0)
    for index in ("1", "-1", "00", "9" * 20, "x", ""):
        bent = alone.replace("index 0", f"index {index}")
        assert not ours_holds(bent)
        assert not theirs_hold(bent)
    zero = base64.b64encode(bytes(32)).decode()
    for more in (1, 64):
        bent = alone.replace("index 0\n", "index 0\n" + f"{zero}\n" * more)
        assert not ours_holds(bent)
        assert not theirs_hold(bent)
    long = alone + "x" * 131072
    assert not ours_holds(long)
    assert not theirs_hold(long)


def test_the_script_computes_the_roots_of_the_core() -> None:
    entries = [entry(number) for number in range(70)]
    leaves = [_core.leaf_hash(one) for one in entries]
    for size in (1, 2, 3, 4, 5, 7, 8, 9, 33, 64, 70):
        root = _core.merkle_root(leaves[:size])
        for index in range(size):
            path = _core.inclusion_proof(leaves[:size], index)
            assert THEIRS.root_from(entries[index], index, size, path) == root
            assert THEIRS.root_from(entries[index], (index + 1) % size, size, path) != root or size == 1
            assert THEIRS.root_from(entries[index], index, size, [*path, root]) is None
            if path:
                assert THEIRS.root_from(entries[index], index, size, path[:-1]) != root
