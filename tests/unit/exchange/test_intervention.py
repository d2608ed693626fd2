"""Which calls an intervention touches, and that no limit is ever exceeded."""

from __future__ import annotations

import pytest

from faultwire.exchange.guardrail import Thresholds
from faultwire.exchange.intervention import BlastRadius, Intervention, Radius, Selection, joined, session_of
from faultwire.profile.load import inline

FREE, ALL = Radius(), Selection()
STATUS = inline("status: {code: 503}")


def made(selection: Selection = ALL, radius: Radius = FREE, seed: int = 1) -> Intervention:
    return Intervention("a1", STATUS, selection, radius, Thresholds(), seed=seed, began=0.0)


def touched(
    one: Intervention, names: list[str], limit: BlastRadius | None = None, now: float = 1.0
) -> list[str]:
    limit = limit or BlastRadius(FREE)
    found = []
    for name in names:
        limit.see(name)
        if one.takes(name, (), now, limit):
            found.append(name)
    return found


SESSIONS = [f"s{number}" for number in range(1000)]


def test_all_are_touched_where_nothing_is_said() -> None:
    assert touched(made(), SESSIONS) == SESSIONS


@pytest.mark.parametrize("order", [1, -1])
def test_a_share_is_never_exceeded_at_any_moment(order: int) -> None:
    one, limit = made(Selection(share=0.2), Radius(share=0.2)), BlastRadius(FREE)
    for count, name in enumerate(SESSIONS[::order], 1):
        touched(one, [name], limit)
        assert len(one.radius.touched) <= 0.2 * count
    assert len(one.radius.touched) > 100  # and some are


def test_the_same_session_is_always_decided_alike() -> None:
    one, limit = made(Selection(share=0.5), Radius(share=0.5)), BlastRadius(FREE)
    first = touched(one, SESSIONS, limit)
    assert touched(one, SESSIONS, limit) == first


def test_the_seed_decides_which() -> None:
    some = [touched(made(Selection(share=0.5), seed=seed), SESSIONS) for seed in (1, 1, 2)]
    assert some[0] == some[1] != some[2]


def test_a_smaller_share_is_a_part_of_a_larger_one() -> None:
    small, large = (set(touched(made(Selection(share=share)), SESSIONS)) for share in (0.1, 0.6))
    assert small < large


def test_no_more_sessions_than_allowed() -> None:
    one = made(radius=Radius(sessions=3))
    assert touched(one, SESSIONS + SESSIONS) == SESSIONS[:3] * 2


def test_no_more_calls_than_allowed_and_those_without_a_fault_are_given_back() -> None:
    one, limit = made(radius=Radius(calls=2)), BlastRadius(FREE)
    assert touched(one, ["s"] * 5, limit) == ["s"] * 2
    one.radius.give_back()
    assert touched(one, ["s"] * 5, limit) == ["s"]


def test_what_the_proxy_allows_holds_for_all_interventions_together() -> None:
    limit = BlastRadius(Radius(sessions=2))
    assert touched(made(), ["a"], limit) == ["a"]
    assert touched(made(), ["b", "c", "a"], limit) == ["b", "a"]
    assert limit.touched == {"a", "b"}


def test_the_window() -> None:
    one = made(Selection(after_s=5, for_s=10))
    seen = [bool(touched(one, ["s"], now=now)) for now in (4.9, 5.0, 14.9, 15.0)]
    assert seen == [False, True, True, False]


def test_by_name_and_by_header() -> None:
    one, limit = made(Selection(sessions=("web-*",), headers=(("x-tier", "beta*"),))), BlastRadius(FREE)
    head = (("X-Tier", "beta-2"),)
    for name in ("web-1", "job-1"):
        limit.see(name)
    assert one.takes("web-1", head, 1.0, limit)
    assert not one.takes("job-1", head, 1.0, limit)
    assert not one.takes("web-1", (("x-tier", "prod"),), 1.0, limit)
    assert not one.takes("web-1", (), 1.0, limit)


def test_disarmed_touches_nothing_and_keeps_the_first_reason() -> None:
    one = made()
    assert one.disarm("first")
    assert not one.disarm("second")
    assert (one.state, one.why) == ("disarmed", "first")
    assert touched(one, SESSIONS) == []


@pytest.mark.parametrize(
    ("headers", "by", "expected"),
    [
        ((), None, "own"),
        ((("baggage", "a=b, faultwire-session=s7;p=1"),), None, "s7"),
        ((("traceparent", f"00-{'a' * 32}-{'b' * 16}-01"),), None, "a" * 32),
        ((("traceparent", "00-short-b-01"),), None, "own"),
        ((("x-conversation", "c1"), ("baggage", "faultwire-session=s7")), "x-conversation", "c1"),
        ((("baggage", "faultwire-session=s7"),), "x-conversation", "own"),
    ],
)
def test_whose_a_call_is(headers: tuple[tuple[str, str], ...], by: str | None, expected: str) -> None:
    assert session_of(headers, "own", by) == expected


def test_what_is_armed_stands_behind_the_sessions_own_faults_under_its_own_name() -> None:
    base = inline("latency: {ms: 1}")
    found = joined(base, [made(), made()])
    assert [entry.id for entry in found.entries] == ["latency", "a1/status", "a1/status"]
    assert [entry.fault.name for entry in found.composed] == ["latency", "status", "status"]
    assert [entry.id for entry in base.entries] == ["latency"]
