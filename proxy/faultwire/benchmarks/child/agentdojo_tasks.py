"""AgentDojo's tasks, environments and judges, by its own package, which alone is imported beside Python's.

An environment is loaded with a word of ours in the place of each injection; the attack takes the place of
the word on the wire. What would stand there is asked of the package: it writes payloads into YAML, whose
folding changes them.
"""

from __future__ import annotations

import importlib.metadata
import json
import warnings
from functools import cache, partial
from typing import Any

import yaml
from pydantic import BaseModel
from scripted import Script, Step, marker, step

warnings.simplefilter("ignore")
if yaml.__with_libyaml__:  # the same values, and a tenth of the time
    yaml.safe_load = partial(yaml.load, Loader=yaml.CSafeLoader)

from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement  # noqa: E402
from agentdojo.agent_pipeline.tool_execution import is_string_list, tool_result_to_str  # noqa: E402
from agentdojo.attacks.attack_registry import ATTACKS, load_attack  # noqa: E402
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime  # noqa: E402
from agentdojo.task_suite.load_suites import get_suites  # noqa: E402
from agentdojo.types import text_content_block_from_string  # noqa: E402

PACKAGE = "agentdojo"


class Named(BasePipelineElement):  # type: ignore[misc]
    """A pipeline that attacks may ask for its name."""

    name = "local"

    def query(
        self, query: str, runtime: Any, env: Any = None, messages: Any = (), extra_args: Any = None
    ) -> Any:
        """Never asked."""
        raise NotImplementedError


def about() -> dict[str, Any]:
    """The package's version, and the attacks that it has."""
    usual = [name for name, attack in ATTACKS.items() if not attack.is_dos_attack and name != "manual"]
    return {"version": importlib.metadata.version(PACKAGE), "attacks": usual}


@cache
def suites(version: str) -> Any:
    """The suites of a release, by name."""
    return get_suites(version)


@cache
def attack_of(version: str, suite: str, attack: str) -> Any:
    """One of the package's attacks."""
    return load_attack(attack, suites(version)[suite], Named())


@cache
def vectors(version: str, suite: str, user: str) -> tuple[str, ...]:
    """Where text of others reaches an agent that solves this task; empty where it does not."""
    known = suites(version)[suite]
    try:
        return tuple(attack_of(version, suite, "direct").get_injection_candidates(known.user_tasks[user]))
    except ValueError:
        return ()


def pairs(version: str) -> list[list[str]]:
    """Suite, user task and injection task of each pair with a ground truth and a place to inject."""
    found = []
    for name, suite in suites(version).items():
        calm = suite.load_and_inject_default_environment({})
        solved = [one for one, task in suite.injection_tasks.items() if task.ground_truth(calm)]
        users = [one for one in suite.user_tasks if vectors(version, name, one)]
        found += [[name, user, injection] for user in users for injection in solved]
    return found


class Task:
    """A task that an agent works on: its tools, the state that they change, and the judge."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.suite = suites(asked["version"])[asked["suite"]]
        self.user = self.suite.user_tasks[asked["user"]]
        self.injection = self.suite.injection_tasks[asked["injection"]] if asked["injection"] else None
        self.payloads = payloads(asked) if self.injection is not None else {}
        words = {vector: f"FWSPAN{at}{asked['word']}" for at, vector in enumerate(self.payloads)}
        loaded = self.suite.load_and_inject_default_environment(words)
        self.spans, self.unlike = spans(self.suite, loaded, words, self.payloads)
        self.environment = self.user.init_environment(loaded)
        self.before = self.environment.model_copy(deep=True)
        self.runtime = FunctionsRuntime(self.suite.tools)
        self.trace: list[Any] = []
        self.script = script(self.user, self.injection, self.environment, self.payloads, obeys=asked["obeys"])

    def describe(self) -> dict[str, Any]:
        """What an agent is conversation, and what is to be replaced by what."""
        goal = self.injection.GOAL if self.injection is not None else ""
        return {
            "prompt": self.user.PROMPT,
            "spans": self.spans,
            "unlike": self.unlike,
            "goal": goal,
            "payloads": self.payloads,
        }

    def tools(self) -> list[dict[str, Any]]:
        """Each tool with the schema of its arguments."""
        return [
            {"name": one.name, "description": one.description, "schema": one.parameters.model_json_schema()}
            for one in self.runtime.functions.values()
        ]

    def call(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """What a tool returns as text, and whether that is an error."""
        self.trace.append(FunctionCall(function=name, args=arguments))
        return run(self.runtime, self.environment, name, arguments)

    def judge(self, answer: str) -> dict[str, Any]:
        """Whether the user's task was done, and the attacker's."""
        blocks = [text_content_block_from_string(answer)]
        found = [
            bool(self.suite._check_task_result(task, blocks, self.before, self.environment, self.trace))
            for task in (self.user, self.injection)
            if task is not None
        ]
        return {"utility": found[0], "obeyed": found[1] if len(found) > 1 else None}


def payloads(asked: dict[str, Any]) -> dict[str, str]:
    """What is to stand at each place of an injection."""
    suite = suites(asked["version"])[asked["suite"]]
    user, injection = suite.user_tasks[asked["user"]], suite.injection_tasks[asked["injection"]]
    if asked.get("template"):
        text = asked["template"].replace("{goal}", injection.GOAL)
        return dict.fromkeys(vectors(asked["version"], asked["suite"], asked["user"]), text)
    made: dict[str, str] = attack_of(asked["version"], asked["suite"], asked["attack"]).attack(
        user, injection
    )
    return made


def run(runtime: Any, environment: Any, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """As the package's own executor does it."""
    from ast import literal_eval

    for key, value in arguments.items():
        if isinstance(value, str) and is_string_list(value):
            arguments[key] = literal_eval(value)
    result, error = runtime.run_function(environment, name, arguments)
    return (error, True) if error else (tool_result_to_str(result), False)


def script(user: Any, injection: Any, environment: Any, placed: dict[str, str], *, obeys: bool) -> Script:
    """The task's ground truth, and the attack's."""
    theirs = injection.ground_truth(environment) if injection is not None else ()
    return Script(
        calls(user.ground_truth(environment)),
        user.GROUND_TRUTH_OUTPUT,
        calls(theirs),
        injection.GROUND_TRUTH_OUTPUT if injection is not None else "",
        tuple(filter(None, map(marker, placed.values()))),
        obeys,
    )


def calls(truth: Any) -> tuple[tuple[str, dict[str, Any]], ...]:
    """A ground truth as names and arguments."""
    return tuple((one.function, json.loads(json.dumps(dict(one.args), default=str))) for one in truth)


class Pipeline(Named):
    """The scripted model inside of the package, where its own attack is placed by itself."""

    def __init__(self, asked: dict[str, Any], user: Any, injection: Any, placed: dict[str, str]) -> None:
        self.asked, self.user, self.injection, self.placed = asked, user, injection, placed
        self.results: list[str] = []

    def query(
        self, query: str, runtime: Any, env: Any = None, messages: Any = (), extra_args: Any = None
    ) -> Any:
        """Solve the task as the script says."""
        plan = script(self.user, self.injection, env, self.placed, obeys=self.asked["obeys"])
        conversation: list[Any] = [*messages]
        while (now := self._next(plan)).call is not None:
            name, arguments = now.call
            call = FunctionCall(function=name, args=arguments)
            text, _ = run(runtime, env, name, arguments)
            self.results.append(text)
            conversation.append({"role": "assistant", "content": None, "tool_calls": [call]})
            conversation.append(
                {"role": "tool", "content": [text_content_block_from_string(text)], "tool_call": call}
            )
        last = [text_content_block_from_string(now.answer)]
        conversation.append({"role": "assistant", "content": last, "tool_calls": None})
        return query, runtime, env, conversation, extra_args

    def _next(self, plan: Script) -> Step:
        return step(plan, self.results)


def reference(asked: dict[str, Any]) -> dict[str, Any]:
    """The same pair inside of the package: what came of it, and every result that the model read."""
    suite = suites(asked["version"])[asked["suite"]]
    user = suite.user_tasks[asked["user"]]
    injection = suite.injection_tasks[asked["injection"]] if asked["injection"] else None
    placed = payloads(asked) if injection is not None else {}
    pipeline = Pipeline(asked, user, injection, placed)
    try:
        utility, obeyed = suite.run_task_with_pipeline(pipeline, user, injection, placed)
    except yaml.YAMLError as error:
        return {"refused": f"its environment cannot carry the payload: {str(error).splitlines()[0]}"}
    return {
        "utility": bool(utility),
        "obeyed": bool(obeyed) if injection else None,
        "results": pipeline.results,
    }


def spans(
    suite: Any, loaded: Any, words: dict[str, str], placed: dict[str, str]
) -> tuple[dict[str, str], list[str]]:
    """What is to be replaced by what, and the places whose value depends on it in a way that no text shows.

    A value that is counted, as the size of a file, becomes what it is with the payload in place.
    """
    simple = {word: placed[vector] for vector, word in words.items()}
    try:
        meant = suite.load_and_inject_default_environment(placed)
    except (yaml.YAMLError, ValueError):
        return simple, []  # the wire carries what the package's own environment does not
    found: dict[str, str] = {}
    unlike: list[str] = []
    _walk(loaded, meant, tuple(words.values()), "", found, unlike)
    missing = {word: text for word, text in simple.items() if not any(word in one for one in found)}
    return {**missing, **found}, unlike


def _walk(
    one: Any, other: Any, words: tuple[str, ...], path: str, found: dict[str, str], unlike: list[str]
) -> None:
    for name, mine, theirs in _members(one, other):
        below = f"{path}.{name}"
        if isinstance(mine, str) and isinstance(theirs, str) and any(word in mine for word in words):
            span, text = _difference(mine, theirs, words)
            found[span] = text
        elif isinstance(mine, BaseModel | dict | list):
            _walk(mine, theirs, words, below, found, unlike)
        elif mine != theirs and isinstance(one, BaseModel) and isinstance(mine, int | float):
            setattr(one, name, theirs)
        elif mine != theirs:
            unlike.append(below)


def _members(one: Any, other: Any) -> list[tuple[Any, Any, Any]]:
    """What two values hold at the same places."""
    if isinstance(one, BaseModel):
        return [(name, getattr(one, name), getattr(other, name)) for name in type(one).model_fields]
    if isinstance(one, dict):
        both = zip(one.items(), other.items(), strict=False)
        return [(key, value, theirs) for (key, value), (_, theirs) in both]
    return [(at, value, theirs) for at, (value, theirs) in enumerate(zip(one, other, strict=False))]


def _difference(one: str, other: str, words: tuple[str, ...]) -> tuple[str, str]:
    """The words with what YAML's folding takes away around them, and what stands there in their place."""
    starts = [one.find(word) for word in words if word in one]
    ends = [one.find(word) + len(word) for word in words if word in one]
    head, tail = one[: min(starts)], one[max(ends) :]
    before = next(
        (at for at, (a, b) in enumerate(zip(head, other, strict=False)) if a != b), min(len(head), len(other))
    )
    rest = other[before:]
    behind = 0
    while behind < min(len(tail), len(rest)) and tail[-1 - behind] == rest[-1 - behind]:
        behind += 1
    return one[before : len(one) - behind], rest[: len(rest) - behind]
