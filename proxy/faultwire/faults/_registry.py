"""Which faults there are: the built-in ones, and those of installed packages.

A package adds faults with the entry-point group `faultwire.faults`; each entry's name is the fault's
name and its value a `Fault` class. One that fails to load, or takes a name that is taken, is an error:
a profile must never mean less than it says.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from faultwire.errors import FaultError, UsageError, did_you_mean
from faultwire.faults._api import SITES, Fault
from faultwire.faults._describe import SECTIONS, sections
from faultwire.faults.agent.agent_card_spoofed import AgentCardSpoofed
from faultwire.faults.agent.agent_down import AgentDown
from faultwire.faults.agent.agent_garbled import AgentGarbled
from faultwire.faults.agent.agent_slow import AgentSlow
from faultwire.faults.attack.conflicting_context import ConflictingContext
from faultwire.faults.attack.indirect_injection import IndirectInjection
from faultwire.faults.attack.injection_via_context import InjectionViaContext
from faultwire.faults.attack.memory_poisoning import MemoryPoisoning
from faultwire.faults.attack.overflow import Overflow
from faultwire.faults.attack.rag_poison import RagPoison
from faultwire.faults.connection.bandwidth import Bandwidth
from faultwire.faults.connection.close import Close
from faultwire.faults.connection.dns_failure import DnsFailure
from faultwire.faults.connection.hang import Hang
from faultwire.faults.connection.latency import Latency
from faultwire.faults.connection.refuse import Refuse
from faultwire.faults.connection.reset import Reset
from faultwire.faults.connection.slow_close import SlowClose
from faultwire.faults.connection.tls_failure import TlsFailure
from faultwire.faults.mcp.mcp_error import McpError
from faultwire.faults.mcp.mcp_list_changed import McpListChanged
from faultwire.faults.mcp.mcp_poisoned_description import McpPoisonedDescription
from faultwire.faults.mcp.mcp_session_lost import McpSessionLost
from faultwire.faults.model.drift import Drift
from faultwire.faults.model.dropped_tool_call import DroppedToolCall
from faultwire.faults.model.duplicate_tool_call import DuplicateToolCall
from faultwire.faults.model.empty_response import EmptyResponse
from faultwire.faults.model.garbage import Garbage
from faultwire.faults.model.malformed_tool_arguments import MalformedToolArguments
from faultwire.faults.model.missing_usage import MissingUsage
from faultwire.faults.model.refusal import Refusal
from faultwire.faults.model.truncate_response import TruncateResponse
from faultwire.faults.model.unknown_tool_call import UnknownToolCall
from faultwire.faults.model.wrong_finish_reason import WrongFinishReason
from faultwire.faults.model.wrong_tool_arguments import WrongToolArguments
from faultwire.faults.model.wrong_values import WrongValues
from faultwire.faults.response.auth_error import AuthError
from faultwire.faults.response.content_filter import ContentFilter
from faultwire.faults.response.context_length import ContextLength
from faultwire.faults.response.corrupt_encoding import CorruptEncoding
from faultwire.faults.response.empty_body import EmptyBody
from faultwire.faults.response.garbage_body import GarbageBody
from faultwire.faults.response.malformed_body import MalformedBody
from faultwire.faults.response.overloaded import Overloaded
from faultwire.faults.response.quota_exceeded import QuotaExceeded
from faultwire.faults.response.rate_limit import RateLimit
from faultwire.faults.response.stale_response import StaleResponse
from faultwire.faults.response.status import Status
from faultwire.faults.response.timeout_after_commit import TimeoutAfterCommit
from faultwire.faults.response.truncate_body import TruncateBody
from faultwire.faults.response.wrong_content_type import WrongContentType
from faultwire.faults.stream.cut_stream import CutStream
from faultwire.faults.stream.drop_event import DropEvent
from faultwire.faults.stream.duplicate_event import DuplicateEvent
from faultwire.faults.stream.early_end import EarlyEnd
from faultwire.faults.stream.malformed_event import MalformedEvent
from faultwire.faults.stream.reorder_events import ReorderEvents
from faultwire.faults.stream.slow_first_token import SlowFirstToken
from faultwire.faults.stream.slow_tokens import SlowTokens
from faultwire.faults.stream.split_events import SplitEvents
from faultwire.faults.stream.stall import Stall
from faultwire.faults.stream.stream_error import StreamError
from faultwire.faults.stream.websocket_close import WebsocketClose
from faultwire.faults.tool.recorded_response import RecordedResponse
from faultwire.faults.tool.tool_empty import ToolEmpty
from faultwire.faults.tool.tool_error import ToolError
from faultwire.faults.tool.tool_malformed import ToolMalformed
from faultwire.faults.tool.tool_malicious import ToolMalicious
from faultwire.faults.tool.tool_no_op import ToolNoOp
from faultwire.faults.tool.tool_schema_drift import ToolSchemaDrift
from faultwire.faults.tool.tool_slow import ToolSlow
from faultwire.faults.tool.tool_stale import ToolStale
from faultwire.faults.tool.tool_timeout import ToolTimeout
from faultwire.faults.tool.tool_wrong_values import ToolWrongValues
from faultwire.plugins import Registry, installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.metadata import EntryPoint

GROUP = "faultwire.faults"

BUILTIN: tuple[type[Fault], ...] = (
    Latency,
    Hang,
    Refuse,
    Reset,
    Close,
    Bandwidth,
    SlowClose,
    TlsFailure,
    DnsFailure,
    Status,
    RateLimit,
    Overloaded,
    AuthError,
    QuotaExceeded,
    ContextLength,
    ContentFilter,
    EmptyBody,
    TruncateBody,
    MalformedBody,
    GarbageBody,
    WrongContentType,
    CorruptEncoding,
    StaleResponse,
    TimeoutAfterCommit,
    TruncateResponse,
    EmptyResponse,
    Refusal,
    Garbage,
    WrongFinishReason,
    MissingUsage,
    Drift,
    WrongValues,
    UnknownToolCall,
    MalformedToolArguments,
    WrongToolArguments,
    DuplicateToolCall,
    DroppedToolCall,
    SlowFirstToken,
    SlowTokens,
    Stall,
    CutStream,
    EarlyEnd,
    StreamError,
    WebsocketClose,
    MalformedEvent,
    DropEvent,
    DuplicateEvent,
    ReorderEvents,
    SplitEvents,
    ToolError,
    ToolTimeout,
    ToolSlow,
    ToolEmpty,
    ToolMalformed,
    ToolMalicious,
    ToolWrongValues,
    ToolStale,
    ToolSchemaDrift,
    ToolNoOp,
    RecordedResponse,
    McpError,
    McpPoisonedDescription,
    McpListChanged,
    McpSessionLost,
    AgentDown,
    AgentSlow,
    AgentGarbled,
    AgentCardSpoofed,
    IndirectInjection,
    RagPoison,
    MemoryPoisoning,
    InjectionViaContext,
    ConflictingContext,
    Overflow,
)


@cache
def registry() -> Mapping[str, type[Fault]]:
    """Every fault by name, built-in ones first. Raises FaultError on a bad package."""
    return collect(BUILTIN, installed().select(group=GROUP))


def find(name: str) -> type[Fault]:
    """The fault of that name. Raises UsageError."""
    known = registry()
    if name not in known:
        raise UsageError(
            f"found fault `{name}`, expected a known one",
            code="fault.unknown",
            hint=did_you_mean(name, known),
        )
    return known[name]


def collect(builtin: Iterable[type[Fault]], plugins: Iterable[EntryPoint]) -> dict[str, type[Fault]]:
    """The faults of both, by name. Raises FaultError."""
    return Registry("fault", Fault, FaultError, _problem).collect(builtin, plugins)


def _problem(fault: type[Fault]) -> str | None:
    if getattr(fault, "site", None) not in SITES:
        return f"has site `{getattr(fault, 'site', None)}`, expected one of {', '.join(SITES)}"
    found = sections(fault)
    missing = next((title for title in SECTIONS if title not in found), None)
    return f"has no section `{missing}` in its docstring" if missing else None
