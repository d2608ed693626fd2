"""faultwire.tape.read.fault_ledger: the hash is the same in every release."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256

from faultwire.events import FaultFired
from faultwire.tape.format.events import ledger_line
from faultwire.tape.read.fault_ledger import ledger_hash

LINE = FaultFired("tool_error", "e1", "response", "fired", "call 1 matches", "k", 0, 0)
OTHER = replace(LINE, id="e2", outcome="skipped")


def sized(*parts: bytes) -> bytes:
    return b"".join(str(len(part)).encode() + b":" + part for part in parts)


def record(session: str, line: FaultFired) -> bytes:
    """A line as it is hashed: canonical JSON without the reason and the key, with its session."""
    written = {name: value for name, value in ledger_line(line).items() if name not in ("reason", "key")}
    return json.dumps({**written, "session": session}, sort_keys=True, separators=(",", ":")).encode()


def test_the_lines_are_hashed_in_groups_of_one_key_in_one_session() -> None:
    together = sized(sized(*sorted((record("s", LINE), record("s", OTHER)))))
    assert ledger_hash([("s", OTHER), ("s", LINE)]) == sha256(together).hexdigest()
    apart = sized(*sorted((sized(record("s", LINE)), sized(record("t", OTHER)))))
    assert ledger_hash([("s", LINE), ("t", OTHER)]) == sha256(apart).hexdigest()
    assert together != apart


def test_requests_that_attacks_changed_make_it_version_2() -> None:
    lines = sha256(sized(sized(record("s", LINE)))).digest()
    assert ledger_hash([("s", LINE)]) == lines.hex()
    changed = sorted((sized(b"s", b"f2"), sized(b"s", b"f1")))
    whole = sha256(sized(b"faultwire-ledger-v2", lines, *changed)).hexdigest()
    assert ledger_hash([("s", LINE)], [("s", "f2"), ("s", "f1")]) == whole
