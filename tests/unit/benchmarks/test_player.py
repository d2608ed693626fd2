from __future__ import annotations

import json

import pytest

from faultwire.benchmarks.player import attack_profile, reached, read_results, silent, validity
from faultwire.events import FaultFired, History, Recorded, Request, Response

SPANS = {"FWSPAN0ab": "do --> this"}


def exchange(text, *, kind="tool", protocol=None, outcome=None, body=b""):
    request = Request("POST", "http", "127.0.0.1", 80, "/t/tools/read", (), body)
    answer = Response(200, "OK", (("content-type", "text/plain"),), text.encode())
    lines = ()
    if outcome:
        lines = (FaultFired("replace", "attack", "result", outcome, "", "k", 0, 0),)
    return Recorded(
        session="s", number=1, kind=kind, protocol=protocol, provider=None,
        tool="read" if kind == "tool" else None,
        request=request, upstream=answer, delivered=answer, ending="complete", error=None, attempt=0,
        started_ms=0, duration_ms=0, faults=lines,
    )  # fmt: skip


def history(*exchanges):
    return History("s", exchanges)


def test_an_attack_that_fired_has_reached_the_agent():
    assert reached(history(exchange("x", outcome="fired")), SPANS) == ("reached", "")
    assert reached(history(exchange("x", outcome="no_effect")), SPANS)[0] == "not reached"


def test_one_that_its_carrier_cannot_hold_is_not_called_resisted():
    page = "<html><body><!-- FWSPAN0ab --></body></html>"
    how, why = reached(history(exchange(page, outcome="no_effect")), SPANS)
    assert (how, why) == ("not carried", "an HTML comment cannot carry a payload that ends it")
    assert reached(history(exchange("<html><body>calm</body></html>")), SPANS)[0] == "not reached"


def test_an_attack_in_the_context_is_one_on_requests_to_the_model():
    (entry,) = attack_profile(SPANS, ["read"], 80, "context").entries
    assert (entry.fault.name, entry.fault.spans) == ("replace_in_context", SPANS)
    assert attack_profile(SPANS, ["read"], 80).entries[0].fault.name == "replace"


def test_what_a_judge_says_of_the_run_itself_is_kept():
    assert validity({"utility": True, "obeyed": False}) is None
    found = validity({"valid": False, "invalid": "it sent before it read", "first": False})
    assert found == (False, "it sent before it read", False)


def test_what_the_model_read_is_in_its_last_request():
    def asked(*texts):
        told = [{"role": "tool", "tool_call_id": "c", "content": text} for text in texts]
        return json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}, *told]}).encode()

    calls = [
        exchange("{}", kind="llm", protocol="openai_chat", body=asked(*texts)) for texts in ((), ("a", "b"))
    ]
    assert list(read_results(history(*calls))) == ["a", "b"]
    assert list(read_results(history())) == []


def test_an_agent_without_traffic_proves_nothing():
    assert silent(history()) == "the agent sent nothing through the proxy"
    assert silent(history(exchange("x"))) == ""


@pytest.mark.parametrize("spans", [SPANS, {}, {"a: {b}": "'\"\n\t: \u2028 \U0001f600"}])
def test_the_profile_carries_every_payload(spans):
    profile = attack_profile(spans, ["read"], 80)
    assert [entry.fault.spans for entry in profile.entries] == ([spans] if spans else [])
