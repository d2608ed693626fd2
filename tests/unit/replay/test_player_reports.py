"""What a player's report counts and lists, and which requests it answers without reading them.

Covers faultwire.replay.player.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.replay.test_player_parts import (
    JSON,
    LATER,
    LIVE,
    OTHER,
    RECORDED,
    body,
    player,
    post,
    recorded,
)

from faultwire.events import Headers, Request
from faultwire.replay import player as module
from faultwire.replay.explain_miss import Divergence
from faultwire.replay.mask import Masks
from faultwire.replay.match import Index
from faultwire.replay.player import LISTED, Player
from faultwire.replay.rebind import Rebinder
from faultwire.tape.redact.redactor import Redactor

MARK = "redacted:v1:" + "ab" * 16
BARE = Request("GET", "https", "h.example", 443, "/bare", ())


def test_a_miss_without_a_number_has_none() -> None:
    missed = player(post(1)).play(post(2))
    assert isinstance(missed, Divergence)
    assert missed.number == 0


# ---------------------------------------------------------------- answers with placeholders


def answers(headers: int, bodies: int) -> Player:
    """Answers with a placeholder in a header field, then such with one in the body; all were given."""
    found = []
    for number in range(1, headers + bodies + 1):
        packed = number > headers
        given = recorded(number, post(number), answer=MARK.encode() if packed else b"")
        fields: Headers = JSON if packed else (*JSON, ("x-key", MARK))
        assert given.delivered is not None
        found.append(replace(given, delivered=replace(given.delivered, headers=fields)))
    made = Player(Index(found, Masks.parse(())), Redactor(b"k" * 32))
    for one in found:
        made.play(one.request)
    return made


@pytest.mark.parametrize(
    ("headers", "bodies", "listed"), [(30, 60, (24, 26)), (0, 3, (0, 3)), (2, 0, (2, 0))]
)
def test_answers_with_placeholders_are_counted_and_so_many_listed(
    headers: int, bodies: int, listed: tuple[int, int]
) -> None:
    report = answers(headers, bodies).report()["redacted"]
    assert (report["answers"], report["heads"]) == (bodies, headers)
    calls = report["calls"]
    assert (sum(not one["body"] for one in calls), sum(bool(one["body"]) for one in calls)) == listed
    assert len(calls) <= LISTED


@pytest.mark.parametrize(("headers", "bodies", "exact"), [(0, 0, True), (1, 0, False), (0, 1, False)])
def test_a_run_with_placeholders_is_not_exact(headers: int, bodies: int, exact: bool) -> None:
    found = answers(headers, bodies) if headers + bodies else player(post(1), rebind=False)
    if not headers + bodies:
        found.play(post(1))
    assert found.report()["exact"] is exact


def test_a_run_with_the_servers_answers_is_not_exact() -> None:
    for upstream in (False, True):
        found = player(post(1), rebind=False, upstream=upstream)
        found.play(post(1))
        assert found.report()["exact"] is not upstream


@pytest.mark.parametrize(("asked", "rebound"), [(RECORDED, 0), (LIVE, 1)])
def test_a_run_with_another_value_in_an_answer_is_not_exact(asked: str, rebound: int) -> None:
    index = Index([recorded(1, post({"x": RECORDED}), answer=f'{{"id":"{RECORDED}"}}'.encode())])
    found = Player(index, Redactor(b"k" * 32), Rebinder())
    found.play(post({"x": asked}))
    report = found.report()
    assert (report["rebound"], report["exact"]) == (rebound, not rebound)


# ---------------------------------------------------------------- which exchange answers


@pytest.mark.parametrize("rebind", [False, True])
@pytest.mark.parametrize("request_", [post({"x": "a"}), BARE], ids=["body", "bare"])
def test_a_request_that_is_the_recorded_one_is_not_read(
    rebind: bool, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: Any) -> Any:
        raise AssertionError("it was read")

    found = player(request_, rebind=rebind)
    monkeypatch.setattr(module, "clean", read)
    assert body(found.play(request_)) == b"r1"
    with pytest.raises(AssertionError, match="it was read"):
        found.play(post({"x": "b"}))


def test_a_live_value_that_is_another_call_s_recorded_one_is_not_taken_for_it() -> None:
    found = player(post({"x": RECORDED}), post({"y": LIVE}, "/b"), post({"y": RECORDED}, "/b"))
    assert body(found.play(post({"x": LIVE}))) == b"r1"
    assert body(found.play(post({"y": LIVE}, "/b"))) == b"r3"
    unbound = player(post({"x": RECORDED}), post({"y": LIVE}, "/b"), post({"y": RECORDED}, "/b"))
    assert body(unbound.play(post({"y": LIVE}, "/b"))) == b"r2", "the control"


def test_a_call_that_was_made_more_often_than_recorded_takes_no_other_s_answer() -> None:
    found = player(post({"x": RECORDED}), post({"x": LATER}))
    assert body(found.play(post({"x": RECORDED}))) == b"r1"
    assert isinstance(found.play(post({"x": RECORDED})), Divergence)
    assert body(found.play(post({"x": OTHER}))) == b"r2", "the control: it was there to be taken"


def test_a_request_without_a_body_is_the_recorded_one_beside_bound_values() -> None:
    found = player(post({"x": RECORDED}), BARE)
    assert body(found.play(post({"x": LIVE}))) == b"r1"
    assert body(found.play(BARE)) == b"r2"


def test_a_value_in_a_masked_place_counts_as_seen_in_this_run() -> None:
    def made() -> Player:
        return player(post({"run": "none", "n": 1}), post({"x": LATER}, "/b"), masks=("$.run",))

    assert body(made().play(post({"x": LIVE}, "/b"))) == b"r2", "the control"
    found = made()
    assert body(found.play(post({"run": LIVE, "n": 1}))) == b"r1"
    assert body(found.play(post({"x": LIVE}, "/b"))) == "volatile value"
