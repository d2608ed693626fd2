"""Numbers as RFC 8785 §3.2.2.3 writes them: the published sequence, by its published digests.

The sequence is made here: some hundred edge cases, 2,000 neighbours of the smallest normal number, then
doubles from a chain of SHA-256 blocks. One number written otherwise changes the digest.
"""

from __future__ import annotations

import importlib.util
import json
import math
import struct
from array import array
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

from faultwire import _core
from faultwire.tape.format.hash_chain import is_canonical, record_bytes

ROOT = Path(__file__).parents[2]
VECTOR = json.loads((ROOT / "tests" / "vectors" / "es6_numbers.json").read_text())
AT_ONCE = 10_000
MAX_INT = 2**53 - 1


def numbers() -> Iterator[float]:
    """The sequence, without end."""
    mirrored = [int(bits, 16) for bits in VECTOR["mirrored"]]
    fixed = [int(bits, 16) for bits in VECTOR["zeros"]]
    fixed += [bits | 1 << 63 for bits in mirrored] + mirrored + [int(bits, 16) for bits in VECTOR["rest"]]
    first = int(VECTOR["serial"]["from"], 16)
    fixed += range(first, first + VECTOR["serial"]["count"])
    for bits in fixed:
        yield struct.unpack("<d", struct.pack("<Q", bits))[0]
    block = bytes(32)
    while True:
        block = sha256(block).digest()
        yield from (one for one in array("d", block) if one and math.isfinite(one))


def digest(count: int) -> str:
    """Of the first so many lines, with the core's canonical texts."""
    found = sha256()
    wanted = islice(numbers(), count)
    while some := list(islice(wanted, AT_ONCE)):
        texts = _core.jcs(f"[{','.join(map(repr, some))}]".encode())[1:-1].split(b",")
        bits = array("Q", array("d", some).tobytes())
        found.update(b"".join(b"%x,%s\n" % pair for pair in zip(bits, texts, strict=True)))
    return found.hexdigest()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "count",
    [
        1000,
        10_000,
        100_000,
        1_000_000,
        pytest.param(10_000_000, marks=pytest.mark.nightly),
        pytest.param(100_000_000, marks=pytest.mark.nightly),
    ],
)
def test_the_core_writes_the_published_numbers(count: int) -> None:
    assert digest(count) == VECTOR["published"][str(count)]


def test_another_sequence_has_another_digest() -> None:
    """The control."""
    assert digest(999) not in VECTOR["published"].values()


@pytest.fixture(scope="module")
def second() -> ModuleType:
    """The verifier that shares no line with us."""
    spec = importlib.util.spec_from_file_location("verify_tape", ROOT / "docs" / "verify_tape.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_integers_are_written_alike_by_all_three(second: ModuleType) -> None:
    """Tapes hold integers only: the core, the writer's encoder and the second verifier agree on them."""
    found = 0
    for number in islice(numbers(), 200_000):
        rounded = int(number) if abs(number) <= MAX_INT else struct.unpack("<q", struct.pack("<d", number))[0]
        whole = rounded % MAX_INT
        event = {"n": whole, "minus": -whole, "s": str(whole)}
        record = record_bytes(event)
        assert record == second.canonical(event).encode()
        found += 1
    assert found == 200_000
    assert is_canonical(record)
    assert _core.jcs(record) == record
