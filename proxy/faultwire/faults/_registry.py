"""Which faults there are: the built-in ones, and those of installed packages.

A package adds faults with the entry-point group `faultwire.faults`; each entry's name is the fault's
name and its value a `Fault` class. One that fails to load, or takes a name that is taken, is an error:
a profile must never mean less than it says.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from faultwire.errors import FaultError, UsageError, did_you_mean
from faultwire.faults._api import MOMENTS, SITES, Fault
from faultwire.faults._describe import SECTIONS, sections
from faultwire.plugins import Registry, installed
from faultwire.plugins.deferred import Deferred

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.metadata import EntryPoint

GROUP = "faultwire.faults"

FAMILIES = {
    "connection": (
        "latency hang refuse reset close bandwidth slow_close tls_failure dns_failure goaway rst_stream "
        "stall_window"
    ),
    "response": (
        "status rate_limit overloaded auth_error quota_exceeded context_length content_filter empty_body "
        "truncate_body malformed_body garbage_body wrong_content_type corrupt_encoding stale_response "
        "timeout_after_commit"
    ),
    "model": (
        "truncate_response empty_response refusal garbage wrong_finish_reason missing_usage drift "
        "wrong_values unknown_tool_call malformed_tool_arguments wrong_tool_arguments duplicate_tool_call "
        "dropped_tool_call model_answer"
    ),
    "stream": (
        "slow_first_token slow_tokens stall cut_stream early_end stream_error websocket_close "
        "malformed_event drop_event duplicate_event reorder_events split_events"
    ),
    "tool": (
        "tool_error tool_timeout tool_slow tool_empty tool_malformed tool_malicious tool_wrong_values "
        "tool_stale tool_schema_drift tool_no_op recorded_response "
        "tool_partial tool_wrong_units"
    ),
    "mcp": "mcp_error mcp_message mcp_poisoned_description mcp_list_changed mcp_session_lost",
    "agent": (
        "agent_down agent_slow agent_garbled agent_card_spoofed agent_replaced "
        "agent_partition agent_loops agent_lies message_lost message_reordered"
    ),
    "conversation": "history_truncated history_reordered conversation_expired",
    "attack": (
        "indirect_injection rag_poison memory_poisoning injection_via_context conflicting_context overflow "
        "replace replace_in_context"
    ),
}
"""The names of the built-in faults by the folder that their files are in. The file of `cut_stream` is
`cut_stream.py` and its class `CutStream`."""

PLACES = {
    name: f"faultwire.faults.{family}.{name}:{name.title().replace('_', '')}"
    for family, names in FAMILIES.items()
    for name in names.split()
}
"""Where each built-in fault is."""

if TYPE_CHECKING:
    BUILTIN: tuple[type[Fault], ...]
    """The built-in faults. Asking for them imports them all."""


@cache
def registry() -> Mapping[str, type[Fault]]:
    """Every fault by name, built-in ones first; these are imported when they are asked for.

    Raises FaultError on a bad package.
    """
    plugged = REGISTRY.collect((), installed().select(group=GROUP), taken=PLACES)
    return Deferred(PLACES, plugged)


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
    return REGISTRY.collect(builtin, plugins)


def __getattr__(name: str) -> tuple[type[Fault], ...]:
    if name == "BUILTIN":
        found = registry()
        return tuple(found[one] for one in PLACES)
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")


def _problem(fault: type[Fault]) -> str | None:
    if getattr(fault, "site", None) not in SITES:
        return f"has site `{getattr(fault, 'site', None)}`, expected one of {', '.join(SITES)}"
    if not fault.moments or not set(fault.moments) <= set(MOMENTS):
        return f"has moments `{fault.moments}`, expected some of {', '.join(MOMENTS)}"
    found = sections(fault)
    missing = next((title for title in SECTIONS if title not in found), None)
    return f"has no section `{missing}` in its docstring" if missing else None


REGISTRY = Registry("fault", Fault, FaultError, _problem)
