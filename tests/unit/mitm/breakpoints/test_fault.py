"""Which exchanges a breakpoint is for."""

from __future__ import annotations

import pytest
from tests.unit.mitm.breakpoints.conftest import Bench, chat

from faultwire.errors import UsageError
from faultwire.events import Exchange, Request
from faultwire.faults._registry import registry
from faultwire.mitm.breakpoints.fault import EVERY_STATUS, KINDS, profile_of
from faultwire.mitm.settings import BreakSettings


def entry(bench: Bench, at: str, **on):
    (found,) = profile_of(BreakSettings.model_validate({"at": at, "on": on}), bench.desk, "b1").entries
    return found


def test_no_profile_in_a_file_can_hold_a_call() -> None:
    assert "breakpoint" not in registry()
    assert set(KINDS) == {"request", "response", "event", "tool_call", "tool_result"}


def test_a_tool_is_the_one_that_is_called_and_not_the_one_that_is_asked(bench: Bench) -> None:
    """In `on:` a tool is one with an exchange of its own; a call of it stands in a model's answer."""
    found = entry(bench, "tool_call", tool="get_*")
    assert found.on.tool is None
    assert found.fault.tools == ("get_*",)
    assert entry(bench, "event", tool="get_*").on.tool == "get_*"


def test_a_response_is_decided_on_once_its_head_is_there(bench: Bench) -> None:
    assert entry(bench, "response").on.status == EVERY_STATUS
    assert entry(bench, "response", status=429).on.status == 429


def test_a_status_is_not_known_at_the_request(bench: Bench) -> None:
    with pytest.raises(UsageError, match="which has none yet"):
        entry(bench, "request", status=429)


def test_a_breakpoint_that_is_passed_by_has_a_reason(bench: Bench) -> None:
    tool = Exchange("s", 1, Request("GET", "https", "a.example", 443, "/", ()), "tool", tool="book")
    assert entry(bench, "tool_call").fault.inapplicable(tool) == "the exchange is `tool`, not `llm`"
    assert entry(bench, "tool_result", tool="get_*").fault.inapplicable(tool) == "it is another tool's"
    why = entry(bench, "tool_result").fault.inapplicable(chat())
    assert why == "the request brings no new result of such a tool"
    head = (("upgrade", "websocket"),)
    upgrade = Request("GET", "https", "api.openai.com", 443, "/v1/realtime", head)
    socket = Exchange("s", 1, upgrade, "llm", "realtime", "openai")
    why = entry(bench, "tool_result").fault.inapplicable(socket)
    assert why == "results in messages of a WebSocket cannot be held; hold the tool's own call, or an `event`"
    assert entry(bench, "tool_call").fault.inapplicable(socket) is None
