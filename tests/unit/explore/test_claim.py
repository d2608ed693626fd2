"""What may be claimed of a pair, and each reason in a case in which it does not hold."""

from __future__ import annotations

from dataclasses import replace

from faultwire.explore.claim import Known, claim, hidden
from faultwire.explore.space import Call, Observation, Point

A, B, SPARE = Call("GET x/a", 1), Call("GET x/b", 1), Call("GET y/a", 1)
A1, A2, B1 = Point(A, "status"), Point(A, "hang"), Point(B, "status")
EDGES = frozenset({(A, None), (B, None)})
CALM = Observation(
    False, calls=((A, "1"), (B, "2")), points=frozenset({A1, A2, B1}), edges=EDGES, output="fine"
)
WITH_SPARE = replace(CALM, calls=((A, "1"), (SPARE, "1"), (B, "2")))


def known(**singles: Observation) -> Known:
    made = Known(CALM)
    for name, run in singles.items():
        point = {"a1": A1, "a2": A2, "b1": B1}[name]
        made.take(frozenset([point]), replace(run, fired=frozenset([point])))
    return made


def test_a_pair_that_was_run() -> None:
    made = known(a1=WITH_SPARE, b1=CALM)
    made.take(frozenset([A1, B1]), WITH_SPARE)
    assert made.reason(A1, B1) == "run"


def test_two_faults_on_one_call() -> None:
    assert known().reason(A1, A2) == "same call"


def test_a_call_that_never_comes() -> None:
    gone = replace(CALM, calls=((A, "1"),))
    assert known(a1=gone).reason(A1, B1) == "not met"
    assert known(a1=WITH_SPARE).reason(A1, B1) != "not met"
    unsteady = known(a1=gone)
    unsteady.steady = False
    assert unsteady.reason(A1, B1) == "open", "another run may have it"


def test_together_with_others_where_both_fired() -> None:
    changed = replace(WITH_SPARE, output="less")
    made = known(a1=changed, a2=changed, b1=CALM)
    row = frozenset([A1, B1, Point(Call("GET x/c", 1), "status")])
    made.take(row, replace(CALM, fired=row))
    assert made.reason(A1, B1) == "together"
    assert made.reason(A2, B1) == "same reaction"
    other = known(a1=changed, a2=replace(changed, output="other"), b1=CALM)
    other.take(row, replace(CALM, fired=row))
    assert other.reason(A2, B1) == "open"
    unmet = known(a1=changed, b1=CALM)
    unmet.take(row, replace(CALM, fired=frozenset([A1])))
    assert unmet.reason(A1, B1) == "open", "only one of them fired"


def test_faults_that_change_nothing_on_calls_that_nothing_joins() -> None:
    assert known(a1=WITH_SPARE, b1=CALM).reason(A1, B1) == "lineage"
    assert known(a1=replace(WITH_SPARE, output="less"), b1=CALM).reason(A1, B1) == "open"
    joined = Known(replace(CALM, edges=EDGES | {(A, B)}))
    for point, run in ((A1, WITH_SPARE), (B1, CALM)):
        joined.take(frozenset([point]), run)
    assert joined.reason(A1, B1) == "open", "bytes lead from the one to the other"


def test_hidden_lineage_is_seen_and_excludes_nothing() -> None:
    sly = replace(WITH_SPARE, calls=((A, "1"), (SPARE, "1"), (B, "other")))
    assert (
        hidden(CALM, sly, A1) == "status on GET x/a, call 1 changed GET x/b, call 1, to which no bytes lead"
    )
    shown = replace(CALM, edges=EDGES | {(A, B)})
    assert hidden(shown, sly, A1) == ""
    silent = replace(CALM, edges=frozenset())
    assert "the agent's output" in hidden(silent, replace(WITH_SPARE, output="less"), A1)
    assert "could not be looked at" in hidden(CALM, replace(CALM, unread=True), A1)
    made = known(a1=sly, b1=CALM)
    assert made.reason(A1, B1) == "open"
    assert "the lineage is hidden" in claim(made, [A1, B1], [], 2).why_not


def test_a_find_takes_in_what_the_agent_takes_alike() -> None:
    made = known(a1=WITH_SPARE, a2=WITH_SPARE, b1=CALM)
    made.take_find(frozenset([A1, B1]))
    assert made.reason(A2, B1) == "a find"
    other = known(a1=WITH_SPARE, a2=replace(WITH_SPARE, output="x"), b1=CALM)
    other.take_find(frozenset([A1, B1]))
    assert other.reason(A2, B1) != "a find"


def test_what_could_not_be_judged_was_run_and_is_no_pass() -> None:
    made = known(a1=replace(WITH_SPARE, output="less"), b1=CALM)
    made.undecided |= {frozenset([A1, B1]), frozenset([A2])}
    assert made.reason(A1, B1) == "undecided"
    assert made.of_single(A2) == "undecided"
    found = claim(made, [A1, B1], [], 2)
    assert (found.holds, found.why_not) == (False, "1 set was run and could not be judged")


def test_a_claim_counts_every_set() -> None:
    made = known(a1=WITH_SPARE, a2=WITH_SPARE, b1=CALM)
    found = claim(made, CALM.points, [], 2)
    assert found.holds
    assert sum(found.counts.values()) == 3 + 3
    assert len(found.excluded) == 3
    assert not claim(known(a1=WITH_SPARE), CALM.points, [], 1).holds
    assert claim(made, CALM.points, [], 1).counts == {"run": 3}
