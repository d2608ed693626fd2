"""The fields in which two JSON texts differ, and a text that has some of either.

JSON that stands in a string is read as well: tools give their results, and models their calls, as JSON in
JSON. A list of another length is one field. Everything that no piece changes keeps its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from faultwire.errors import WireError
from faultwire.wire import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Set as AbstractSet

    from faultwire.events import Path

Place = tuple["Path", ...]
"""A path in the text, then one in the JSON that stands there, and so on."""
SHOWN = 200
DEEPEST = 64
"""Steps of a path; what lies deeper is one field."""
ABSENT = object()


@dataclass(frozen=True, slots=True)
class Fields:
    """Two JSON texts, and where they differ."""

    failed: bytes
    calm: bytes
    places: tuple[Place, ...]
    kind: Literal["field"] = "field"

    @property
    def pieces(self) -> tuple[tuple[str, str, str], ...]:
        """Name, in the failed run, in the calm run."""
        return tuple(
            (dotted(one), _shown(_raw(self.failed, one)), _shown(_raw(self.calm, one))) for one in self.places
        )

    def mixed(self, as_failed: AbstractSet[int]) -> tuple[bytes, ...]:
        """The calm text with these fields of the failed one."""
        text = self.calm
        for at in sorted(as_failed):
            text = _with(text, self.places[at], _raw(self.failed, self.places[at]))
        return (text,)


def fields(failed: bytes, calm: bytes) -> Fields | None:
    """Compare two texts; None where nothing differs but how they are written. Raises WireError where one of
    them is no JSON, or nested too deeply to be edited."""
    places = tuple(_places(json_bytes.load(failed), json_bytes.load(calm), (), ()))
    for text in (failed, calm):
        json_bytes.span(text, ("",))
    return Fields(failed, calm, places) if places else None


def dotted(place: Place) -> str:
    """`$.result.content[0].text` and, in the JSON there, `$.result.content[0].text→$.degrees`."""
    return "→".join("$" + "".join(_step(one) for one in path) for path in place)


def _step(one: str | int) -> str:
    return f"[{one}]" if isinstance(one, int) else f".{one}"


def _places(failed: Any, calm: Any, outer: Place, path: Path) -> Iterator[Place]:
    if len(path) < DEEPEST and isinstance(failed, dict) and isinstance(calm, dict):
        for name in dict.fromkeys((*failed, *calm)):
            one, other = failed.get(name, ABSENT), calm.get(name, ABSENT)
            if one is ABSENT or other is ABSENT:
                yield (*outer, (*path, name))
            else:
                yield from _places(one, other, outer, (*path, name))
    elif len(path) < DEEPEST and _same_length(failed, calm):
        for at, (one, other) in enumerate(zip(failed, calm, strict=True)):
            yield from _places(one, other, outer, (*path, at))
    elif failed != calm or isinstance(failed, bool) is not isinstance(calm, bool):
        inside = _nested(failed), _nested(calm)
        if None in inside or len(outer) >= 4:
            yield (*outer, path)
        else:
            yield from _places(*inside, (*outer, path), ())


def _same_length(failed: Any, calm: Any) -> bool:
    return isinstance(failed, list) and isinstance(calm, list) and len(failed) == len(calm)


def _nested(value: Any) -> Any:
    """The object or array that a string holds, else None."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json_bytes.load(value)
    except WireError:
        return None


def _raw(text: bytes, place: Place) -> bytes | None:
    """The bytes of a value, None where there is none."""
    path, *inner = place
    found = json_bytes.span(text, path) if path else (0, len(text))
    if found is None:
        return None
    value = text[slice(*found)]
    return _raw(json_bytes.load(value).encode(), tuple(inner)) if inner else value


def _with(text: bytes, place: Place, value: bytes | None) -> bytes:
    path, *inner = place
    if inner:
        held = _raw(text, (path,))
        assert held is not None
        value = json_bytes.dump(_with(json_bytes.load(held).encode(), tuple(inner), value).decode())
    if value is None:
        return json_bytes.drop(text, path)
    return json_bytes.put(text, path, value) if path else value


def _shown(raw: bytes | None) -> str:
    if raw is None:
        return "nothing"
    text = raw.decode("utf-8", "replace")
    return f"{text[:SHOWN]}{'…' if len(text) > SHOWN else ''}"
