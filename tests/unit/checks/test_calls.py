from dataclasses import replace

from tests.unit.checks.conftest import LIMITED, OK, at_once, exchange, in_turn

from faultwire.checks._calls import OPEN, calls, doubt, possible_calls


def limited(number, retry=None, at_ms=None, **changes):
    at_ms = 1000 + 5 * number if at_ms is None else at_ms
    return exchange(number, delivered=LIMITED, retry=retry, at_ms=at_ms, **changes)


def numbers(found):
    return [call.numbers for call in found]


def test_samples_that_are_sent_at_once_are_calls_of_their_own():
    samples = at_once(*(limited(n) for n in range(1, 9)))
    assert numbers(calls(samples)) == [[n] for n in range(1, 9)] == numbers(possible_calls(samples))
    assert doubt(samples) is None


def test_the_same_in_turn_is_one_call():
    loop = in_turn(*(limited(n) for n in range(1, 9)))
    assert numbers(calls(loop)) == [list(range(1, 9))] == numbers(possible_calls(loop))
    assert doubt(loop) is None


def test_where_nobody_saw_the_connections_both_may_be():
    bare = tuple(limited(n) for n in range(1, 5))
    assert numbers(calls(bare)) == [[1], [2], [3], [4]]
    assert numbers(possible_calls(bare)) == [[1, 2, 3, 4]]
    assert doubt(bare) == (
        "#2, #3, #4 came within 250 ms of a failed answer, and it was not recorded on which connections"
    )
    seen = tuple(replace(one, arrival=how.arrival) for one, how in zip(bare, at_once(*bare), strict=True))
    warm = tuple(replace(one, arrival=replace(one.arrival, request=2)) for one in seen)
    assert "the wire does not show whether its client had read that answer" in doubt(warm)


def test_each_sample_has_retries_of_its_own():
    """Their client counts: 1, 1, 1 and 2, 2, 2 are no seven attempts of one call."""
    firsts = at_once(*(limited(n, retry=0) for n in (1, 2, 3)))
    seconds = tuple(limited(n, retry=1, at_ms=2000 + n) for n in (4, 5, 6))
    thirds = tuple(limited(n, retry=2, at_ms=4000 + n) for n in (7, 8, 9))
    found = calls((*firsts, *seconds, *thirds))
    assert sorted(map(len, numbers(found))) == [3, 3, 3]
    assert [call.attempts for call in found] == [3, 3, 3]


def test_retries_of_samples_that_nobody_counts_are_shared_out():
    firsts = at_once(*(limited(n) for n in (1, 2, 3)))
    again = at_once(*(limited(n, at_ms=2000 + n) for n in (4, 5, 6)), opened=1900)
    found = calls((*firsts, *again))
    assert sorted(map(len, numbers(found))) == [2, 2, 2]


def test_a_counter_is_believed_whatever_the_time():
    pair = at_once(limited(1, retry=0), limited(2, retry=1))
    assert numbers(calls(pair)) == [[1, 2]]
    good = (exchange(1, delivered=OK, retry=0), limited(2, retry=1))
    assert numbers(calls(good)) == [[1, 2]]


def test_the_engines_own_guess_makes_no_retry_of_a_sample():
    """It takes the same request right behind a fault for a retry, where the client counts none."""
    samples = at_once(*(replace(limited(n), attempt=min(n - 1, 3)) for n in range(1, 6)))
    found = calls(samples)
    assert [call.attempts for call in found] == [1] * 5
    assert not any(call.continues for call in found)
    stamped = (limited(1, body=b'{"at": 1}'), replace(limited(2, body=b'{"at": 2}'), attempt=1))
    assert [call.continues for call in calls(stamped)] == [False, True]
    assert [call.attempts for call in calls(stamped)] == [1, 2]


def test_very_many_open_calls_are_not_all_remembered():
    samples = at_once(*(limited(n) for n in range(1, OPEN + 100)))
    assert len(calls((*samples, limited(OPEN + 100, at_ms=9_000_000)))) == OPEN + 99


def test_other_operations_at_one_path_are_other_calls():
    def asks(number, name, value):
        made = limited(number)
        return replace(made, request=replace(made.request, headers=((name, value),)))

    for name, others in (("X-Amz-Target", True), ("SOAPAction", True), ("x-trace", False)):
        loop = in_turn(*(asks(n, name, f"operation {n}") for n in range(1, 4)))
        assert numbers(calls(loop)) == ([[1], [2], [3]] if others else [[1, 2, 3]])
        same = in_turn(*(asks(n, name, "one") for n in range(1, 4)))
        assert numbers(calls(same)) == [[1, 2, 3]]


def cached(number, key, model="gpt-4o", more=""):
    body = f'{{"model": "{model}", "prompt_cache_key": "{key}"{more}}}'
    return limited(number, body=body.encode())


def test_a_hint_that_is_made_anew_makes_no_other_call():
    """As openai-agents does, where a loop starts its run again."""
    loop = in_turn(*(cached(n, f"agents-sdk:run:{n}") for n in (1, 2, 3)))
    assert numbers(calls(loop)) == [[1, 2, 3]]


def test_what_differs_beside_the_hint_is_another_call():
    other_question = in_turn(cached(1, "run:1", "gpt-4o"), cached(2, "run:2", "gpt-5o"))
    assert numbers(calls(other_question)) == [[1], [2]]
    mended = in_turn(cached(1, "run:1"), cached(2, "run:22"))
    assert numbers(calls(mended)) == [[1], [2]], "a key that was too long may be what was wrong"
    within = in_turn(*(cached(n, "run", more=f', "input": {{"prompt_cache_key": "{n}"}}') for n in (1, 2)))
    assert numbers(calls(within)) == [[1], [2]], "there it is the user's word"


def test_a_body_that_is_too_heavy_to_be_read_is_compared_as_it_is():
    filled = ', "input": [' + "0," * (1 << 17) + "0]"
    assert numbers(calls(in_turn(*(cached(n, "same", more=filled) for n in (1, 2))))) == [[1, 2]]
    assert numbers(calls(in_turn(*(cached(n, f"run:{n}", more=filled) for n in (1, 2))))) == [[1], [2]]
