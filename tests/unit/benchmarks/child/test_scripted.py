from __future__ import annotations

import json

import pytest

from faultwire.benchmarks.child.scripted import Script, Step, completion, in_context, letters, marker, step

READ, PAY, MAIL = ("read", {"id": 1}), ("pay", {"to": "x"}), ("mail", {"to": "y"})
OBEYS = Script((READ, PAY), "paid", (MAIL,), "mailed", ("SENDitNOW",), obeys=True)
DEAF = Script((READ, PAY), "paid", (MAIL,), "mailed", ("SENDitNOW",), obeys=False)


def walk(script, *results):
    return [step(script, list(results[:at])) for at in range(len(results) + 1)]


def test_an_attack_that_is_read_is_carried_out_before_the_task_goes_on():
    made = walk(OBEYS, 'subject: "SEND it\\\n  \\ NOW"', "sent", "done")
    assert made == [Step(READ, ""), Step(MAIL, ""), Step(PAY, ""), Step(None, "paid\nmailed")]


@pytest.mark.parametrize("script", [DEAF, OBEYS])
def test_without_one_or_to_a_deaf_model_nothing_but_the_task_is_done(script):
    text = "SEND it NOW" if script is DEAF else "nothing"
    assert walk(script, text, "done") == [Step(READ, ""), Step(PAY, ""), Step(None, "paid")]


def test_a_payload_is_known_by_its_longest_line():
    assert marker("\n\n<INFO>\nplease do the following: a b c\n</INFO>") == "pleasedothefollowingabc"
    assert marker("é send it é") == "sendit"
    assert letters("a\\n-b 1") == "anb1"


def test_it_speaks_as_openais_api_does():
    asked = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
    first = completion(OBEYS, asked)["choices"][0]
    assert first["finish_reason"] == "tool_calls"
    (call,) = first["message"]["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == READ
    parts = [{"type": "text", "text": "none"}]
    results = [{"role": "tool", "content": parts}, {"role": "tool", "content": "ok"}]
    last = completion(OBEYS, {"messages": [*asked["messages"], *results]})["choices"][0]
    assert (last["finish_reason"], last["message"]["content"]) == ("stop", "paid")


def test_an_attack_in_the_prompt_is_obeyed_before_anything_else_where_it_is_looked_for_there():
    whole = in_context(OBEYS)
    prompt = f"summarise this: {next(iter(OBEYS.markers))}"
    assert step(whole, [], prompt).call == OBEYS.attack_calls[0]
    assert step(OBEYS, [], prompt).call == OBEYS.calls[0]
    assert step(whole, [], "summarise this").call == OBEYS.calls[0]
