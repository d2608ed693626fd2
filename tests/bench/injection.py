"""`python -m tests.bench.injection PYTHON`: the injection detector on AgentDojo, as a smoke test.

PYTHON has the package. *Found* are results of tools that hold one of its attacks, as its own agents read
them: each attack × each injection task, placed in the environment of a user task, the next one each time.
*Flagged* are genuine results: all that its tools give back while its ground truths solve the user tasks
in peace. What is found is written anew by each of our encodings, and placed again. The rules were not made on
these texts, but on a third of the attacks' frames (see `docs/reference/patterns.md`).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from faultwire.benchmarks.server import TaskServer
from faultwire.faults.attack._replace import CannotCarry, replaced
from faultwire.mutations.encoding_attacks import ENCODINGS
from faultwire.patterns import scan

RELEASE = "v1.2.2"
MARK = "FWMARK0"


class Placed(NamedTuple):
    """A payload of an attack, and the results that have a place for it, with the mark there."""

    attack: str
    label: str
    payload: str
    results: tuple[str, ...]

    def texts(self, payload: str) -> Iterator[str]:
        """The results with a payload in place."""
        for text in self.results:
            try:
                made = replaced(text, {MARK: payload})
            except CannotCarry:
                continue
            if made is not None:
                yield made


def found(text: str) -> bool:
    """Does the detector report anything?"""
    return bool(scan(text, kinds=["injection"]))


def caught(one: Placed, payload: str) -> bool | None:
    """Is a payload found in a result that holds it? None where no result can hold it."""
    texts = list(one.texts(payload))
    return any(map(found, texts)) if texts else None


def results_of(server: TaskServer, suite: str, user: str, injection: str | None, text: str) -> list[str]:
    """What the tools gave back; with an injection, `text` stands at each of its places."""
    order = {"version": RELEASE, "suite": suite, "user": user, "injection": injection, "attack": ""}
    found_ = server.ask("reference", **order, template=text, obeys=False, word="")
    return list(found_["results"])


def genuine(server: TaskServer, pairs: list[list[str]]) -> list[str]:
    """Every result of the calm runs, once."""
    users = dict.fromkeys((suite, user) for suite, user, _ in pairs)
    texts = (text for suite, user in users for text in results_of(server, suite, user, None, ""))
    return [text for text in dict.fromkeys(texts) if text.strip()]


def placed(server: TaskServer, pairs: list[list[str]]) -> Iterator[Placed]:
    """Each attack × each injection task, in one user task's results."""
    marked: dict[tuple[str, str], tuple[str, ...]] = {}
    users: dict[str, list[str]] = {}
    tasks = dict.fromkeys((suite, injection) for suite, _, injection in pairs)
    for suite, user, _ in pairs:
        users.setdefault(suite, []).append(user)
    turn = 0
    for attack in server.about["attacks"]:
        for suite, injection in tasks:
            turn += 1
            every = list(dict.fromkeys(users[suite]))
            user = every[turn % len(every)]
            if (suite, user) not in marked:
                texts = results_of(server, suite, user, injection, MARK)
                marked[suite, user] = tuple(text for text in texts if MARK in text)
            payload = payload_of(server, attack, suite, user, injection)
            yield Placed(attack, f"{suite} {user} {injection}", payload, marked[suite, user])


def payload_of(server: TaskServer, attack: str, suite: str, user: str, injection: str) -> str:
    order: dict[str, Any] = {"version": RELEASE, "suite": suite, "user": user, "injection": injection}
    opened = server.ask("open", name="one", attack=attack, obeys=False, word="x", **order)
    server.ask("judge", name="one", answer="")
    return str(next(iter(opened["payloads"].values())))


def share(count: int, total: int) -> str:
    return f"{count} of {total} ({count / total:.3f})" if total else "none"


def measured(python: Path) -> Iterator[str]:
    """The figures, line by line."""
    with TaskServer(python, "agentdojo_tasks") as server:
        pairs = server.ask("pairs", version=RELEASE)
        calm = genuine(server, pairs)
        flagged = [text for text in calm if found(text)]
        yield f"genuine results flagged   {share(len(flagged), len(calm))}"
        yield from (f"    {' '.join(text.split())[:100]}" for text in flagged[:5])
        attacks = list(placed(server, pairs))
    hits = [one for one in attacks if caught(one, one.payload)]
    yield f"placed attacks found      {share(len(hits), len(attacks))}"
    by = Counter(one.attack for one in hits)
    for name, total in Counter(one.attack for one in attacks).items():
        yield f"    {name:<36} {share(by[name], total)}"
    kept = every = 0
    for name, encode in ENCODINGS.items():
        seen = [caught(one, encode(one.payload)) for one in hits]
        again, total = sum(one is True for one in seen), sum(one is not None for one in seen)
        kept, every = kept + again, every + total
        yield f"    after {name:<30} {share(again, total)}"
    yield f"of these after encoding   {share(kept, every)}"


def main() -> int:
    asked = argparse.ArgumentParser()
    asked.add_argument("python", type=Path)
    for line in measured(asked.parse_args().python):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
