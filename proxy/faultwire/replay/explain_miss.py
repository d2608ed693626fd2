"""What a request that no recorded exchange answers has in place of what was recorded.

The nearest recorded exchange is found by a picture of each request (`sketch`); only the few nearest are
read. Values are those of the redacted form: a report holds no secret that a tape would not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Literal

import orjson

from faultwire.events import Response
from faultwire.replay.cause import Cause, cause_of
from faultwire.replay.shingles import alike, sketch
from faultwire.replay.volatile_values import only_minted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Path, Recorded
    from faultwire.replay.match import Entry, Index, Missed
    from faultwire.replay.request_key import RequestKey

Class = Literal[
    "new call",
    "missing call",
    "order",
    "changed prompt",
    "changed tool arguments",
    "volatile value",
    "model or SDK change",
    "other answer",
    "other request sent on",
]

DIFFERENCES = 5
"""How many differing places are reported."""
AROUND = 60
"""Characters of a value before and after the first that differs."""
READ = 8
"""Nearest exchanges whose bodies are read."""

ABSENT = "(absent)"
_PROMPT = frozenset(
    {"messages", "input", "contents", "system", "systeminstruction", "system_instruction"}
    | {"instructions", "prompt", "message", "chat_history", "preamble", "documents"}
)
_ARGUMENTS = frozenset({"arguments", "args", "tool_calls", "functioncall", "tooluse"})


@dataclass(frozen=True, slots=True)
class Difference:
    """One place in which two requests differ; long values are shown around their first difference."""

    path: str
    recorded: str
    asked: str


@dataclass(frozen=True, slots=True)
class Divergence:
    """A request without a recorded answer. `nearest` and `expected` are named as `tape show` does."""

    kind: Class
    method: str
    url: str
    reason: str
    nearest: str | None = None
    differences: tuple[Difference, ...] = ()
    expected: str | None = None
    number: int = 0
    """Which exchange of this run it is; 0 where nobody counts."""
    cause: Cause = "code"
    """Why it differs, as far as the differing values tell."""

    def as_json(self) -> dict[str, Any]:
        """For reports and the answer."""
        return {
            "class": self.kind,
            "exchange": self.number or None,
            "request": f"{self.method} {self.url}",
            "reason": self.reason,
            "nearest": self.nearest,
            "differences": [
                {"path": one.path, "recorded": one.recorded, "asked": one.asked} for one in self.differences
            ],
            "expected_next": self.expected,
        }

    def answer(self) -> Response:
        """What the agent gets: an error that no SDK tries again."""
        error = {"message": f"no recorded exchange answers: {self.reason}", "type": "faultwire_replay_miss"}
        body = json.dumps({"error": {**error, "divergence": self.as_json()}}).encode()
        return Response(
            422,
            "Unprocessable Content",
            (
                ("content-type", "application/json"),
                ("content-length", str(len(body))),
                ("x-should-retry", "false"),
            ),
            body,
        )


def diagnose(index: Index, missed: Missed, number: int = 0) -> Divergence:
    """Why nothing answers exchange `number` of this run."""
    return replace(_diagnosed(index, missed), number=number)


def _diagnosed(index: Index, missed: Missed) -> Divergence:
    wanted, expected = missed.asked, index.expected
    about = (wanted.request.method, wanted.request.url)
    following = name(expected) if expected else None
    if missed.like is not None:
        near = name(missed.like)
        if missed.why == "order":
            reason = "it was called before an earlier recorded call"
            return Divergence("order", *about, reason, near, (), following, cause="order")
        return Divergence("new call", *about, "it was called more often than recorded", near, (), following)
    found = nearest(index, wanted)
    if found is None:
        return Divergence(
            "new call", *about, "no exchange was recorded for this address", None, (), following
        )
    entry, places = found
    shown = tuple(Difference(dotted(path), *excerpts(old, new)) for path, old, new in places[:DIFFERENCES])
    kind = classify(wanted, places)
    reason = (
        f"it differs from {name(entry)} in `{shown[0].path}`" if shown else f"it differs from {name(entry)}"
    )
    return Divergence(kind, *about, reason, name(entry), shown, following, cause=cause_of(places))


def name(entry: Entry) -> str:
    """An entry's exchange in words."""
    return name_of(entry.recorded)


def name_of(recorded: Recorded) -> str:
    """A recorded exchange in words."""
    return f"{recorded.session}#{recorded.number} {recorded.request.method} {recorded.request.url}"


def nearest(index: Index, wanted: RequestKey) -> tuple[Entry, list[tuple[Path, Any, Any]]] | None:
    """The recorded exchange that asked most nearly the same at the same address, and where they differ."""
    seen = [(entry, counted(wanted, places) or places) for entry, places in near(index, wanted)]
    found = [(len(places) + bool(entry.used), entry, places) for entry, places in seen]
    return min(found, key=lambda one: one[0])[1:] if found else None


def near(index: Index, wanted: RequestKey) -> Iterator[tuple[Entry, list[tuple[Path, Any, Any]]]]:
    """The few recorded exchanges at the same address that look most alike, and where they differ."""
    candidates = [one for one in index.by_place.get(wanted.place, ()) if one.sender == wanted.sender]
    mine = sketch(wanted.request)
    asked_for = content(wanted.request.body, wanted.request.path)
    for entry in nlargest(READ, candidates, key=lambda one: (alike(mine, one.sketch), not one.used, -one.at)):
        recorded = entry.recorded.request
        yield entry, differences(content(recorded.body, recorded.path), asked_for)


def counted(wanted: RequestKey, places: list[tuple[Path, Any, Any]]) -> list[tuple[Path, Any, Any]]:
    """The differing places that are not masked."""
    masks = [mask.split(".") for mask in wanted.masked]
    return [place for place in places if not any(_covers(mask, place[0]) for mask in masks)]


def _covers(mask: list[str], path: Path) -> bool:
    pairs = zip(mask, path, strict=False)
    return len(path) >= len(mask) and all(one in ("*", str(part)) for one, part in pairs)


def content(body: bytes | None, path: str) -> Any:
    """What two requests to one address can differ in: body, as JSON where it is that, and query."""
    try:
        document: Any = orjson.loads(body or b"null")
    except orjson.JSONDecodeError:
        document = (body or b"").decode("utf-8", "replace")
    query = path.partition("?")[2]
    return {"?": query, "$": document} if query else {"$": document}


def differences(old: Any, new: Any, path: Path = (), most: int = 64) -> list[tuple[Path, Any, Any]]:
    """Places in which two JSON values differ, in document order: (path, recorded, asked)."""
    out: list[tuple[Path, Any, Any]] = []
    todo: list[tuple[Path, Any, Any]] = [(path, old, new)]
    while todo and len(out) < most:
        at, one, other = todo.pop()
        if type(one) is not type(other):
            out.append((at, one, other))
        elif isinstance(one, dict):
            names = [*one, *(name for name in other if name not in one)]
            below = [((*at, name), one.get(name, ABSENT), other.get(name, ABSENT)) for name in names]
            todo.extend(reversed(below))
        elif isinstance(one, list):
            size = max(len(one), len(other))
            below = [
                ((*at, n), one[n] if n < len(one) else ABSENT, other[n] if n < len(other) else ABSENT)
                for n in range(size)
            ]
            todo.extend(reversed(below))
        elif one != other:
            out.append((at, one, other))
    return out


def dotted(path: Path) -> str:
    """A path as text: `$.messages[1].content`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".") or "$"


def excerpts(old: Any, new: Any) -> tuple[str, str]:
    """Two values as text, cut to where they first differ."""
    one, other = _text(old), _text(new)
    at = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return _around(one, at), _around(other, at)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _around(text: str, at: int) -> str:
    start, end = max(0, at - AROUND), at + AROUND
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def classify(wanted: RequestKey, places: list[tuple[Path, Any, Any]]) -> Class:
    """What kind of difference it is."""
    if places and all(only_minted(old, new) for _, old, new in places):
        return "volatile value"
    if wanted.kind == "tool":
        return "changed tool arguments"
    if any(path[1:2] == ("model",) for path, _, _ in places):
        return "model or SDK change"
    names = [{str(part).lower() for part in path} for path, _, _ in places]
    if any(found & _ARGUMENTS for found in names):
        return "changed tool arguments"
    if wanted.kind != "llm" or any(found & _PROMPT for found in names):
        return "changed prompt" if wanted.kind == "llm" else "new call"
    return "model or SDK change"
