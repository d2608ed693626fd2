from dataclasses import replace

from faultwire.events import Delivery
from faultwire.report.exchange import Limits
from faultwire.report.stream_pairs import COMPARED, stream_pairs

SSE = (("content-type", "text/event-stream"),)
LIMITS = Limits()


def stream(*words, headers=SSE):
    parts = [b'data: {"t": "%s"}\n\n' % word.encode() for word in words]
    ends = [sum(map(len, parts[: at + 1])) for at in range(len(parts))]
    return Delivery(
        200, "OK", headers, b"".join(parts), tuple((e, n * 5_000_000) for n, e in enumerate(ends))
    )


def pairs(make_recorded, said, got, limits=LIMITS):
    return stream_pairs(make_recorded(1, "s", upstream=said, delivered=got), limits)


def shape(found):
    return [(row["sent_no"], row["got_no"], row["same"]) for row in found["rows"]]


def test_a_plain_answer_has_no_events(make_recorded):
    plain = Delivery(200, "OK", (("content-type", "application/json"),), b"{}")
    assert pairs(make_recorded, plain, plain) is None


def test_an_untouched_stream_is_numbered_and_timed(make_recorded):
    found = pairs(make_recorded, stream("a", "b"), stream("a", "b"))
    assert not found["changed"]
    assert [(row["got_no"], row["at_ms"], row["got"]) for row in found["rows"]] == [
        (1, 0.0, '{"t":"a"}'),
        (2, 5.0, '{"t":"b"}'),
    ]


def test_a_changed_event_stands_beside_what_was_sent(make_recorded):
    found = pairs(make_recorded, stream("a", "b", "c"), stream("a", "X", "c"))
    assert found["changed"]
    assert shape(found) == [(1, 1, True), (2, 2, False), (3, 3, True)]
    assert (found["rows"][1]["sent"], found["rows"][1]["got"]) == ('{"t":"b"}', '{"t":"X"}')


def test_a_withheld_event_has_no_counterpart_and_a_made_one_neither(make_recorded):
    assert shape(pairs(make_recorded, stream("a", "b", "c"), stream("a", "c"))) == [
        (1, 1, True),
        (2, None, False),
        (3, 2, True),
    ]
    assert shape(pairs(make_recorded, stream("a"), stream("a", "z"))) == [(1, 1, True), (None, 2, False)]


def test_of_a_cut_stream_the_rest_never_came(make_recorded):
    found = pairs(make_recorded, stream("a", "b", "c"), stream("a"))
    assert [(row["sent_no"], row["got"]) for row in found["rows"]] == [(1, '{"t":"a"}'), (2, None), (3, None)]


def test_a_server_that_was_never_asked_sent_nothing(make_recorded):
    found = stream_pairs(replace(make_recorded(1, "s", delivered=stream("a")), upstream=None), LIMITS)
    assert (found["sent"], found["got"], shape(found)) == (0, 1, [(None, 1, False)])


def test_of_a_long_stream_one_lost_event_is_found(make_recorded):
    words = [str(n) for n in range(COMPARED + 5)]
    found = pairs(make_recorded, stream(*words), stream(*words[:2], *words[3:]), replace(LIMITS, events=10))
    assert found["aligned"]
    assert shape(found)[1:4] == [(2, 2, True), (3, None, False), (4, 3, True)]
    assert (len(found["rows"]), found["rows_not_shown"]) == (10, COMPARED + 5 - 10)


def test_where_too_many_differ_nothing_is_said_to_have_come_or_not(make_recorded):
    old, new = [f"a{n}" for n in range(COMPARED + 5)], [f"b{n}" for n in range(COMPARED + 4)]
    found = pairs(make_recorded, stream(*old), stream(*new), replace(LIMITS, events=10))
    assert not found["aligned"]
    assert shape(found)[0] == (1, 1, False)


def test_events_of_a_packed_body_are_read_and_have_no_instant(make_recorded):
    import gzip

    plain = stream("a", "b")
    packed = replace(plain, headers=(*SSE, ("content-encoding", "gzip")), body=gzip.compress(plain.body))
    found = pairs(make_recorded, packed, packed)
    assert [(row["at_ms"], row["got"]) for row in found["rows"]] == [(None, '{"t":"a"}'), (None, '{"t":"b"}')]


def test_a_body_that_cannot_be_unpacked_is_one_event(make_recorded):
    broken = Delivery(200, "OK", (*SSE, ("content-encoding", "gzip")), b"not gzip")
    assert len(pairs(make_recorded, broken, broken)["rows"]) == 1
