"""What an agent logged of one invocation: the truth that verdicts are held against."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

MODEL_HOST = "api.openai.com"
LATE = 3
"""Which call to the model fails in the scenario `late`."""


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
        self.answer: str | None = next((one["answer"].strip() for one in lines if one.get("exit") == 0), None)

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
    def waits(self) -> list[float]:
        """Seconds between a failed request to a model and the next one to the same model."""
        return [
            after["started"] - before["ended"]
            for before, after in pairwise(self.asked)
            if before["status"] >= 400 and before["model"] == after["model"]
        ]
