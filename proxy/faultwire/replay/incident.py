"""Incident sessions: what somebody asked an agent once, and what its tools answered then.

The format is Flakestorm's (`id, name, source, captured_at, input, context, tool_responses[{tool, response,
status, latency_ms}], expected_failure, contract, file`), in YAML or JSON, with keys of our own: `turns`,
`tape`, `tape_session`, `on_miss`, `none_left`; of a tool response `headers`, `match_url`, `optional`.
"""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from faultwire import _core
from faultwire.errors import Location
from faultwire.faults._settings import HeaderFields, Milliseconds
from faultwire.faults.tool.recorded_response import NoneLeft, answerable
from faultwire.profile.entry_model import Frozen, Globs

SUFFIXES = (".yaml", ".yml", ".json")
"""What a session's file is called."""
DEFAULT = "default"
"""The contract of a session that names none."""
_NAME = re.compile(r"[A-Za-z0-9._-]{1,48}")
_OTHERS = re.compile(r"[^A-Za-z0-9._-]+")


def _one_tool(name: str) -> str:
    if "*" in name or "?" in name:
        raise ValueError(f"found tool `{name[:60]}`, expected the name of one tool")
    return name


class ToolResponse(Frozen):
    """One answer of a tool. `status` 0 is a failure without one; `match_url` says where the tool is called
    over HTTP, in addition to the configuration's `tools`."""

    tool: Annotated[str, Field(min_length=1, max_length=256), AfterValidator(_one_tool)]
    response: Any = None
    status: Annotated[int | None, AfterValidator(answerable)] = None
    latency_ms: Milliseconds | None = None
    headers: HeaderFields = Field(default_factory=dict)
    match_url: Globs | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """One incident session. `turns` are what the user says, in order; the last one is the input.

    `contract` names the contract that judges it, `tape` the tape that answers its model calls (None: they
    go live), with its `tape_session` (None: all of it). `folder` is what its relative paths start from,
    `digest` the SHA-256 of its text.
    """

    id: str
    turns: tuple[str, ...]
    name: str = ""
    source: str = "manual"
    captured_at: str = ""
    context: tuple[Mapping[str, Any], ...] = ()
    tool_responses: tuple[ToolResponse, ...] = ()
    expected_failure: str = ""
    contract: str = DEFAULT
    tape: Path | None = None
    tape_session: str | None = None
    on_miss: Literal["fail", "live"] = "fail"
    none_left: NoneLeft = "refuse"
    folder: Path = field(default_factory=Path)
    where: Location | None = None
    digest: str = ""
    notes: tuple[str, ...] = ()
    """What was understood otherwise than it may have been meant."""

    @property
    def slug(self) -> str:
        """Its id as a name that sessions of the engine, prompts and files can have."""
        if _NAME.fullmatch(self.id):
            return self.id
        short = _OTHERS.sub("-", self.id).strip("-")[:39] or "session"
        return f"{short}-{_core.sha256_hex(self.id.encode('utf-8', 'surrogatepass'))[:8]}"

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that it names, once each."""
        return tuple(dict.fromkeys(one.tool for one in self.tool_responses))

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return str(self.where) if self.where is not None else f"session `{self.id}`"
