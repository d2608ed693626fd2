"""Values about exchanges that are over."""

from __future__ import annotations

from faultwire import events, history
from faultwire.events import FaultFired, Request
from faultwire.history import History, Recorded


def test_they_are_given_out_with_the_other_values():
    for name in ("Delivery", "Message", "Recorded", "AgentResult", "History", "Verdict"):
        assert getattr(events, name) is getattr(history, name)


def test_what_fired_is_gathered_over_a_session():
    def line(outcome):
        return FaultFired("stall", "stall", "stream", outcome, "", "k", 0, 0)

    request = Request("GET", "https", "h", 443, "/")
    made = Recorded(
        "s", 1, "llm", None, None, None, request, None, None, "complete", None, 0, 0, 1.0,
        (line("fired"), line("skipped")),
    )  # fmt: skip
    assert History("s", (made, made)).fired == (line("fired"), line("fired"))
