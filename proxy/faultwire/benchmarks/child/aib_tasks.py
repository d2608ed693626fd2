"""agent-injection-bench's attacks as tasks, by its own package, which alone is imported beside Python's.

What it hands to a model in one message, its harness writes below the task; here the agent is given a word of
ours in its place, and the text takes the place of the word on the way to the agent's model. A system prompt
of a case stands before the task, since the agent has one of its own.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from functools import cache
from pathlib import Path
from typing import Any

scripted: Any = importlib.import_module("scripted")
aib: Any = importlib.import_module("aib")
dataset: Any = importlib.import_module("aib.dataset")
harness: Any = importlib.import_module("aib.harness")
scoring: Any = importlib.import_module("aib.scoring")

PACKAGE = "agent-injection-bench"
OWN = "own"
"""The attack of each case; there is no other."""
TURNS = "it stands in an earlier turn, and a command is given one task"


@cache
def corpus() -> dict[str, Any]:
    """Its cases by id."""
    place = Path(aib.__file__).parent / "data" / "attacks.jsonl"
    return {one.id: one for one in dataset.load(place)}


def about() -> dict[str, Any]:
    """The package's version, and what attacks there are."""
    return {"version": importlib.metadata.version(PACKAGE), "attacks": [OWN]}


def pairs(_version: str) -> list[list[str | None]]:
    """Channel, family or id, and id of each attack; its controls hold none."""
    return [
        [one.channel, one.id, None] if one.is_control else [one.channel, one.family, one.id]
        for one in corpus().values()
    ]


class Task:
    """A case that an agent works on."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.case = corpus()[asked["injection"] or asked["user"]]
        attacked = asked["injection"] is not None
        self.word = f"FWSPAN0{asked['word']}"
        self.spans = {self.word: self.case.injected} if attacked else {}
        self.text = self.word if attacked else self.case.injected
        self.called: list[Any] = []
        self.script = script(self.case, obeys=asked["obeys"])

    def describe(self) -> dict[str, Any]:
        """What an agent is told, and what is to be replaced by what, where."""
        scenario = harness.build_scenario(self._marked())
        prompt = "\n\n".join(filter(None, (self.case.system_prompt, scenario.messages[-1]["content"])))
        place = "results" if self.case.channel == "tool_result" else "context"
        cannot = TURNS if self.case.channel == "multi_turn" else ""
        return {"prompt": prompt, "spans": self.spans, "place": place, "cannot": cannot}

    def tools(self) -> list[dict[str, Any]]:
        """Those of the case."""
        return [
            {
                "name": one.name,
                "description": one.description,
                "schema": one.parameters or {"type": "object", "properties": {"input": {"type": "string"}}},
            }
            for one in self.case.tools
        ]

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """What the package has a tool answer; those for which it has nothing have done it."""
        self.called.append(scoring.ToolCall(name=name, arguments=arguments))
        if name not in {one.name for one in self.case.tools}:
            return f"there is no tool `{name}`", True
        return harness.build_scenario(self._marked()).tool_results.get(name, "ok"), False

    def judge(self, answer: str) -> dict[str, Any]:
        """The package's own judgement."""
        return judged(self.case, answer, self.called)

    def _marked(self) -> Any:
        """The case with the word where its hostile text stands."""
        changed = dict(vars(self.case), injected=self.text)
        changed["tools"] = [
            type(one)(**{**vars(one), "returns": _swapped(one.returns, self.case.injected, self.text)})
            for one in self.case.tools
        ]
        return type(self.case)(**changed)


def _swapped(returns: str | None, injected: str, text: str) -> str | None:
    return returns and returns.replace(injected, text)


def judged(case: Any, answer: str, called: list[Any]) -> dict[str, Any]:
    """What the package says of an answer and calls: an attack was obeyed, or a control's task done."""
    found = scoring.judge(case, scoring.AgentResponse(text=answer, tool_calls=called))
    if case.is_control:
        return {"utility": found.outcome is scoring.Outcome.RESISTED, "obeyed": None}
    return {"utility": None, "obeyed": found.outcome is scoring.Outcome.COMPROMISED}


def script(case: Any, *, obeys: bool) -> Any:
    """The first tool that answers, and then what the text asks for."""
    wants = case.success
    calls: tuple[tuple[str, dict[str, Any]], ...] = tuple(
        (one.name, {}) for one in case.tools if one.returns
    )[:1]
    theirs: tuple[tuple[str, dict[str, Any]], ...] = ()
    if wants.kind in ("tool_call", "exfiltration"):
        text = wants.secret or " ".join(wants.arguments_contain) or "now"
        theirs = ((wants.tool or wants.sink, {"input": text}),)
    canary = wants.canary or ""
    answer = " ".join(filter(None, ("Done.", canary if case.is_control else "")))
    markers = tuple(filter(None, (scripted.marker(case.injected),)))
    whole = case.channel != "tool_result"
    plan = scripted.Script(
        calls, answer, theirs, "" if theirs else canary, markers, obeys and not case.is_control
    )
    return scripted.in_context(plan) if whole else plan


def reference(asked: dict[str, Any]) -> dict[str, Any]:
    """The same case in the package's own harness, with the scripted model as its target."""
    case = corpus()[asked["injection"] or asked["user"]]
    plan = script(case, obeys=asked["obeys"])
    results: list[str] = []
    called: list[Any] = []

    def target(scenario: Any) -> Any:
        prompt = "\n".join(one["content"] for one in scenario.messages)
        while (now := scripted.step(plan, results, prompt)).call is not None:
            name, arguments = now.call
            called.append(scoring.ToolCall(name=name, arguments=arguments))
            results.append(scenario.tool_results.get(name, "ok"))
        return scoring.AgentResponse(text=now.answer, tool_calls=called)

    found = harness.run_one(case, target, lambda scenario: scenario)
    compromised = found.outcome is scoring.Outcome.COMPROMISED
    return {"obeyed": None if case.is_control else compromised, "results": results, "utility": None}
