"""An incident session as a profile: every tool that it names answers what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.faults.tool.recorded_response import RecordedAnswer, RecordedResponse
from faultwire.profile.entry_model import Entry, On
from faultwire.profile.model import Profile, ToolSite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.profile.entry_model import Globs
    from faultwire.replay.incident import Session, ToolResponse

MCP = "mcp__"
"""How agents begin the name that they give a tool of an MCP server towards the model: `mcp__SERVER__TOOL`."""


def profile_of(session: Session, tools: Mapping[str, ToolSite], *, timing: float = 1.0) -> Profile:
    """The profile; `tools` are the configuration's, `timing` is times what was recorded as latency."""
    sites = dict(tools)
    entries: list[Entry] = []
    for number, tool in enumerate(session.tools, 1):
        answers = [one for one in session.tool_responses if one.tool == tool]
        for one in answers:
            if one.match_url is not None:
                sites[tool] = _also(sites.get(tool), one.match_url)
        fault = RecordedResponse(
            responses=tuple(_answer(one, timing) for one in answers),
            none_left=session.none_left,
            optional=all(one.optional for one in answers),
        )
        ident = RecordedResponse.name if number == 1 else f"{RecordedResponse.name}#{number}"
        entries.append(Entry(id=ident, fault=fault, on=On(tool=_names(tool))))
    return Profile(
        name=session.slug,
        description=session.name or session.expected_failure,
        tools=sites,
        entries=tuple(entries),
        path=session.place,
        digest=session.digest,
    )


def _answer(response: ToolResponse, timing: float) -> RecordedAnswer:
    return RecordedAnswer(
        response=response.response,
        status=200 if response.status is None else response.status,
        latency_ms=min((response.latency_ms or 0) * timing, 3_600_000),
        headers=response.headers,
    )


def _names(tool: str) -> tuple[str, ...]:
    """The names that the same tool has at its sites."""
    if not tool.startswith(MCP):
        return tool, f"{MCP}*__{tool}"
    bare = tool.removeprefix(MCP).partition("__")[2]
    return (tool, bare) if bare else (tool,)


def _also(site: ToolSite | None, url: Globs) -> ToolSite:
    known: Sequence[str] = ()
    if site is not None and site.url is not None:
        known = (site.url,) if isinstance(site.url, str) else site.url
    more = (url,) if isinstance(url, str) else url
    return ToolSite(url=tuple(dict.fromkeys((*known, *more))))
