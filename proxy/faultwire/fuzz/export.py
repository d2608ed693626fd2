"""Crashes for others: as JSON lines to train on, and as golden prompts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping


def as_jsonl(found: Mapping[str, Any], prompt: str | None) -> str:
    """A line for each confirmed crash: what the agent was given, and what became of it. There is no answer
    that is wanted: what an agent should do with such input is for people to say."""
    return "".join(
        json.dumps(
            {
                "messages": _messages(one, prompt),
                "rejected": one["answer"],
                "reason": f"{one['kind']}: {one['title']}",
                "key": one["key"],
                "reproduce": one["reproduce"],
            },
            ensure_ascii=False,
        )
        + "\n"
        for one in found["crashes"]
        if one["confirmed"][0] == one["confirmed"][1] > 0
    )


def _messages(one: Mapping[str, Any], prompt: str | None) -> list[dict[str, str]]:
    asked = one["prompt"] if one["prompt"] is not None else prompt
    given = [] if asked is None else [{"role": "user", "content": asked}]
    results = [part for part in one["parts"] if not part["target"].startswith("prompt ")]
    return [*given, *({"role": "tool", "name": part["target"], "content": part["text"]} for part in results)]


def as_prompts(found: Mapping[str, Any]) -> str:
    """The confirmed crashes by a prompt, as `golden_prompts` of a faultwire.yaml."""
    prompts = [
        {"id": f"fuzz-{one['key']}", "prompt": one["prompt"]}
        for one in found["crashes"]
        if one["prompt"] is not None and one["confirmed"][0] == one["confirmed"][1] > 0
    ]
    return yaml.safe_dump({"golden_prompts": prompts}, allow_unicode=True, sort_keys=False, width=1 << 30)
