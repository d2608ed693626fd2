"""Fuzz Python's borders by coverage: `python -m tests.fuzz.guided --target frames --minutes 60`.

The targets are those of `python -m tests.fuzz`. Here libFuzzer (Atheris) chooses the bytes from which
hypothesis makes an input, and keeps what reached new code in the packages behind the border. The core is not
instrumented: what it does guides nothing. An input that finds something ends the run with exit code 1; it is
printed, and goes into the corpus.

Needs the extra `fuzz`. Seeds and what libFuzzer keeps are in `--folder`, which a later run goes on from.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import atheris
from hypothesis import HealthCheck, given, settings

GUIDED = {
    "heads": ("tests.fuzz.heads", "HEADS", ["h11"]),
    "fields": ("tests.fuzz.heads", "FIELDS", ["faultwire"]),
    "frames": ("tests.fuzz.frames", "FRAMES", ["faultwire", "h2", "hpack", "hyperframe"]),
    "yaml": ("tests.fuzz.yaml_files", "YAML", ["faultwire", "yaml"]),
    "tapes": ("tests.fuzz.files", "TAPES", ["faultwire"]),
    "imports": ("tests.fuzz.files", "IMPORTS", ["faultwire"]),
}
"""By target: where it is, and the packages in which new code counts."""
PLAIN = ("faultwire.wire", "faultwire.exchange.pipeline")
"""What is behind none of them: new code in it would lead away."""
REPORTED_S = 60.0
LONGEST = 4096
"""Bytes that hypothesis draws from for one input."""


class Guided:
    """One target, and what libFuzzer has tried on it."""

    def __init__(self, target: Any, seconds: float) -> None:
        self.target = target
        self.executions = self.taken = 0
        self.end = time.monotonic() + seconds
        self.reported = time.monotonic()
        self.last: Any = None

        @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
        @given(target.cases)
        def once(case: Any) -> None:
            self.last = case
            self.executions += 1
            self.taken += target.check(case)

        self._once = once.hypothesis.fuzz_one_input  # type: ignore[attr-defined]  # put there by `given`

    def __call__(self, data: bytes) -> None:
        """Called by libFuzzer, again and again."""
        try:
            self._once(data)
        except Exception as error:
            self.report(f"{type(error).__name__}: {error}\n  input: {self.last!r}")
            from tests.fuzz.__main__ import Campaign

            Campaign(self.target)._keep(error, self.last)
            raise
        now = time.monotonic()
        if now > self.end:
            self.report("no finding")
            os._exit(0)  # libFuzzer has no other end from within
        if now > self.reported + REPORTED_S:
            self.reported = now
            self.report("so far no finding")

    def report(self, what: str) -> None:
        """Print how far it has come."""
        share = self.taken / max(1, self.executions)
        counts = f"{self.executions:,} inputs, {share:.0%} of them taken"
        print(f"{self.target.name}: {counts}: {what}", flush=True)


def main() -> None:
    """Fuzz one target for a time."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("--target", choices=list(GUIDED), required=True)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--folder", type=Path, help="what reached new code; a new one by default")
    asked = parser.parse_args()
    place, name, guided = GUIDED[asked.target]
    for module in PLAIN:
        importlib.import_module(module)
    with atheris.instrument_imports(include=guided):
        target = getattr(importlib.import_module(place), name)
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="faultwire-guided-"))
    folder.mkdir(exist_ok=True)
    before = len(list(folder.iterdir()))
    print(json.dumps({"target": asked.target, "folder": str(folder), "kept": before}), flush=True)
    limits = [f"-max_len={LONGEST}", "-len_control=0", "-timeout=60", "-rss_limit_mb=4096"]
    limits += ["-print_final_stats=1", f"-artifact_prefix={folder}/"]
    atheris.Setup([sys.argv[0], str(folder), *limits], Guided(target, 60 * asked.minutes))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
