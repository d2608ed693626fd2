"""`python -m tests.bench.audit [--cases N] [--seed N]`: planted divergences of scripted agents, and the
audit's word on each. Beside it: the judgement from the shape of the values alone.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from faultwire.audit.compare_runs import Run, difference
from faultwire.audit.experiment import Audit
from faultwire.audit.finding import Condition, Finding
from faultwire.events import Delivery, Recorded, Request

TARGET = 0.95
JSON = (("content-type", "application/json"),)
WORDS = ("rivers", "lakes", "mountains", "deserts", "islands", "forests", "glaciers", "canyons")
OF_SHAPES = {
    "clock": "clock", "random value": "random", "order": "order", "model answer": "model",
    "server answer": "environment", "fault": "fault", "code": "code",
}  # fmt: skip


@dataclass
class World:
    """All that a run can depend on. `instant`, `hashes` and `race` are fixed by conditions."""

    case: random.Random
    chance: float
    runs: int = 0
    folder: int = 0
    outside: int = 0

    def start(self, condition: Condition, seed: int) -> Process:
        self.runs += 1
        self.outside += 1
        fixed = condition == "fixed chance"
        own = random.Random("fixed" if fixed else f"{seed} {self.runs}")
        machine = random.Random(f"machine {seed} {self.runs}")
        fresh = condition == "fresh folder"
        self.folder += not fresh
        race = random.Random("fixed" if condition == "fixed order" else f"race {seed} {self.runs}")
        known = condition in ("fixed hashes", "fixed chance")
        hashes = random.Random("0" if known else f"hash {seed} {self.runs}")
        instant = 1_790_000_000.25 if condition == "frozen clock" else 1_790_000_000 + self.runs * 1.7
        return Process(
            own, machine, race, hashes, instant, 0 if fresh else self.folder, self.outside,
            own.random() < self.chance, machine.random() < self.chance,
        )  # fmt: skip


@dataclass
class Process:
    """One run of an agent: the calls that it made so far."""

    own: random.Random
    machine: random.Random
    """What nothing fixes: servers, process ids, load."""
    race: random.Random
    hashes: random.Random
    instant: float
    left_behind: int
    outside: int
    acts: bool
    server_acts: bool
    replayed: tuple[Recorded, ...] = ()
    exchanges: list[Recorded] = field(default_factory=list)
    messages: list[dict[str, str]] = field(default_factory=list)

    def call(self, text: str, answer: str, *, tool: bool = False, at: int | None = None) -> str:
        """One exchange; what it was answered."""
        number = len(self.exchanges) + 1
        if tool:
            request = Request("GET", "https", "tools.example", 443, f"/{text}", ())
            body = json.dumps({"value": answer}).encode()
        else:
            self.messages.append({"role": "user", "content": text})
            asked = json.dumps({"model": "gpt-4o-mini", "messages": self.messages}).encode()
            request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, asked)
            message = {"role": "assistant", "content": answer}
            body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        status = 200
        if self.replayed:
            old = next((one for one in self.replayed if one.request == request), None)
            status, body = (422, b"{}") if old is None or old.upstream is None else (200, old.upstream.body)
        got = Delivery(status, "", JSON, body)
        started = 100 * number if at is None else at
        self.exchanges.append(
            Recorded(
                "s", number, "tool" if tool else "llm", None if tool else "openai_chat",
                None if tool else "openai", None, request, got, got, "complete", None, 0, started, 50.0,
            )
        )  # fmt: skip
        found = json.loads(body)
        text = (
            found.get("value", "")
            if tool
            else found.get("choices", [{}])[0].get("message", {}).get("content", "")
        )
        if not tool:
            self.messages.append({"role": "assistant", "content": text})
        return str(text)

    def parallel(self, texts: list[str], answers: list[str], *, leave: bool) -> list[str]:
        """Calls at once; their answers as they come. With `leave` they also leave in any order."""
        start = 100 * (len(self.exchanges) + 1)
        order = list(range(len(texts)))
        if leave:
            random.Random(self.own.random()).shuffle(order)
        answered = {
            at: self.call(texts[at], answers[at], tool=True, at=start + n) for n, at in enumerate(order)
        }
        self.race.shuffle(order)
        return [answered[at] for at in order]


Agent = Callable[[Process, World], None]


def clock(style: int) -> Agent:
    def agent(run: Process, _world: World) -> None:
        t = run.instant
        texts = (
            f"it is {t}", f"Today is 2026-09-2{int(t) % 7}, {int(t) % 24:02}:{int(t * 7) % 60:02} UTC",
            f"Good {'morning' if int(t * 10) % 2 else 'evening'}, tell me about {WORDS[int(t * 10) % 8]}",
            f"pick {random.Random(t).random()}", f"run-{int(t * 1000):x}", f"stamp {int(t * 1000)}",
        )  # fmt: skip
        run.call(texts[style % len(texts)], "fine")

    return agent


def chance(style: int) -> Agent:
    def agent(run: Process, _world: World) -> None:
        if not run.acts:
            run.call("the usual", "fine")
            return
        own = run.own
        if style % 6 == 0:
            run.call(f"pick {own.random()}", "fine")
        elif style % 6 == 1:
            run.call(f"id {own.getrandbits(128):032x}", "fine")
        elif style % 6 == 2:
            run.call(f"Tell me about {own.choice(WORDS)} and {own.choice(WORDS)}", "fine")
        elif style % 6 == 3:
            run.call(", ".join(own.sample(WORDS, len(WORDS))), "fine")
        elif style % 6 == 4:
            for word in run.hashes.sample(WORDS, 4):
                run.call(word, "fine", tool=True)
        else:
            for at in range(own.randrange(1, 6)):
                run.call(f"again {at}", "fine")

    return agent


def order(style: int) -> Agent:
    def agent(run: Process, _world: World) -> None:
        answers = [f"{word} are long" for word in WORDS[:3]]
        got = run.parallel(list(WORDS[:3]), answers, leave=style % 3 == 0)
        if style % 3 == 1:
            run.call(f"Sum up: {'; '.join(got)}", "fine")
        elif style % 3 == 2:
            run.call(f"Sum up: {got[0]}", "fine")

    return agent


def model(style: int) -> Agent:
    def agent(run: Process, _world: World) -> None:
        server = run.machine
        varied = server.choice(WORDS) if run.server_acts else "nothing"
        if style % 3 == 0:
            run.call(f"Then {run.call('Say a word', f'I like {varied} most')}", "fine")
        elif style % 3 == 1:
            run.call("Say a word", f"I like {varied} and {server.randrange(10**6)}")
        else:
            run.call(f"Use {run.call('Mint an id', f'TCK-{server.getrandbits(40):010x}')}", "fine")

    return agent


def environment(style: int) -> Agent:
    def agent(run: Process, _world: World) -> None:
        if style % 5 == 0:
            run.call(f"You have called {run.left_behind} times", "fine")
        elif style % 5 == 1:
            if run.left_behind < 3:
                run.call("fill the cache" * (run.left_behind + 1), "fine")
        elif style % 5 == 2:
            server = run.machine
            run.call("stock", f"{server.choice(WORDS)} {server.randrange(10**6)}", tool=True)
        elif style % 5 == 3:
            run.call(f"Row {1000 + run.outside} of the table", "fine")
        else:
            words = WORDS[run.left_behind % 8]
            run.call(f"Last time it was {words}", "fine")

    return agent


def machine(style: int) -> Agent:
    """What an agent reads of its machine, and no condition holds fixed."""

    def agent(run: Process, _world: World) -> None:
        read = run.machine
        texts = (
            f"worker {read.randrange(1000, 32768)}", f"load {read.random():.2f}",
            f"{read.randrange(2_000, 8_000)} MB are free", f"uptime {1000 + 37 * read.randrange(500)} s",
            f"notes in /var/tmp/{read.getrandbits(32):08x}", f"the load is {read.choice(('low', 'high'))}",
        )  # fmt: skip
        run.call(texts[style % len(texts)], "fine")

    return agent


def changed(style: int) -> Agent:
    def agent(run: Process, world: World) -> None:
        new = world.runs > 1
        texts = (("Be brief", "Be brief and kind"), ("gpt", "claude"), ("Tell me 3 facts", "Tell me 5 facts"))
        run.call(texts[style % 3][new], "fine")

    return agent


PLANTS: tuple[tuple[str, int, Callable[[int], Agent]], ...] = (
    ("clock", 60, clock), ("random", 60, chance), ("order", 50, order), ("model", 50, model),
    ("environment", 50, environment), ("code", 15, changed), ("environment", 15, changed),
    ("unknown", 50, machine),
)  # fmt: skip
RATES = (1.0, 1.0, 0.7)


@dataclass(frozen=True)
class Case:
    """One planted divergence."""

    cause: str
    agent: Agent
    seed: int
    before: int
    after: int
    rate: float
    earlier: bool
    same_program: bool | None

    def audited(self) -> tuple[Finding, str, int]:
        """The audit's finding, the word of the shape, and at which call it was planted."""
        world = World(random.Random(self.seed), self.rate)

        def play(condition: Condition, tape: Run | None) -> Run | None:
            run = world.start(condition, self.seed)
            run = replace(run, replayed=tape.exchanges if tape is not None else ())
            run.call("Where shall we start?", "At the source.")
            for at in range(self.before - 1):
                run.call(f"Step {at}", f"Done with step {at}.")
            self.agent(run, world)
            for at in range(self.after):
                run.call(f"Afterwards {at}", f"Done afterwards {at}.")
            return Run(tuple(run.exchanges))

        earlier = play("plain", None) if self.earlier else None
        finding = Audit(play, earlier=earlier, same_program=self.same_program).run()
        pairs = [(play("plain", None), play("plain", None)) for _ in range(3)]
        shapes = [d for one, other in pairs if one and other and (d := difference(one, other))]
        if finding.first is not None and not shapes:
            shapes = [finding.first]
        return finding, OF_SHAPES[shapes[0].shape] if shapes else "none", self.before + 1


def cases(count: int, seed: int) -> list[Case]:
    made: list[Case] = []
    total = sum(share for _, share, _ in PLANTS)
    for plant, (cause, share, agent) in enumerate(PLANTS):
        earlier = agent is changed
        for at in range(round(share * count / total)):
            own = random.Random(f"{seed} {plant} {at}")
            varies = cause == "random" or cause == "model"
            rate = own.choice(RATES) if varies else 1.0
            program = None if not earlier else cause == "environment"
            made.append(
                Case(cause, agent(at), own.randrange(1 << 30), own.randrange(1, 8), own.randrange(4), rate,
                     earlier, program)
            )  # fmt: skip
    return made


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.audit")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    right: Counter[str] = Counter()
    shaped: Counter[str] = Counter()
    total: Counter[str] = Counter()
    wrong: Counter[tuple[str, str]] = Counter()
    placed = runs = 0
    for case in cases(given.cases, given.seed):
        finding, shape, call = case.audited()
        total[case.cause] += 1
        right[case.cause] += finding.cause == case.cause
        shaped[case.cause] += shape == case.cause
        at = finding.source or (finding.first.call if finding.first else 0)
        placed += finding.first is not None and (not at or abs(at - call) <= 3)
        runs += finding.runs
        if finding.cause != case.cause:
            wrong[case.cause, str(finding.cause)] += 1
    print("| cause | cases | audit | shape of the values alone |\n|---|---|---|---|")
    for cause, count in total.items():
        print(f"| {cause} | {count} | {right[cause] / count:.1%} | {shaped[cause] / count:.1%} |")
    every = sum(total.values())
    share = sum(right.values()) / every
    print(f"| all | {every} | {share:.1%} | {sum(shaped.values()) / every:.1%} |")
    print(f"\nat the planted call: {placed / every:.1%}; runs: {runs / every:.1f} a case")
    for (planted, found), count in wrong.most_common():
        print(f"{planted} taken for {found}: {count}")
    return int(min(share, *(right[cause] / count for cause, count in total.items())) < TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
