"""`golden_prompts`: texts, or `{prompt, id, expect}`, or `{turns: […]}` for a conversation."""

from __future__ import annotations

import re  # noqa: TID251 - the pattern below is fixed
from typing import TYPE_CHECKING

from faultwire.config.invariants import expected
from faultwire.config.reading import listed, text
from faultwire.contract.cells import Prompt
from faultwire.profile.yaml import shown

if TYPE_CHECKING:
    from faultwire.config.reading import Reading
    from faultwire.profile.yaml import Node

KEYS = ("prompt", "turns", "id", "expect")
ID = re.compile(r"[A-Za-z0-9._-]{1,40}")
"""Ids are part of names of sessions and files."""


def prompts(node: Node | None, root: Node, taken: set[str], reading: Reading) -> tuple[Prompt, ...]:
    """The golden prompts, each with an id of its own; problems are noted."""
    items = listed(node, "golden_prompts", reading)
    if not items and (node is None or node.value in (None, [])):
        message = "found no `golden_prompts`, expected at least one prompt"
        reading.add(node or root, "empty", message)
    given: dict[str, int] = {}
    for item in items:
        _given(item, given, reading)
    found: list[Prompt] = []
    for number, item in enumerate(items, 1):
        made = _prompt(item, _id(item, number, given), taken, reading)
        if made is not None:
            found.append(made)
    return tuple(found)


def _given(item: Node, given: dict[str, int], reading: Reading) -> None:
    """Note the id that a prompt gives itself."""
    node = item.value.get("id") if isinstance(item.value, dict) else None
    if node is None or node.value is None:
        return
    if not isinstance(node.value, str) or not ID.fullmatch(node.value):
        expected_id = "1 to 40 letters, digits, `.`, `_` or `-`"
        reading.add(node, "bad_value", f"found {shown(node.value)} for `id`, expected {expected_id}")
    elif node.value in given:
        message = (
            f"found the id {shown(node.value)} again, expected it once (first on line {given[node.value]})"
        )
        reading.add(node, "duplicate_id", message)
    else:
        given[node.value] = node.line


def _id(item: Node, number: int, given: dict[str, int]) -> str:
    """Its own id, or `p` and its place in the list, unless another one is called so."""
    node = item.value.get("id") if isinstance(item.value, dict) else None
    if node is not None and isinstance(node.value, str) and node.value:
        return node.value
    name = f"p{number}"
    while name in given:
        name = f"{name}-{number}"
    return name


def _prompt(item: Node, name: str, taken: set[str], reading: Reading) -> Prompt | None:
    if not isinstance(item.value, dict):
        prompt = text(item, "golden_prompts", reading)
        if item.value is None:
            reading.add(item, "bad_value", "found an empty golden prompt, expected text")
        return Prompt(name, prompt) if prompt else None
    fields = item.value
    for key, value in fields.items():
        if key not in KEYS:
            reading.unknown(value, key, "a golden prompt", list(KEYS))
    if ("prompt" in fields) == ("turns" in fields):
        which = "both" if "prompt" in fields else "neither"
        message = f"found {which} of `prompt` and `turns`, expected one of them"
        reading.add(item, "bad_value", message)
        return None
    checks = expected(fields.get("expect"), taken, reading)
    if "prompt" in fields:
        prompt = text(fields["prompt"], "prompt", reading)
        if fields["prompt"].value is None:
            reading.add(fields["prompt"], "bad_value", "found an empty `prompt`, expected text")
        return Prompt(name, prompt, checks) if prompt else None
    turns = tuple(text(turn, "turns", reading) for turn in listed(fields["turns"], "turns", reading))
    if not turns or not all(turns):
        if not turns:
            reading.add(fields["turns"], "bad_value", "found no `turns`, expected at least one text")
        return None
    return Prompt(name, turns[-1], checks, turns if len(turns) > 1 else ())
