"""Places in a JSON body, as profiles name them: the part of JSONPath (RFC 9535) without filters.

`$`, `.name`, `['name']`, `[0]`, `[-1]`, `[*]`, `.*` and `..name`; nothing is evaluated, and a search is
bounded.
"""

from __future__ import annotations

import json
import re  # noqa: TID251 - a fixed, linear pattern
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from faultwire._core import glob_match
from faultwire.wire.recognition import size_limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_VALUES = 100_000
"""Values that one search looks at, at most."""

_STEP = re.compile(
    r"(?P<deep>\.\.)(?:(?P<deep_name>[^.\[\]*'\"\s]+)|(?P<deep_any>\*))"
    r"|\.(?:(?P<name>[^.\[\]*'\"\s]+)|(?P<any>\*))"
    r"|\[(?:(?P<index>-?[0-9]{1,9})|(?P<all>\*)|'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\")\]"
)

Step = tuple[bool, str | int | None]
"""Any depth below?, and a member's name, an element's index, or None for all children."""


def compile_path(path: str) -> tuple[Step, ...]:
    """The steps of a path. Raises ValueError that says where it stops being one."""
    if not path.startswith("$"):
        raise ValueError("found no `$` at the start of a path")
    at, steps = 1, list[Step]()
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise ValueError(f"found `{path[at : at + 20]}`, expected `.name`, `[0]`, `[*]` or `..name`")
        steps.append(_step(found))
        at = found.end()
    return tuple(steps)


def _step(found: re.Match[str]) -> Step:
    deep = found["deep"] is not None
    if found["index"] is not None:
        return deep, int(found["index"])
    for group in ("deep_name", "name", "single", "double"):
        if found[group] is not None:
            return deep, found[group]
    return deep, None


def values(document: Any, steps: Iterable[Step]) -> Iterator[Any]:
    """Every value that the path leads to."""
    reached = [document]
    for deep, step in steps:
        reached = list(_children(_below(reached) if deep else reached, step))[:MAX_VALUES]
    yield from reached


def _below(nodes: Iterable[Any]) -> Iterator[Any]:
    """The nodes and all that is in them."""
    waiting, seen = list(nodes), 0
    while waiting and seen < MAX_VALUES:
        node, seen = waiting.pop(), seen + 1
        yield node
        waiting.extend(_children([node], None))


def _children(nodes: Iterable[Any], step: str | int | None) -> Iterator[Any]:
    for node in nodes:
        if isinstance(node, dict):
            if step is None:
                yield from node.values()
            elif step in node:
                yield node[step]
        elif isinstance(node, list):
            if step is None:
                yield from node
            elif isinstance(step, int) and -len(node) <= step < len(node):
                yield node[step]


def mismatch(body: bytes | None, wanted: Mapping[str, str | int | float | bool | None]) -> str | None:
    """The first path under which no value is as wanted (a text is a glob), None where all are."""
    document = _NOTHING if size_limit.is_heavy(body) else _parsed(body or b"")
    for path, value in wanted.items():
        if not any(_like(value, found) for found in values(document, _compiled(path))):
            return path
    return None


def _like(wanted: str | int | float | bool | None, found: Any) -> bool:
    if isinstance(wanted, str):
        return isinstance(found, str) and glob_match(wanted, found)
    return type(found) is type(wanted) and found == wanted


_NOTHING = object()
"""A body that is no JSON, or too much of it: no value of a profile is like it, and nothing is in it."""


@lru_cache(maxsize=256)
def _compiled(path: str) -> tuple[Step, ...]:
    return compile_path(path)


@lru_cache(maxsize=4)
def _parsed(body: bytes) -> Any:
    """Several entries ask about the same body, one after the other."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return _NOTHING
