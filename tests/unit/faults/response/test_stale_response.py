from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.events import Response, header
from faultwire.faults.response.stale_response import KEPT, StaleResponse

OK = Response(200, "OK", (("content-type", "application/json"), ("transfer-encoding", "chunked")))


def seen(mutator, run, exchange, memory, body=b'{"price": 1}', head=OK):
    mutator.arrived(memory, 0.0)
    assert mutator.head(head) is head
    run(mutator, exchange, [body], "body")


def test_an_earlier_answer_comes_again_without_a_call(run, web, dice):
    memory: dict[str, object] = {}
    seen(StaleResponse().watch(web), run, web, memory)
    mutator = StaleResponse().start(web, dice())
    mutator.arrived(memory, 1.0)
    told = mutator.answer()
    assert (told.status, told.body, header(told.headers, "content-length")) == (200, b'{"price": 1}', "12")
    assert header(told.headers, "transfer-encoding") is None
    assert mutator.effect == "an earlier answer given again"


def test_without_one_the_call_is_made_and_remembered(run, web, dice):
    memory: dict[str, object] = {}
    mutator = StaleResponse().start(web, dice())
    mutator.arrived(memory, 0.0)
    assert mutator.answer() is None
    seen(mutator, run, web, memory, b"first")
    assert mutator.effect is None
    again = StaleResponse().start(web, dice())
    again.arrived(memory, 1.0)
    assert again.answer().body == b"first"


@pytest.mark.parametrize("to", ["same_address", "same_request"])
def test_whose_answer_it_is(run, web, dice, to):
    memory: dict[str, object] = {}
    seen(StaleResponse(to=to).watch(web), run, web, memory)
    other = replace(web, key="another", request=replace(web.request, path="/search?q=b"))
    mutator = StaleResponse(to=to).start(other, dice())
    mutator.arrived(memory, 0.0)
    assert (mutator.answer() is None) == (to == "same_request")


@pytest.mark.parametrize("head", [Response(503), replace(OK, headers=(*OK.headers, ("set-cookie", "sid=1")))])
def test_failures_and_cookies_are_not_kept(run, web, head):
    memory: dict[str, object] = {}
    seen(StaleResponse().watch(web), run, web, memory, head=head)
    assert memory == {}


def test_a_whole_answer_is_no_stream(run, chat, dice):
    memory: dict[str, object] = {}
    seen(StaleResponse().watch(chat()), run, chat(), memory)
    mutator = StaleResponse().start(chat(stream=True), dice())
    mutator.arrived(memory, 0.0)
    assert mutator.answer() is None


def test_memory_is_bounded(run, web):
    memory: dict[str, object] = {}
    for n in range(KEPT + 5):
        exchange = replace(web, request=replace(web.request, path=f"/{n}"))
        seen(StaleResponse().watch(exchange), run, exchange, memory)
    assert len(memory) == KEPT
