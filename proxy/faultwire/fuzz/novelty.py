"""What a run did that no run did before: call shapes on the wire, and what the agent tells of its coverage.

A run's calls are words: a model's answer (its tools with the keys of their arguments, and why it stopped), a
tool's call (its keys and its status), any other call (its address and status). Sequences of one to three
of them count (n-grams), as do how it ended and how often it tried again. What was said does not count.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.checks._transcripts import models
from faultwire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.events import History, Recorded

LONGEST = 3
"""Words of a sequence."""


def shape(history: History) -> list[str]:
    """The words of a run, in order."""
    answers = {exchange.number: transcript.answer for exchange, transcript in models(history)}
    words = []
    for one in history.exchanges:
        status = one.delivered.status if one.delivered is not None else one.ending
        answer = answers.get(one.number)
        if any(line.fault == "model_answer" and line.outcome == "fired" for line in one.faults):
            words.append(f"model {status} generated")  # what we made is no behaviour of the agent's
        elif answer is not None:
            asked = ",".join(f"{call.name}({_keys(call.arguments)})" for call in answer.tool_calls)
            words.append(f"model {status} {answer.finish_reason} {asked}")
        elif one.kind == "tool" and one.tool is not None:
            words.append(f"{one.tool}({_keys(_arguments(one))}) {status}")
        else:
            words.append(f"{one.request.method} {one.request.host}{_path(one)} {status}")
    return words


def grams(words: Sequence[str]) -> set[str]:
    """The sequences of one to three words; the beginning and the end of the run are words, too."""
    whole = ["^", *words, "$"]
    return {
        " > ".join(whole[start : start + size])
        for size in range(1, LONGEST + 1)
        for start in range(len(whole) - size + 1)
    }


def features(history: History) -> frozenset[str]:
    """What a run shows on the wire, and how it ended."""
    found = grams(shape(history))
    tries = sum(1 for one in history.exchanges if one.attempt)
    found.add(f"tries {_size(tries)}")
    found.add(f"calls {_size(len(history.exchanges))}")
    agent = history.agent
    if agent is not None:
        found.add(f"end {'timeout' if agent.timed_out else agent.exit_code}")
    return frozenset(found)


@dataclass
class Novelty:
    """What is known so far."""

    known: set[str] = field(default_factory=set)

    def new(self, found: Iterable[str]) -> frozenset[str]:
        """What of this was not known; known from now on."""
        fresh = frozenset(found) - self.known
        self.known |= fresh
        return fresh


def _size(count: int) -> int:
    """0, 1, 2, 4, 8, …: how often something came, by its order of size."""
    return 1 << (count.bit_length() - 1) if count else 0


def _keys(arguments: str) -> str:
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        return "?"
    return ",".join(sorted(map(str, found))) if isinstance(found, dict) else type(found).__name__


def _arguments(one: Recorded) -> str:
    try:
        site = wire.tool_site(one)
    except WireError:
        return "?"
    return site.call.arguments if site is not None else "{}"


def _path(one: Recorded) -> str:
    return one.request.path.partition("?")[0]
