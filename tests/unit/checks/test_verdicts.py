"""Every verdict on the benchmark's histories and on bent ones, word for word as it was recorded.

What checks share, keep or pass over must not change what they say. `FAULTWIRE_SNAPSHOTS=write` records anew;
then read the difference.
"""

import json
import os
from dataclasses import astuple
from pathlib import Path

import pytest
from tests.unit.checks.bent import bent, checks, plain

from faultwire._core import sha256_hex
from faultwire.checks._api import Check

VECTORS = Path(__file__).parents[2] / "vectors" / "verdicts.json"
BENT = 240


def said(history, asked=None):
    """What each check says, a line for each."""
    return [f"{check.name}: {_line(check, history)}" for check in asked or checks()]


def _line(check: Check, history) -> str:
    verdict, explanation, value, exchanges = astuple(check.verdict(history))
    return f"{verdict}, {explanation} [{value!r}] {list(exchanges)}"


def digests(histories):
    """For each history the digest of all that is said of it."""
    asked = checks()
    return [
        sha256_hex("\n".join(said(one, asked)).encode("utf-8", "backslashreplace"))[:16] for one in histories
    ]


@pytest.fixture(scope="module")
def recorded():
    if os.environ.get("FAULTWIRE_SNAPSHOTS") == "write":
        told = {"plain": [said(one) for one in plain()], "bent": digests(bent(BENT))}
        VECTORS.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    return json.loads(VECTORS.read_text())


def test_the_verdicts_on_the_benchmarks_histories(recorded):
    for history, lines in zip(plain(), recorded["plain"], strict=True):
        assert said(history) == lines
    found = "\n".join(line for lines in recorded["plain"] for line in lines)
    assert all(f": {verdict}, " in found for verdict in ("pass", "fail", "unknown"))
    assert "the check crashed" not in found


def test_the_verdicts_on_bent_histories(recorded):
    found = digests(bent(BENT))
    assert [
        at for at, (one, other) in enumerate(zip(found, recorded["bent"], strict=True)) if one != other
    ] == []
    assert len(set(found)) > BENT * 3 // 4, "bent differently, they are judged differently"


def test_it_does_not_matter_in_which_order_histories_and_checks_come():
    histories, asked = [*bent(24)], checks()
    by_history = [[_line(check, history) for check in asked] for history in histories]
    by_check = [[_line(check, history) for history in reversed(histories)] for check in reversed(asked)]
    assert by_history == [list(row)[::-1] for row in zip(*by_check, strict=True)][::-1]
