"""What is read of a history: once, as far as memory allows it, and the same as when it is read alone."""

from dataclasses import replace

import pytest
from tests.unit.checks.bent import bent, checks

from faultwire.checks._transcripts import _LIGHT, PLACE, charged, models, quoted_place, transcript_of
from faultwire.events import Message
from faultwire.wire.transcript import exchange as recorded_exchange


def heavy(exchange):
    """The same in so many bytes that its reading is not kept."""
    body = exchange.request.body
    if exchange.kind != "llm" or body is None:
        return exchange
    return replace(exchange, request=replace(exchange.request, body=body + b" " * _LIGHT))


@pytest.fixture
def talks(history, wire):
    asked = wire.call("search")
    first = [wire.user(), wire.said("", asked), wire.result("391")]
    later = [*first, wire.said("391."), wire.user("Sure?")]
    return history("391.", *(wire.talk(at, told) for at, told in enumerate((first[:1], first, later), 1)))


def test_a_history_is_read_once(talks):
    assert [said for _, said in models(talks)] == [
        recorded_exchange.transcript_of(one) for one in talks.exchanges
    ]
    assert all(one is other for (_, one), (_, other) in zip(models(talks), models(talks), strict=True))
    assert transcript_of(talks, talks.exchanges[2]) is models(talks)[2][1]


def test_what_one_request_and_the_next_hold_is_the_same_object(talks):
    second, third = (said.request.turns for _, said in models(talks)[1:])
    assert second[1] is third[1]
    assert second[2] is not third[2], "it was new in the one, and is not in the other"
    assert (second[2].tool_results[0].new, third[2].tool_results[0].new) == (True, False)


def test_what_is_heavy_is_read_anew(talks):
    weighty = replace(talks, exchanges=tuple(map(heavy, talks.exchanges)))
    one, other = models(weighty), models(weighty)
    assert [said for _, said in one] == [said for _, said in other] == [said for _, said in models(talks)]
    assert not any(said is again for (_, said), (_, again) in zip(one, other, strict=True))


def test_verdicts_are_those_of_each_request_read_alone():
    asked = [check for check in checks() if check.name not in ("no_pii_egress", "no_secret_egress")]
    for history in bent(10):
        weighty = replace(history, exchanges=tuple(map(heavy, history.exchanges)))
        for check in asked:
            assert check.verdict(history) == check.verdict(weighty), check.name


def test_an_exchange_without_a_model_has_no_transcript(history, wire):
    one = history("", wire.used(1), replace(wire.talk(2), protocol=None), wire.talk(3))
    assert [transcript_of(one, exchange) is None for exchange in one.exchanges] == [True, True, False]
    assert [exchange.number for exchange, _ in models(one)] == [3]


def test_charged_is_what_the_provider_counted(history, wire):
    whole = wire.talk(1)
    cut = replace(whole, delivered=replace(whole.delivered, body=whole.delivered.body[:-9]))
    unasked = replace(whole, upstream=None)
    one = history("", whole, cut, unasked)
    assert [charged(one, exchange) for exchange in one.exchanges] == [
        models(one)[0][1].answer.usage,
        models(one)[0][1].answer.usage,
        None,
    ]
    # a message beside the body does not change what HTTP said
    with_message = replace(cut, messages=(Message("server", "text", b"{}", 1, 1),))
    assert charged(history("", with_message), with_message) == charged(one, whole)


def test_a_place_is_shown_whole_or_without_its_path(wire):
    def shown(path):
        one = wire.talk(1)
        return quoted_place(replace(one, request=replace(one.request, path=path)))

    gemini = "/v1beta/models/gemini-2.5-flash-preview-09-2025:streamGenerateContent"
    assert shown(f"{gemini}?alt=sse") == f"`api.openai.com{gemini}`"
    assert len(gemini) > 60
    assert shown("/" + "x" * PLACE) == "`api.openai.com/ …`"
