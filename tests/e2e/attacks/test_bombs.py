"""Compressed bombs and bombs of aliases: refused before they are unpacked, and harmful where they are not."""

from __future__ import annotations

import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from faultwire.errors import FaultwireError
from faultwire.profile.load import load

BOMB_MB = 32
PLAIN_MB = 300
LAYERS = 9
ALIASES = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, LAYERS + 1))
BILLION = f"a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n{ALIASES}"
UNPACKS = """
import resource, sys
from faultwire.tape.redact import content_coding
if sys.argv[2] == "unbounded":
    content_coding.MAX_PLAIN = content_coding.UNMEASURED = 1 << 40
    content_coding.decoded.__kwdefaults__["max_ratio"] = 1 << 40
packed = open(sys.argv[1], "rb").read()
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = peak()
try:
    found = len(content_coding.unpack(packed, ("gzip",)))
except content_coding.Opaque:
    found = 0
print(found, peak() - before)
"""


def unpacked(folder: Path, how: str) -> tuple[int, float]:
    """What a process of its own unpacked for the tape, and by how many MB it grew."""
    pack = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    data = b"".join([pack.compress(b"a" * (1 << 20)) for _ in range(PLAIN_MB)]) + pack.flush()
    (folder / "bomb").write_bytes(data)
    assert len(data) < 1 << 20
    command = [sys.executable, "-c", UNPACKS, str(folder / "bomb"), how]
    size, grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return int(size), float(grown)


def test_a_body_that_unpacks_to_far_more_is_not_held_for_the_tape(tmp_path: Path) -> None:
    size, grown = unpacked(tmp_path, "bounded")
    assert size == 0, "it is not looked into"
    assert grown < BOMB_MB


def test_without_the_bound_all_of_it_is_held(tmp_path: Path) -> None:
    size, grown = unpacked(tmp_path, "unbounded")
    assert size == PLAIN_MB << 20
    assert grown > PLAIN_MB


def leaves(value: Any, known: dict[int, int]) -> int:
    """How many texts somebody finds who goes through it."""
    if not isinstance(value, list):
        return 1
    if id(value) not in known:
        known[id(value)] = sum(leaves(one, known) for one in value)
    return known[id(value)]


def test_aliases_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.yaml"
    path.write_text(BILLION)
    with pytest.raises(FaultwireError, match="alias"):
        load(path)


def test_a_reader_that_follows_aliases_makes_billions_of_a_few_hundred_bytes() -> None:
    assert len(BILLION) < 1024
    assert leaves(yaml.safe_load(BILLION)[f"a{LAYERS}"], {}) == 9 ** (LAYERS + 1)
