"""Invariants about answers that were cut, of which no scenario cuts one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.contract.matrix import aims, fits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.checks._api import Check
    from faultwire.contract.cells import Invocation
    from faultwire.profile.entry_model import Entry

ABOUT_CUTS = "truncated_stream_not_accepted"
WHOLE = frozenset(
    {
        *("latency", "refuse", "tls_failure", "dns_failure"),
        *("status", "rate_limit", "overloaded", "auth_error", "quota_exceeded", "context_length"),
        *("content_filter", "empty_body", "refusal", "drift", "wrong_values", "missing_usage"),
        *("unknown_tool_call", "wrong_tool_arguments", "duplicate_tool_call", "dropped_tool_call"),
    }
)
"""Faults after which an answer of a model is whole, or none at all. Of any other, one of a package among
them, it is not known; those on what a tool returns, and on requests, leave answers alone."""


def cuts(entry: Entry) -> bool:
    """May this entry cut an answer of a model?"""
    fault = entry.fault
    return fault.site not in ("result", "request") and fault.name not in WHOLE and "llm" in aims(entry)


def never_cut(judged: Iterable[tuple[Check, Invocation]]) -> Iterator[str]:
    """The labels of invariants about cut answers, none of whose scenarios has a fault that may cut one.

    `judged` are the invariants with the invocations that they are judged on.
    """
    found: dict[str, bool] = {}
    for check, invocation in judged:
        if check.name == ABOUT_CUTS and fits(check, invocation.scenario):
            able = any(cuts(entry) for entry in invocation.scenario.profile.entries)
            found[check.label] = able or found.get(check.label, False)
    return (label for label, able in found.items() if not able)
