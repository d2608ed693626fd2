"""How events become evidence: canonical bytes, one hash each, every record naming the one before.

A record is RFC 8785 (JCS) JSON without fractions; its hash is the RFC 6962 leaf,
SHA-256(0x00 ‖ record). The member `prev` holds the hash of the record before it in hex, so a plain
reader walks the chain with nothing but SHA-256, and every leaf commits to all earlier ones.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

GENESIS = "0" * 64
"""`prev` of the first record."""

MAX_INT = 2**53 - 1
"""The largest integer that JSON readers in every language keep exact (RFC 7493 §2.2)."""

_FRACTION = re.compile(rb"[:,\[]-?[0-9]+[.eE]")
_DEEP = 64


def record_bytes(event: Mapping[str, Any]) -> bytes:
    """The canonical bytes of an event.

    orjson's sorted output is already canonical here: keys are ours and ASCII (so UTF-8 order is
    UTF-16 order), there are no fractions, and it escapes exactly what RFC 8785 §3.2.2.2 escapes.
    A test holds both against the core's `jcs`.
    """
    return orjson.dumps(event, option=orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER)


def is_canonical(record: bytes) -> bool:
    """Is this exactly the canonical form of what it says?"""
    try:
        return _core.jcs(record) == record
    except ValueError:
        return False


def is_canonical_event(record: bytes, event: Any, *, fraction: bool) -> bool:
    """The same where `event` is what the record says, and `fraction` is `may_have_fraction`; much faster
    as a rule. A number that no record has, since not every reader keeps it exact, is not canonical here.

    What our own writer would write again byte for byte is canonical, if its keys are ASCII, no number
    is a fraction and it is not deeper than the core reads; of all else the core has the word.
    """
    try:
        again = record_bytes(event) == record
    except TypeError:  # such an integer, or deeper than anybody reads
        return False
    shallow = record.count(b"{") + record.count(b"[") < _DEEP
    if again and shallow and not fraction and record.isascii():
        return True
    return is_canonical(record) and not (fraction and _has_fraction(event))


def may_have_fraction(record: bytes) -> bool:
    """May there be a number with a fraction or an exponent? Never wrong with no, for canonical JSON."""
    return _FRACTION.search(record) is not None


def _has_fraction(event: Any) -> bool:
    waiting = [event]
    while waiting:
        value = waiting.pop()
        if isinstance(value, float):
            return True
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return False


def is_number(found: object, number: int) -> bool:
    """Is it this integer? JSON's `true` is none, which Python takes for 1."""
    return type(found) is int and found == number


def leaf(record: bytes) -> bytes:
    """SHA-256(0x00 ‖ record), 32 bytes."""
    return _core.leaf_hash(record)


def root(leaves: list[bytes]) -> bytes:
    """The RFC 6962 tree head over the leaves, 32 bytes."""
    return _core.merkle_root(leaves)


def storable(value: Any) -> Any:
    """The same with what no JSON text can hold (half of a surrogate pair, as in a URL that is no
    UTF-8) written as an escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: storable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable(one) for one in value]
    return value
