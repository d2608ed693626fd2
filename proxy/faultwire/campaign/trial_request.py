"""Makes one batch of a search's runs: the other thing that `faultwire worker` does, in a process of its own.

The request holds the search as it was asked for, and each run by a hash of all that decides what it does.
What comes back is what `explore` keeps of a run; its tape stays behind and is removed, as in one process.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faultwire import _core
from faultwire.campaign.cell import LOCAL, Surroundings
from faultwire.campaign.sealed_box import seal
from faultwire.campaign.worker import MISMATCH
from faultwire.errors import ProfileError, UsageError
from faultwire.explore.attempt import Attempts
from faultwire.explore.made import Ask
from faultwire.trials.shared import shared_trials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.explore.made import Made
    from faultwire.trials.execute import TrialRunner

KIND = "trials"


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """What a worker is asked: runs by id, of a search in the words of its command. `public` is whose key
    seals results."""

    expected: Surroundings
    search: Mapping[str, Any]
    runs: Mapping[str, Ask]
    public: bytes

    def as_json(self) -> str:
        """One line."""
        return json.dumps(
            {
                "kind": KIND,
                "expected": asdict(self.expected),
                "search": self.search,
                "runs": {name: ask.as_json() for name, ask in self.runs.items()},
                "public": b64encode(self.public).decode(),
            }
        )

    @classmethod
    def parse(cls, text: str) -> TrialRequest:
        """Raises UsageError where it is no such request."""
        try:
            value = json.loads(text)
            return cls(
                Surroundings(**value["expected"]),
                dict(value["search"]),
                {str(name): Ask.from_json(ask) for name, ask in value["runs"].items()},
                b64decode(value["public"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError, ProfileError) as error:
            raise UsageError(
                f"found no request of a search on the standard input: {error}",
                code="campaign.request",
                hint="`faultwire worker` is started by `faultwire explore --on …`",
            ) from error


def asks_for_trials(text: str) -> bool:
    """Is it a request of this kind, whole or not?"""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("kind") == KIND


def run_id(ask: Ask, expected: Surroundings) -> str:
    """The hash of all that decides what a run does, 64 hex digits."""
    about = ask.as_json()
    faults = {name: value for name, value in about["profile"].items() if name not in LOCAL}
    text = json.dumps({**about, "profile": faults, "with": asdict(expected)}, sort_keys=True)
    return _core.sha256_hex(text.encode("utf-8", "surrogatepass"))


def check(request: TrialRequest, here: Surroundings) -> None:
    """Raises UsageError where this machine would not make exactly the runs that are meant."""
    found = request.expected.differs(here)
    if found is not None:
        raise UsageError(
            f"this worker has {found}",
            code=MISMATCH,
            hint="install the same faultwire on every worker, and give each the same agent and files",
        )
    for name, ask in request.runs.items():
        if run_id(ask, here) != name:
            raise UsageError(f"found the run `{name[:16]}` with the content of another", code=MISMATCH)


def answer(
    request: TrialRequest, here: Surroundings, runner: TrialRunner, redact: Callable[[str], str]
) -> dict[str, Any]:
    """Make the runs one after the other; after Ctrl-C those that are made. Without runs it is only asked
    whether they would be refused. Raises UsageError, and what `TrialRunner.run` does."""
    check(request, here)
    if not request.runs:
        return {"checked": True}
    results = []
    try:
        shared = shared_trials(runner)
        attempts = Attempts(runner, redact, shared)
        with shared or nullcontext():
            for name, ask in request.runs.items():
                results.append(result_of(name, attempts.make(ask)))
    except KeyboardInterrupt:
        pass
    box = seal(json.dumps(results).encode("utf-8", "surrogatepass"), request.public)
    return {"box": b64encode(box).decode()}


def result_of(name: str, made: Made) -> dict[str, Any]:
    """What came of a run, as plain values, with what its budget asks beside it."""
    run = made.run
    return {
        "cell": name,
        "made": made.as_json(),
        "cost_usd": run.cost_usd,
        "unpriced": run.unpriced,
        "tokens": run.tokens.count,
        "uncounted": run.tokens.uncounted,
    }
