"""`python -m tests.bench.explore [--agents N] [--claims N] [--seed N]`: failures planted in generated agents.

An agent has stages. Each asks a server, on an error its fallback, and then goes on with a default value; a
later stage sends what earlier ones brought. Planted are single faults that nobody handles, a primary with its
fallback, two stages that both went on with defaults, and a garbled value that a fallback cannot take. The
truth is known by running all singles and pairs. Hidden agents send hashes, and remember faults inside.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median

from faultwire.events import AgentResult, Delivery, History, Recorded, Request
from faultwire.explore.observe import edges_of
from faultwire.explore.search import Explorer, OutOfBudget, Result, Strategy
from faultwire.explore.space import Call, Faults, Observation, Point

FAULTS = ("status", "timeout", "garbage")
SHARE_OF_ALL = 0.25
SHARE_OF_RANDOM = 0.5
BUDGET = 0.5
"""Of all runs: what a search may take before it must say what it knows."""


class Crashed(Exception):
    """The agent gave up."""


@dataclass
class Stage:
    """How an agent gets one value."""

    number: int
    inputs: tuple[int, ...]
    fallback: bool = True
    default: bool = True
    crashes_on: frozenset[str] = frozenset()
    retries: bool = False


@dataclass
class Agent:
    """A generated agent, and what was planted in it."""

    stages: list[Stage]
    entries: tuple[str, ...]
    both_default: frozenset[int] | None = None
    garbled: tuple[int, int] | None = None
    hidden: bool = False
    secret: frozenset[tuple[int, str]] | None = None
    """Of a hidden agent: two faults that it remembers, and gives up once it has met both."""
    counts: int = 0
    """Of a hidden agent: it gives up after so many errors."""

    def run(self, faults: Faults, *, record: bool = False) -> Session:
        session = Session(self, {point.call: point.entry for point in faults}, record)
        try:
            for stage in self.stages:
                session.values[stage.number] = session.stage(stage)
            if self.both_default and all(session.values[n].startswith("DEF") for n in self.both_default):
                raise Crashed("nothing left to say")
            words = " ".join(session.values[stage.number] for stage in self.stages)
            session.output = hashlib.sha256(words.encode()).hexdigest() if self.hidden else words
        except Crashed as crash:
            session.failed, session.output = True, f"crashed: {crash}"
        return session


@dataclass
class Session:
    """One run."""

    agent: Agent
    faults: dict[Call, str]
    record: bool = False
    """Are exchanges kept? Only lineage needs them."""
    values: dict[int, str] = field(default_factory=dict)
    calls: list[tuple[Call, str]] = field(default_factory=list)
    exchanges: list[Recorded] = field(default_factory=list)
    fired: set[Point] = field(default_factory=set)
    counted: dict[str, int] = field(default_factory=dict)
    met: set[tuple[int, str]] = field(default_factory=set)
    output: str = ""
    failed: bool = False

    def ask(self, place: str, stage: Stage, answer: str) -> str | None:
        """One call; None where it fails."""
        self.counted[place] = self.counted.get(place, 0) + 1
        call = Call(place, self.counted[place])
        sent = [self.values[one] for one in stage.inputs]
        if self.agent.hidden:
            sent = [hashlib.sha256(" ".join(sent).encode()).hexdigest()[:10]] if sent else []
        body = json.dumps({"for": f"stage {stage.number}", "with": sent})
        fault = self.faults.get(call)
        if fault is not None:
            self.fired.add(Point(call, fault))
            self.met.add((stage.number, fault))
        garbled = f"GARBLED-{stage.number}-{9000 + stage.number}"
        got = {None: answer, "garbage": garbled}.get(fault)
        self.calls.append((call, body))
        if self.record:
            self._record(place, body, got)
        agent = self.agent
        if agent.secret is not None and agent.secret <= self.met:
            raise Crashed("a secret reason")
        if agent.counts and len(self.met) >= agent.counts:
            raise Crashed("too many errors")
        if fault in stage.crashes_on:
            raise Crashed(f"stage {stage.number} met {fault}")
        return got

    def stage(self, stage: Stage) -> str:
        number = stage.number
        if self.agent.garbled is not None and self.agent.garbled[1] == number:
            is_garbled = self.values[self.agent.garbled[0]].startswith("GARBLED")
        else:
            is_garbled = False
        place = f"POST api.example/stage{number}"
        got = self.ask(place, stage, f"VAL-{number}-{7000 + number * 13}")
        if got is None and stage.retries:
            got = self.ask(place, stage, f"VAL-{number}-{7000 + number * 13}")
        if got is None and stage.fallback:
            if is_garbled:
                raise Crashed(f"the fallback of stage {number} cannot take a garbled value")
            got = self.ask(f"POST spare.example/stage{number}", stage, f"ALT-{number}-{8000 + number * 17}")
        if got is None:
            if not stage.default:
                raise Crashed(f"stage {number} has nothing left")
            got = f"DEF-{number}"
        return got

    def _record(self, place: str, body: str, got: str | None) -> None:
        _, _, url = place.partition(" ")
        host, _, path = url.partition("/")
        answer = Delivery(503 if got is None else 200, "", (), json.dumps({"value": got}).encode())
        number = len(self.exchanges) + 1
        request = Request("POST", "https", host, 443, f"/{path}", (), body.encode())
        self.exchanges.append(
            Recorded("s", number, "tool", None, None, None, request, answer, answer, "complete", None, 0,
                     100 * number, 50.0, key=body)
        )  # fmt: skip

    def observed(self, *, lineage: bool) -> Observation:
        points = frozenset(Point(call, entry) for call, _ in self.calls for entry in self.agent.entries)
        edges = frozenset[tuple[Call, Call | None]]()
        if lineage:
            history = History("s", tuple(self.exchanges), AgentResult(self.output, 0, 1.0))
            edges = edges_of(history, {n: call for n, (call, _) in enumerate(self.calls, 1)})
        return Observation(
            self.failed, self.output if self.failed else "", tuple(self.calls), frozenset(self.fired), points,
            edges, False, 0.1, 0.0, self.output,
        )  # fmt: skip


def generated(seed: int, *, hidden: bool = False, plant: bool = True) -> Agent:
    own = random.Random(f"explore {seed} {hidden}")
    count = own.randrange(6, 13)
    stages = []
    for number in range(count):
        inputs = tuple(sorted(own.sample(range(number), min(number, own.randrange(0, 3)))))
        stages.append(
            Stage(number, inputs, own.random() < 0.8, own.random() < 0.9, retries=own.random() < 0.3)
        )
    agent = Agent(stages, FAULTS[: own.randrange(2, 4)], hidden=hidden)
    if not plant:
        for stage in stages:
            stage.default = True
        return agent
    if own.random() < 0.5:
        own.choice(stages).crashes_on = frozenset([own.choice(agent.entries)])
    if own.random() < 0.6:
        agent.both_default = frozenset(own.sample(range(count), 2))
    if "garbage" in agent.entries and own.random() < 0.6 and count > 3:
        agent.garbled = tuple(sorted(own.sample(range(count), 2)))  # type: ignore[assignment]
    if hidden:
        first, second = own.sample(range(count), 2)
        if own.random() < 0.5:
            agent.secret = frozenset((n, own.choice(agent.entries)) for n in (first, second))
        else:
            agent.counts = 2
    return agent


def truth(agent: Agent) -> tuple[set[Faults], int]:
    """The minimal failing sets of one and two faults, and how many sets there are."""
    calm = agent.run(frozenset())
    points = sorted(Point(call, entry) for call, _ in calm.calls for entry in agent.entries)
    found: set[Faults] = set()
    sets = [frozenset([point]) for point in points]
    extra: list[Faults] = []
    for alone in sets:
        run = agent.run(alone)
        if run.failed:
            found.add(alone)
            continue
        new = [call for call, _ in run.calls if call not in dict(calm.calls)]
        extra += [frozenset([*alone, Point(call, entry)]) for call in new for entry in agent.entries]
    pairs = [frozenset(pair) for pair in combinations(points, 2) if pair[0].call != pair[1].call]
    for pair in [*pairs, *extra]:
        if not any(one <= pair for one in found if len(one) == 1) and agent.run(pair).failed:
            found.add(pair)
    return found, len(sets) + len(pairs) + len(extra)


@dataclass
class Counted:
    """A search over an agent: after how many runs each planted failure was found."""

    agent: Agent
    limit: int
    runs: int = 0
    seen: dict[int, set[Faults]] = field(default_factory=dict)

    def run_many(self, sets: Sequence[Faults]) -> Iterator[Observation]:
        for faults in sets:
            if self.runs >= self.limit:
                raise OutOfBudget
            self.runs += 1
            yield self.agent.run(faults, record=not faults).observed(lineage=not faults)


def searched(
    agent: Agent, strategy: Strategy, limit: int, seed: int, wanted: set[Faults]
) -> tuple[Result, int]:
    """The result, and the runs after which all that is wanted was found (the limit where it was not)."""
    counted = Counted(agent, limit)
    at: list[int] = []

    causes = {cause_of(faults) for faults in wanted}

    def progress(explorer: Explorer) -> None:
        if not at and causes <= {cause_of(find.faults) for find in explorer.finds}:
            at.append(counted.runs)

    explorer = Explorer(counted.run_many, strategy, seed=seed, progress=progress)
    result = explorer.explore()
    return result, at[0] if at else limit


def cause_of(faults: Faults) -> frozenset[Call]:
    """Failures with the same calls are one, whatever the fault."""
    return frozenset(point.call for point in faults)


def is_false(result: Result, wanted: set[Faults]) -> bool:
    """Is a failure left, though the search claims that there is none?"""
    if result.claim is None or not result.claim.holds:
        return False
    found = [cause_of(find.faults) for find in result.finds]
    return any(not any(one <= cause_of(failing) for one in found) for failing in wanted)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.explore")
    parser.add_argument("--agents", type=int, default=60, help="with planted failures, for the runs")
    parser.add_argument("--claims", type=int, default=500, help="for the claims, half of them hidden")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    shares: list[float] = []
    against: list[float] = []
    took: list[int] = []
    of: list[int] = []
    missed = 0
    for number in range(given.agents):
        agent = generated(given.seed * 100_000 + number)
        wanted, every = truth(agent)
        if not wanted:
            continue
        _, at = searched(agent, "lineage", every, given.seed, wanted)
        chance = [searched(agent, "random", every * 2, seed, wanted)[1] for seed in range(3)]
        missed += at >= every
        took.append(at)
        of.append(every)
        shares.append(at / every)
        against.append(at / median(chance))
    shares.sort()
    print(f"of all runs of all agents: {sum(took) / sum(of):.1%}")
    print(
        f"agents {len(shares)}: all found in a share of all runs of {median(shares):.1%} (median), "
        f"{shares[int(0.95 * len(shares))]:.1%} (95 %), {max(shares):.1%} (most); not all found in {missed}"
    )
    print(f"against random's median: {median(against):.1%} (median), {max(against):.1%} (most)")
    counts = {False: [0, 0, 0], True: [0, 0, 0]}
    for number in range(given.claims):
        hidden = number % 2 == 1
        agent = generated(given.seed * 200_000 + number, hidden=hidden, plant=number % 4 != 0)
        wanted, every = truth(agent)
        result, _ = searched(agent, "lineage", int(every * BUDGET), given.seed, wanted)
        made = result.claim is not None and result.claim.holds
        counts[hidden][0] += 1
        counts[hidden][1] += made
        counts[hidden][2] += is_false(result, wanted)
    for hidden, (agents, made, false) in counts.items():
        print(f"{'hidden' if hidden else 'visible'} lineage: {agents} agents, {made} claims, {false} false")
    worst = sum(took) / sum(of) > SHARE_OF_ALL or median(against) > SHARE_OF_RANDOM
    return int(bool(worst or missed or counts[False][2] or counts[True][2] or counts[True][1]))


if __name__ == "__main__":
    raise SystemExit(main())
