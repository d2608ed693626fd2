"""Two tapes side by side: what differs first, and which places differ in every run.

Calls are paired as a replay would pair them: by what they ask, in any order between different calls.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import wire
from faultwire.replay.answer import answer_of
from faultwire.replay.explain_miss import (
    DIFFERENCES,
    Difference,
    Divergence,
    content,
    counted,
    diagnose,
    differences,
    dotted,
    excerpts,
    name,
    near,
)
from faultwire.replay.match import Index, Missed
from faultwire.replay.volatile_values import only_minted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.events import Path, Recorded, Request
    from faultwire.replay.cause import Cause
    from faultwire.replay.match import Entry
    from faultwire.replay.request_key import RequestKey

    SentOn = Mapping[tuple[str, int], Request]
    """Requests of a tape that faults changed, as they were sent on, by session and number."""

MANY = 12
"""Calls that differ in more places than this are two calls, not one that varies."""


@dataclass(frozen=True, slots=True)
class Compared:
    """How far two tapes agree. `same` counts the calls before the first divergence."""

    same: int
    divergence: Divergence | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mask, how many calls differ there, an example, and whether only minted values do."""

    mask: str
    calls: int
    recorded: str
    asked: str
    minted: bool


def compare(one: Index, other: Iterable[Recorded], sent_on: tuple[SentOn, SentOn] = ({}, {})) -> Compared:
    """The first call of `other` that was not asked, not sent on or not answered so on the tape of `one`; else
    the first that only `one` has. `sent_on` are the requests of the two tapes that faults changed."""
    same = 0
    for recorded in other:
        found = one.take(one.ask(recorded.request))
        if isinstance(found, Missed):
            return Compared(same, diagnose(one, found))
        answered = _sent_on(one, found, recorded, sent_on) or _answers(found, recorded)
        if answered is not None:
            return Compared(same, answered)
        same += 1
    left = one.expected
    if left is None:
        return Compared(same)
    request = left.recorded.request
    only = f"only the first tape has {name(left)}"
    return Compared(same, Divergence("missing call", request.method, request.url, only, name(left)))


def _sent_on(
    index: Index, entry: Entry, recorded: Recorded, sent_on: tuple[SentOn, SentOn]
) -> Divergence | None:
    """Where the same call went on otherwise: what a fault left of it differs."""
    pair = (entry.recorded, recorded)
    changed = [sent.get((each.session, each.number)) for sent, each in zip(sent_on, pair, strict=True)]
    if changed == [None, None]:
        return None
    old, new = (request or each.request for request, each in zip(changed, pair, strict=True))
    wanted = index.ask(new)
    if index.ask(old).blind == wanted.blind:
        return None
    places = counted(wanted, differences(content(old.body, old.path), content(new.body, new.path)))
    shown = tuple(Difference(dotted(path), *excerpts(a, b)) for path, a, b in places[:DIFFERENCES])
    reason = f"a fault changed it otherwise than {name(entry)}" + (f" in `{shown[0].path}`" if shown else "")
    return Divergence("other request sent on", new.method, new.url, reason, name(entry), shown, cause="fault")


def _answers(entry: Entry, recorded: Recorded) -> Divergence | None:
    """Where the same call was answered otherwise. Two answers of a model are the same that say the same:
    ids, instants and how a stream was cut count for nothing."""
    one, other = answer_of(entry.recorded), answer_of(recorded)
    bodies = [b"".join(data for data, _ in answer.chunks) for answer in (one, other)]
    alike = one.status == other.status and one.ends == other.ends
    if alike and bodies[0] == bodies[1]:
        return None
    contents = [_answer_content(entry.recorded), _answer_content(recorded)]
    if alike and contents[0] is not None and contents[0] == contents[1]:
        return None
    readable = all(part is not None for part in contents)
    old, new = (
        {"status": answer.status, "ends": answer.ends, **((part if readable else None) or content(body, ""))}
        for answer, body, part in zip((one, other), bodies, contents, strict=True)
    )
    places = differences(old, new)
    shown = tuple(Difference(dotted(path), *excerpts(a, b)) for path, a, b in places[:DIFFERENCES])
    volatile = all(only_minted(a, b) for _, a, b in places)
    request = recorded.request
    reason = f"the answer differs from that to {name(entry)}" + (f" in `{shown[0].path}`" if shown else "")
    return Divergence(
        "volatile value" if volatile else "other answer",
        request.method,
        request.url,
        reason,
        name(entry),
        shown,
        cause=_cause(entry.recorded, recorded),
    )


def _cause(one: Recorded, other: Recorded) -> Cause:
    """Who gave another answer: a fault, or whoever was asked."""
    if _faults(one) != _faults(other):
        return "fault"
    return "model answer" if other.kind == "llm" else "server answer"


def _faults(recorded: Recorded) -> list[tuple[str, str | None]]:
    return [(line.id, line.effect) for line in recorded.faults if line.outcome == "fired"]


def _answer_content(recorded: Recorded) -> dict[str, Any] | None:
    """What a model's answer says; None where nothing could be made out."""
    found = wire.transcript_of(recorded) if recorded.kind == "llm" else None
    answer = found.answer if found is not None else None
    if answer is None or not (answer.text or answer.tool_calls or answer.error):
        return None
    calls = [{"name": call.name, "arguments": _arguments(call.arguments)} for call in answer.tool_calls]
    return {
        "text": answer.text,
        "calls": calls,
        "finish": answer.finish_reason,
        "error": answer.error,
        "complete": answer.complete,
    }


def _arguments(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def learn(one: Index, other: Iterable[Recorded]) -> list[Proposal]:
    """Masks for the places in which calls of two runs of the same agent differ, the most frequent first."""
    calls: Counter[str] = Counter()
    first: dict[str, tuple[str, str]] = {}
    minted: dict[str, bool] = {}
    for recorded in other:
        wanted = one.ask(recorded.request)
        found = one.take(wanted)
        if not isinstance(found, Missed) or found.why != "unknown":
            continue
        varied = _varied(one, wanted)
        if varied is None:
            continue
        entry, places = varied
        one.use(entry)
        seen = set()
        for path, old, new in places:
            mask = _mask(wanted, path)
            if mask is None:
                continue
            first.setdefault(mask, excerpts(old, new))
            minted[mask] = minted.get(mask, True) and only_minted(old, new)
            seen.add(mask)
        calls.update(seen)
    return [Proposal(mask, count, *first[mask], minted[mask]) for mask, count in calls.most_common()]


def _varied(index: Index, wanted: RequestKey) -> tuple[Entry, list[tuple[Path, object, object]]] | None:
    found = [(entry, counted(wanted, places)) for entry, places in near(index, wanted) if not entry.used]
    found = [one for one in found if 0 < len(one[1]) <= MANY]
    return min(found, key=lambda one: len(one[1])) if found else None


def _mask(wanted: RequestKey, path: Path) -> str | None:
    """A place as a mask: every element of a list alike. None where a mask cannot name it."""
    request = wanted.request
    place = request.host.lower() + request.path.partition("?")[0]
    if path[:1] != ("$",) or len(path) < 2:
        return None
    parts = ["*" if isinstance(part, int) else part for part in path]
    if any(set(part) & set(" .\t\r\n") or not part for part in parts):
        return None
    return f"{place} {'.'.join(parts)}"
