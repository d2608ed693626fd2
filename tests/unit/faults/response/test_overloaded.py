from __future__ import annotations

import json

import pytest

from faultwire.events import header
from faultwire.faults.response.overloaded import Overloaded


def test_each_provider_says_it_in_its_way(chat, anthropic, web, dice):
    statuses = []
    for exchange in (chat(), anthropic, web):
        mutator = Overloaded().start(exchange, dice())
        answer = mutator.answer()
        statuses.append(answer.status)
        assert mutator.effect == f"answered {answer.status}"
    assert statuses == [503, 529, 503]
    assert (
        json.loads(Overloaded().start(anthropic, dice()).answer().body)["error"]["type"] == "overloaded_error"
    )


@pytest.mark.parametrize(("wait", "told"), [(5, "5"), (1.2, "2"), (0, "0"), (None, None)])
def test_the_wait_is_given_in_whole_seconds(chat, dice, wait, told):
    answer = Overloaded(retry_after_s=wait).start(chat(), dice()).answer()
    assert header(answer.headers, "retry-after") == told


def test_in_the_users_words(web, dice):
    assert b"busy" in Overloaded(message="busy").start(web, dice()).answer().body
