"""Hashes, the Merkle tree and dice (`faultwire._core`, module digest)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from faultwire import _core

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "merkle.json").read_text())
RECORDS = [bytes.fromhex(record) for record in VECTORS["records"]]


@pytest.mark.parametrize("size", [0, 1, 1000, 100_000])
def test_sha256(size):
    data = b"x" * size
    assert _core.sha256_hex(data) == hashlib.sha256(data).hexdigest()
    assert _core.leaf_hash(data) == hashlib.sha256(b"\0" + data).digest()


@pytest.mark.parametrize("size", range(len(VECTORS["roots"])))
def test_merkle_root(size):
    leaves = [_core.leaf_hash(record) for record in RECORDS[:size]]
    assert _core.merkle_root(leaves).hex() == VECTORS["roots"][size]


def test_two_leaves_are_one_node():
    left, right = (_core.leaf_hash(record) for record in RECORDS[:2])
    assert _core.merkle_root([left, right]) == _core.node_hash(left, right)


def test_chain():
    previous = bytes.fromhex(VECTORS["chain"]["first"])
    for record, link in zip(RECORDS, VECTORS["chain"]["links"], strict=True):
        previous = _core.chain_hash(previous, record)
        assert previous.hex() == link


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: _core.node_hash(b"", bytes(32)), "left"),
        (lambda: _core.node_hash(bytes(32), bytes(33)), "right"),
        (lambda: _core.chain_hash(bytes(31), b""), "previous"),
        (lambda: _core.merkle_root([bytes(32), b"short"]), "leaf"),
    ],
)
def test_a_hash_has_32_bytes(call, name):
    with pytest.raises(ValueError, match=rf"^`{name}` has \d+ bytes, expected 32$"):
        call()


@pytest.mark.parametrize("case", VECTORS["unit"], ids=lambda case: case["key"])
def test_unit(case):
    assert _core.unit(case["key"].encode()) == case["value"]


def test_units_are_spread():
    draws = [_core.unit(b"key %d" % n) for n in range(10_000)]
    assert 0 <= min(draws) < 0.001
    assert 0.999 < max(draws) < 1
    assert abs(sum(draws) / len(draws) - 0.5) < 0.01
