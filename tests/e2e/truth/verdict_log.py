"""What an agent logged of one invocation: the truth that verdicts are held against."""

from __future__ import annotations

import json
from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from typing import Any

MODEL_HOST = "api.openai.com"
LATE = 3
"""Which call to the model fails in the scenario `late`."""


PRICES = {
    "gpt-4o-mini": (Decimal("0.15"), Decimal("0.60")),
    "gpt-4o": (Decimal("2.50"), Decimal("10.00")),
}
"""Dollars for a million tokens of input and output, by the provider's list of 2026-11."""


def cost(usage: Iterable[tuple[str, int, int]]) -> Decimal:
    """What the counted tokens of models with a price cost."""
    million = Decimal(1_000_000)
    prices = ((PRICES[model], given, made) for model, given, made in usage if model in PRICES)
    return sum(((price[0] * given + price[1] * made) / million for price, given, made in prices), Decimal(0))


class Log:
    """The lines `TRUTH {…}` of an agent's stderr, see `labelled_agent.py` and `verdict_agent.py`."""

    def __init__(self, prompt: str, scenario: str, stderr: str, calm: str | None = None) -> None:
        lines = [json.loads(line[6:]) for line in stderr.splitlines() if line.startswith("TRUTH ")]
        self.prompt, self.scenario, self.calm = prompt, scenario, calm
        self.calls: list[tuple[str, dict[str, Any]]] = [
            (one["tool"], one["arguments"]) for one in lines if "tool" in one
        ]
        self.manner = next((one["manner"] for one in lines if "manner" in one), "")
        """Empty for agents in other languages, whose HTTP client logs nothing."""
        self.streams = all(one["streams"] for one in lines if "streams" in one)
        """Does it ask for streams? Else no stream can be cut."""
        self.history = next((one["history"] for one in lines if "history" in one), "")
        self.sent = [one for one in lines if "host" in one]
        """Requests of its own HTTP client."""
        self.usage: list[tuple[str, int, int]] = [
            (one["of"], *one["usage"]) for one in lines if "usage" in one
        ]
        """Models, and the tokens of input and output that the framework counted."""
        self.answer: str | None = next((one["answer"].strip() for one in lines if one.get("exit") == 0), None)

    @property
    def spent(self) -> list[tuple[str, int, int]] | None:
        """All usage; None where the framework did not get to count all of it."""
        return self.usage if self.answer is not None and self.scenario not in ("late", "cut") else None

    @property
    def quiet(self) -> bool:
        """Its HTTP client logs, and sent nothing."""
        return bool(self.manner) and not self.sent

    @property
    def ending(self) -> str:
        if self.manner == "killed" and self.answer is None:
            return "was killed by signal 9"
        return f"exited with {int(self.answer is None)}"

    @property
    def tools(self) -> list[str]:
        return [name for name, _ in self.calls]

    @property
    def broken(self) -> bool:
        """Was there something for the fault to break? Those on tools need a call of `search`."""
        if self.scenario in ("tool fails", "injected"):
            return "search" in self.tools
        if self.scenario == "late":
            return len(self.asked) >= LATE
        if self.scenario == "cut" and not self.streams:
            return False
        return self.scenario != "calm" and not self.quiet

    @property
    def asked(self) -> list[dict[str, Any]]:
        """Requests to the model."""
        return [one for one in self.sent if one["host"] == MODEL_HOST]

    @property
    def failed(self) -> list[dict[str, Any]]:
        return [one for one in self.asked if one["status"] >= 400]

    @property
    def posted(self) -> list[str]:
        return [arguments["text"] for name, arguments in self.calls if name == "post"]

    @property
    def attempts(self) -> int:
        """The most failed requests to one model; where each fails, they are attempts of one call."""
        models = [one["model"] for one in self.failed]
        return max(map(models.count, models), default=0)

    @property
    def on_its_way(self) -> float:
        """The most seconds from a request to its failure. Faults answer at once: this is what the machine
        takes, and the proxy may have seen a wait that is longer or shorter by as much."""
        failed = [one for one in self.asked if one["status"] >= 400]
        return max((one["ended"] - one["started"] for one in failed), default=0.0)

    @property
    def waits(self) -> list[float]:
        """Seconds between a failed request to a model and the next one to the same model."""
        return [
            after["started"] - before["ended"]
            for before, after in pairwise(self.asked)
            if before["status"] >= 400 and before["model"] == after["model"]
        ]
