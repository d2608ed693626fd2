from __future__ import annotations

from faultwire.explore.space import Call, Observation, Point, effect, key_of, reached

A, B, C = Call("GET x/a", 1), Call("GET x/b", 1), Call("GET x/c", 1)


def run(*calls: tuple[Call, str], edges: frozenset = frozenset()) -> Observation:
    return Observation(False, calls=calls, edges=edges)


def test_what_faults_changed() -> None:
    found = effect(run((A, "1"), (B, "2")), run((A, "1"), (C, "9")))
    assert (found.new, found.changed, found.missing) == ({C}, set(), {B})
    other = effect(run((A, "1"), (B, "2")), run((A, "1"), (B, "3")))
    assert (other.new, other.changed, other.missing) == (set(), {B}, set())


def test_asking_again_moves_numbers_and_changes_nothing() -> None:
    first, second, third = (Call("GET x/a", number) for number in (1, 2, 3))
    calm = run((first, "1"), (second, "2"))
    again = effect(calm, run((first, "1"), (second, "1"), (third, "2")))
    assert (again.new, again.changed) == ({third}, set())
    other = effect(calm, run((first, "1"), (second, "3")))
    assert other.changed == {second}


def test_reached_over_several_edges() -> None:
    one = run(edges=frozenset({(A, B), (B, None), (C, A)}))
    assert reached(one, A) == {B, None}
    assert reached(one, Call("GET x/z", 1)) == frozenset()


def test_the_same_set_has_the_same_key() -> None:
    one, other = Point(A, "status"), Point(B, "hang")
    assert key_of([one, other]) == key_of([other, one])
    assert key_of([one]) != key_of([other])
    assert one.text == "status on GET x/a, call 1"
