"""The recorded tape in `replays/`, which README and documentation point at."""

from __future__ import annotations

from pathlib import Path

from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

SAMPLE = Path(__file__).parents[3] / "replays" / "cut_stream.tape"


def test_it_verifies_and_lists_the_faults_of_the_agent() -> None:
    assert verify(SAMPLE).ok
    with TapeReader.open(SAMPLE) as tape:
        (exchange,) = tape.exchanges()
    assert [(f.fault, f.outcome, f.effect) for f in exchange.faults] == [
        ("cut_stream", "fired", "stream cut after 3 events")
    ]
    assert exchange.ending == "cut"
    assert exchange.upstream is not None
    assert exchange.delivered is not None
    assert exchange.upstream.body.startswith(exchange.delivered.body)
    assert len(exchange.delivered.body) < len(exchange.upstream.body)


def test_one_changed_byte_is_noticed(tmp_path: Path) -> None:
    data = bytearray(SAMPLE.read_bytes())
    at = data.index(b"stream cut after 3 events")
    data[at + len("stream cut after ")] ^= 1
    changed = tmp_path / "changed.tape"
    changed.write_bytes(data)
    assert not verify(changed).ok
