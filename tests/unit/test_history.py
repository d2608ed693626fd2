"""Values about exchanges that are over."""

from __future__ import annotations

from faultwire import events, history
from faultwire.events import FaultFired, Request
from faultwire.history import BYPASSES_NAMED, Bypass, History, Recorded, past


def test_they_are_given_out_with_the_other_values():
    names = ("Bypass", "Delivery", "Message", "Recorded", "AgentResult", "History", "Verdict", "past")
    for name in names:
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


def test_addresses_past_the_proxy_in_words():
    assert Bypass("203.0.113.5", 443).text == "203.0.113.5:443"
    assert Bypass("2001:db8::7", 443, "udp", "api.example").text == "api.example ([2001:db8::7]:443/udp)"
    one = Bypass("203.0.113.5", 443)
    assert past([one]) == "went past the proxy: 203.0.113.5:443"
    assert past([one], 2) == "went past the proxy: 203.0.113.5:443, and 2 more"
    assert past([one] * (BYPASSES_NAMED + 3), 2).endswith("203.0.113.5:443, and 5 more")
    assert past([], 1) == "went past the proxy: 1 address"
    assert past([], 2) == "went past the proxy: 2 addresses"
