"""Compare the native path with mitmproxy's own: `python -m tests.fuzz.paths --inputs 20000 --seed 1`.

Each input is a script of one connection (heads, bodies by length and in chunks, trailers, interim responses,
`Expect`, event streams, WebSockets, pipelining, early answers, early ends, damaged bytes) under one of the
faults. It is played on mitmproxy's layers, on the native path, and there once more in other pieces. Compared
are the bytes to the client and to each server, the ends of these connections, what the tape gets, and what is
counted. Prints how many inputs differed for which known reason, and each that did for none, made small; exits
with 1 where there was one. The same seed makes the same inputs.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.fuzz.paths import cases, faults, known
from tests.fuzz.paths.cases import Case
from tests.fuzz.paths.outcomes import differences, outcome
from tests.fuzz.paths.shrink import shrunk

SHOWN = 10
"""Findings that are made small and printed; more of them are only counted."""
REPORTED_S = 20.0


@dataclass
class Campaign:
    """Inputs of one seed, and what came of them."""

    seed: int
    inputs: int = 0
    exchanges: int = 0
    fired: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    found: list[Case] = field(default_factory=list)

    def run(self, count: int) -> None:
        """Make and compare so many."""
        reported = time.monotonic()
        for number in range(count):
            self.inputs += 1
            self._compare(cases.make(self.seed, number, len(faults.profiles())), number)
            if time.monotonic() > reported + REPORTED_S:
                reported = time.monotonic()
                print(self.report(), flush=True)

    def _compare(self, case: Case, number: int) -> None:
        one, why = compared(case)
        self.exchanges += len(one.tape)
        self.fired += sum(one.counters["fired"].values())
        if why is None:
            self._keep(case, number)
        elif why:
            self.reasons[why] += 1

    def _keep(self, case: Case, number: int) -> None:
        if len(self.found) < SHOWN:
            print(f"input {number} of seed {self.seed} differs: {case.name}", flush=True)
            case = shrunk(case, lambda smaller: compared(smaller)[1] is None)
            print(f"input {number} of seed {self.seed}, made small: {told(case)}", flush=True)
        self.found.append(case)

    def report(self) -> str:
        """One line."""
        reasons = "".join(f"; {count:,} for {name}" for name, count in sorted(self.reasons.items()))
        return (
            f"{self.inputs:,} inputs of seed {self.seed} ({time.process_time():.0f} s of CPU), "
            f"{self.exchanges:,} exchanges, {self.fired:,} faults fired: {len(self.found)} differences "
            f"without a known reason{reasons}"
        )


def compared(case: Case) -> tuple[known.Outcome, str | None]:
    """The outcome on mitmproxy's path, and why the native path's is another: empty where it is not, None
    where no reason is known."""
    one = outcome(case, native=False)
    why = known.reason(case, one, outcome(case, native=True))
    if why == "" and case.orderly and case.profile < faults.CALM:
        again = case.divided(random.Random(len(case.steps)))
        why = known.reason(case, one, outcome(again, native=True))
    return one, why


def told(case: Case) -> str:
    """A case in words."""
    entries = faults.profiles()[case.profile].entries
    lines = [f"{case.name}; plain={case.plain}; {[entry.fault for entry in entries]}"]
    lines += [f"    {who} {data!r}" for who, data in case.steps]
    one = outcome(case, native=False)
    for name, pair in differences(one, outcome(case, native=True)).items():
        lines += [f"  {name}", *(f"    {str(value)[:600]}" for value in pair)]
    return "\n".join(lines)


def main() -> int:
    """Compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.paths", description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)  # failures of ours are compared, not read
    campaign = Campaign(asked.seed)
    campaign.run(asked.inputs)
    print(campaign.report())
    return 1 if campaign.found else 0


if __name__ == "__main__":
    sys.exit(main())
