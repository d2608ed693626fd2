"""One of a thing is one in what a verdict says, and two are two."""

import pytest

from faultwire.checks.no_duplicate_side_effect import NoDuplicateSideEffect
from faultwire.checks.no_pii_egress import NoPiiEgress
from faultwire.checks.no_retry_of_client_errors import NoRetryOfClientErrors
from faultwire.checks.only_hosts import OnlyHosts
from faultwire.checks.tool_called import ToolCalled
from faultwire.checks.valid_history import ValidHistory

SAID = [
    (ValidHistory(), "talk", {}, "1 conversation is legal", "2 conversations are legal"),
    (NoRetryOfClientErrors(), "talk", {"status": 400}, "1 wrong request was not repeated",
     "2 wrong requests were not repeated"),
    (OnlyHosts(hosts=("tools.test",)), "used", {}, "the only request went to allowed destinations",
     "all 2 requests went to allowed destinations"),
    (NoDuplicateSideEffect(), "used", {}, "1 deed, done once", "2 deeds, each done once"),
    (NoPiiEgress(), "used", {}, "1 request without personal data", "2 requests without personal data"),
    (ToolCalled(tool="search"), "used", {}, "`search` was used 1 time, expected at least 1",
     "`search` was used 2 times, expected at least 1"),
]  # fmt: skip


def exchanges(wire, made, changes, count):
    if made == "talk":
        return [wire.talk(n, [wire.user(f"Question {n}")], **changes) for n in range(1, count + 1)]
    return [wire.used(n, arguments={"q": str(n)}, **changes) for n in range(1, count + 1)]


@pytest.mark.parametrize(("check", "made", "changes", "one"), [row[:4] for row in SAID])
def test_one_of_a_thing_is_one(verdict, wire, check, made, changes, one):
    assert verdict(check, exchanges(wire, made, changes, 1)).explanation == one


@pytest.mark.parametrize(("check", "made", "changes", "two"), [(*row[:3], row[4]) for row in SAID])
def test_two_of_a_thing_are_two(verdict, wire, check, made, changes, two):
    assert verdict(check, exchanges(wire, made, changes, 2)).explanation == two
