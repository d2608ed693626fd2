"""The `replays` section: where incident sessions are. What is in them, `faultwire.replay` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.config.model import ReplaysSettings, Source, SourceFilter
from faultwire.config.reading import listed
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from faultwire.config.reading import Reading

KEYS = ("sessions", "sources")
SESSION = (
    "id", "name", "source", "captured_at", "input", "context", "tool_responses", "expected_failure",
    "contract", "file", "turns", "tape", "tape_session", "on_miss", "none_left",
)  # fmt: skip
_NEEDS = {"langsmith": "project", "langsmith_run": "run_id"}


def replays(node: Node | None, reading: Reading) -> ReplaysSettings | None:
    """Sessions, files by their whole path; and sources. Problems are noted."""
    if node is None or node.value is None:
        return None
    fields = reading.mapping(node, "`replays`")
    if fields is None:
        return None
    reading.strays(fields, KEYS, "`replays`")
    sessions = [_session(item, reading) for item in listed(fields.get("sessions"), "sessions", reading)]
    sources = [_source(item, reading) for item in listed(fields.get("sources"), "sources", reading)]
    return ReplaysSettings(
        tuple(one for one in sessions if one is not None), tuple(one for one in sources if one is not None)
    )


def _session(node: Node, reading: Reading) -> Mapping[str, Any] | None:
    if isinstance(node.value, str):
        return _file(node, reading)
    fields = reading.mapping(node, "a session")
    if fields is None:
        return None
    reading.strays(fields, SESSION, "a session")
    if "file" in fields and fields["file"].value is not None:
        return _file(fields["file"], reading)
    input_key = "input" if fields.get("turns", Node(None, 0, 0)).value is None else "turns"
    missing = [key for key in ("id", input_key) if fields.get(key, Node(None, 0, 0)).value is None]
    if missing:
        message = f"found a session without `{missing[0]}`, expected a `file`, or `id` and `input`"
        reading.add(node, "missing_key", message)
        return None
    return {key: value.plain() for key, value in fields.items()}


def _file(node: Node, reading: Reading) -> Mapping[str, Any] | None:
    if not isinstance(node.value, str) or not node.value:
        reading.add(node, "bad_value", f"found {shown(node.value)} for `file`, expected a path")
        return None
    path = reading.folder / node.value
    if not _exists(path):
        message = f"found no file at {shown(node.value)}, expected a session or a folder of sessions"
        reading.add(node, "not_found", message, "the path starts from this file's folder")
        return None
    return {"file": str(path)}


def _exists(path: Path) -> bool:
    """Is there anything? False too for a name that nothing can have."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _source(node: Node, reading: Reading) -> Source | None:
    fields = reading.mapping(node, "a source")
    if fields is None:
        return None
    inner = dict(fields)
    if "filter" in inner and inner["filter"].value is not None:
        if reading.flakestorm(SourceFilter, inner["filter"], "filter") is None:
            return None
        kept = inner["filter"].value
        known = (
            {k: v for k, v in kept.items() if k in SourceFilter.model_fields and v.value is not None}
            if isinstance(kept, dict)
            else {}
        )
        inner["filter"] = Node(known, node.line, node.column, inner["filter"].key)
    built = reading.flakestorm(Source, Node(inner, node.line, node.column, node.key), "sources")
    if built is None:
        return None
    need = _NEEDS[built.type]
    if not getattr(built, need):
        message = f"found no `{need}` in the source, expected one for `{built.type}`"
        reading.add(node, "missing_key", message)
        return None
    return built
