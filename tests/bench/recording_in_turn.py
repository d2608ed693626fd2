"""`python -m tests.bench.recording_in_turn [--folder DIR]`: the log of a tape in the core over one in Python.

Both in this process and in turn, with the redaction and the encoder that both have; CPU of the whole process.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import recording
from tests.property.test_tape_rows import PlainLog, PlainStore

from faultwire.tape.record import writer
from faultwire.tape.record.store import Store
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import Redactor

ROUNDS = 9
MEASURES: dict[str, tuple[int, int, Callable[[TapeWriter, int], float]]] = {
    "2 KB JSON, a commit for 40": (1500, 40, lambda tape, number: recording.exchange(tape, number, 2048)),
    "SSE, 200 events, a commit for 6": (60, 6, recording.stream),
    "2 KB JSON, a commit for each": (150, 1, lambda tape, number: recording.exchange(tape, number, 2048)),
}


@contextmanager
def in_python() -> Iterator[None]:
    """While it lasts, tapes are written in Python."""
    logs: list[PlainLog] = []

    def log(redactor: Redactor) -> PlainLog:
        logs.append(PlainLog(redactor))
        return logs[-1]

    def store(path: Path) -> Store:
        made = PlainStore(path)
        made.log = logs[-1]
        return made

    kept = writer.EventLog, writer.open_store
    writer.EventLog, writer.open_store = log, store  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        writer.EventLog, writer.open_store = kept  # type: ignore[misc]


def main() -> None:
    """Print the medians, and the ratios with their range."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", help="where the tapes are put: /dev/shm measures without a disk")
    with tempfile.TemporaryDirectory(dir=parser.parse_args().folder) as folder:
        for title, (count, batch, one) in MEASURES.items():
            pairs = []
            for _ in range(ROUNDS):
                with in_python():
                    then = recording.measured(Path(folder), count, batch, one)[0]
                pairs.append((then, recording.measured(Path(folder), count, batch, one)[0]))
            ratios = sorted(now / then for then, now in pairs)
            middles = [statistics.median(column) * 1e3 for column in zip(*pairs, strict=True)]
            print(
                f"{title}: {middles[0]:.0f} µs in Python, {middles[1]:.0f} in the core, "
                f"{statistics.median(ratios):.2f} × ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            )


if __name__ == "__main__":
    main()
