"""Fuzz for a time: `python -m tests.fuzz --minutes 10 --target heads`.

Prints how many inputs were made, how many of them were taken, and each that found something, made as small as
hypothesis can. Exits with 1 where one did. An input of bytes that found something is written into the corpus,
which `tests/fuzz/test_corpus.py` passes from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import traceback
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.fuzz.targets import CORPUS, Target, named


@dataclass
class Campaign:
    """One target, for a time."""

    target: Target
    executions: int = 0
    taken: int = 0
    found: dict[str, Any] = field(default_factory=dict)
    """The smallest input of each place that failed."""

    def run(self, seconds: float, first_seed: int) -> None:
        """Make inputs until the time is over."""
        end, number = time.monotonic() + seconds, first_seed
        while time.monotonic() < end:
            self._batch(number)
            number += 1

    def _batch(self, number: int) -> None:
        last: list[Any] = []

        @seed(number)
        @settings(
            max_examples=self.target.batch,
            database=None,
            deadline=None,
            print_blob=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
        )
        @given(self.target.cases)
        def once(case: Any) -> None:
            self.executions += 1
            last[:] = [case]
            self.taken += self.target.check(case)

        try:
            once()
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is looked for
            self._keep(error, last[0])

    def _keep(self, error: Exception, case: Any) -> None:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} at {frame.filename}:{frame.lineno}"
        if place in self.found:
            return
        self.found[place] = case
        print(f"{self.target.name}: {place}: {error}\n  input: {case!r}", flush=True)
        data = case if isinstance(case, bytes) else _as_text(case)
        name = f"found-{hashlib.sha256(data).hexdigest()[:12]}"
        (CORPUS / self.target.name).mkdir(parents=True, exist_ok=True)
        (CORPUS / self.target.name / name).write_bytes(data)


def _as_text(case: Any) -> bytes:
    """Fields as JSON, a number as its digits."""
    if isinstance(case, list):
        case = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in case]
    return json.dumps(case).encode()


def main() -> int:
    """Fuzz the targets that were named, one after the other."""
    targets = named()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for each target")
    parser.add_argument("--target", choices=[*targets, "all"], action="append", default=[])
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="the same seed makes the same inputs"
    )
    asked = parser.parse_args()
    names = [*targets] if not asked.target or "all" in asked.target else asked.target
    failed = 0
    for name in names:
        campaign = Campaign(targets[name])
        campaign.run(60 * asked.minutes, asked.seed)
        failed += len(campaign.found)
        share = campaign.taken / max(1, campaign.executions)
        print(
            f"{name}: {campaign.executions:,} inputs in {asked.minutes:g} minutes from seed {asked.seed}, "
            f"{share:.0%} of them taken, {len(campaign.found)} findings",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
