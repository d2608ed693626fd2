from __future__ import annotations

from dataclasses import replace

from faultwire.dice import Dice
from faultwire.events import Response
from faultwire.faults.model.model_answer import ModelAnswer

BODY = '{"choices": [], "choices": \ud83d'


def answered(exchange):
    return ModelAnswer(body=BODY).start(exchange, Dice(1, "s").held("f", "k", 0))


def test_the_body_is_sent_byte_by_byte_and_the_model_is_not_called(chat):
    mutator = answered(chat())
    given = mutator.answer()
    assert (given.status, given.body) == (200, b'{"choices": [], "choices": ?')
    assert dict(given.headers)["content-type"] == "application/json"
    assert mutator.effect == "answered 28 bytes of the profile's"


def test_a_request_for_a_stream_gets_one(chat):
    assert dict(answered(chat(stream=True)).answer().headers)["content-type"] == "text/event-stream"


def test_where_a_response_is_there_it_takes_its_place(chat):
    response = Response(200, "OK", (("content-type", "application/json"),))
    mutator = answered(chat(response=response))
    assert mutator.answer() is None
    assert mutator.head(response).status == 200


def test_only_models_are_answered_and_no_socket(chat):
    fault = ModelAnswer(body="{}")
    assert fault.inapplicable(chat()) is None
    assert fault.inapplicable(replace(chat(), kind="tool")) == "the exchange is `tool`, not `llm`"
    assert fault.inapplicable(replace(chat(), protocol="realtime")) == "a WebSocket has no body"


def test_the_ledger_has_the_size_of_the_body_alone():
    assert ModelAnswer(body="x" * 9000).non_default_settings() == {"body": "9000 bytes"}
