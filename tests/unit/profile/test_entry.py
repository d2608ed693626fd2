from __future__ import annotations

from faultwire.profile.entry import numbered
from faultwire.profile.load import parse


def ids(*lines: str) -> list[str]:
    return [
        entry.id for entry in parse("faults:\n" + "".join(f"  - {line}\n" for line in lines), "p").entries
    ]


def test_ids_number_the_faults_of_a_kind():
    assert ids("rate_limit", "tool_error", "rate_limit", "rate_limit") == [
        "rate_limit",
        "tool_error",
        "rate_limit#2",
        "rate_limit#3",
    ]


def test_other_faults_in_between_change_no_id():
    before = ids("rate_limit", "rate_limit")
    assert [
        i for i in ids("tool_error", "rate_limit", "{slow_close: {ms: 1}}", "rate_limit") if "rate" in i
    ] == before


def test_a_given_id_changes_no_other():
    assert ids("{rate_limit: , id: mine}", "rate_limit") == ["mine", "rate_limit#2"]
    assert ids("rate_limit", "{rate_limit: , id: mine}", "rate_limit") == [
        "rate_limit",
        "mine",
        "rate_limit#3",
    ]


def test_numbering_again_changes_nothing():
    entries = parse("faults: [rate_limit, rate_limit, {slow_close: {ms: 1}, id: x}]", "p").entries
    assert tuple(numbered(entries)) == entries
