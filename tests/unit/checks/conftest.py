import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from faultwire.events import AgentResult, Arrival, Delivery, FaultFired, History, Recorded, Request

OK = Delivery(200, "OK", (("content-type", "application/json"),), b"{}")
LIMITED = Delivery(429, "Too Many Requests", (), b"{}")


def exchange(
    number, *, body=b'{"a": 1}', delivered=OK, ending="complete", retry=None, at_ms=None, path="/v1/chat"
):
    headers = () if retry is None else (("x-stainless-retry-count", str(retry)),)
    return Recorded(
        session="s",
        number=number,
        kind="llm",
        protocol=None,
        provider=None,
        tool=None,
        request=Request("POST", "https", "api.openai.com", 443, path, headers, body),
        upstream=delivered,
        delivered=delivered,
        ending=ending,
        error=None,
        attempt=0,
        started_ms=1000 * number if at_ms is None else at_ms,
        duration_ms=1.0,
    )


def in_turn(*exchanges):
    """The same on one connection, each request behind the answer before it."""
    first = exchanges[0].started_ms
    ages = [float(one.started_ms - first) + 10 for one in exchanges]
    return tuple(
        replace(one, arrival=Arrival(1, at, age, age - 5, others=0, unused=0))
        for at, (one, age) in enumerate(zip(exchanges, ages, strict=True), start=1)
    )


def at_once(*exchanges, opened=900):
    """The same, each on a connection of its own that was opened at this instant and used once ready."""
    count = len(exchanges)
    return tuple(
        replace(
            one,
            arrival=Arrival(at, 1, float(one.started_ms - opened), 1.0, others=at - 1, unused=count - at),
        )
        for at, one in enumerate(exchanges, start=1)
    )


@pytest.fixture
def ok():
    return exchange


@pytest.fixture
def limited():
    def make(number, **changes):
        return exchange(number, **{"delivered": LIMITED, **changes})

    return make


@pytest.fixture
def history():
    def make(answer="", *exchanges, exit_code=0, stderr="", timed_out=False):
        return History("s", tuple(exchanges), AgentResult(answer, exit_code, 1.0, stderr, timed_out))

    return make


# ---------------------------------------------------------------- exchanges that say something


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def call(name, arguments="{}", at="c1"):
    return {"id": at, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(text="", *calls):
    """A message of the assistant."""
    return {"role": "assistant", "content": text or None, **({"tool_calls": list(calls)} if calls else {})}


def result(text, at="c1"):
    return {"role": "tool", "tool_call_id": at, "content": text}


def user(text="What is 17 times 23?"):
    return {"role": "user", "content": text}


def talk(number, messages=None, answer="done", calls=(), *, status=200, usage=True, cut=False, **changes):
    """An exchange with a model of OpenAI; `cut` streams the answer and ends it before its last event."""
    model = changes.pop("model", "gpt-4o")
    body = json.dumps({"model": model, "messages": messages or [user()], "stream": cut}).encode()
    if status >= 300:
        told = {"error": {"message": "no", "type": "server_error"}}
    else:
        message = {"role": "assistant", "content": answer, "tool_calls": list(calls) or None}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        told = {"id": "x", "object": "chat.completion", "model": model, "choices": [choice]}
        told |= {"usage": USAGE} if usage else {}
    kind, data = "application/json", json.dumps(told).encode()
    if cut:
        chunk = {"id": "x", "object": "chat.completion.chunk", "model": model}
        chunk["choices"] = [{"index": 0, "delta": {"content": answer}, "finish_reason": None}]
        kind, data = "text/event-stream", b"data: " + json.dumps(chunk).encode() + b"\n\n"
    headers = (("content-type", kind), *changes.pop("answered", ()))
    delivered = changes.pop("delivered", Delivery(status, "", headers, data))
    request = Request(
        "POST", "https", changes.pop("host", "api.openai.com"), 443, "/v1/chat/completions",
        (("content-type", "application/json"),), body,
    )  # fmt: skip
    made = {
        "session": "s", "number": number, "kind": "llm", "protocol": "openai_chat", "provider": "openai",
        "tool": None, "request": request, "upstream": delivered, "delivered": delivered,
        "ending": "cut" if cut else "complete", "error": None, "attempt": 0, "started_ms": 1000 * number,
        "duration_ms": 100.0,
    }  # fmt: skip
    return Recorded(**(made | changes))


def cut_call(number, messages, at="c1", arguments='{"q": "17'):
    """An answer whose stream ended within a tool call."""
    whole = talk(number, messages, answer="", cut=True)
    chunk = {
        "id": "x",
        "object": "chat.completion.chunk",
        "model": "gpt-4o",
        "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call("search", arguments, at)}]}}],
    }
    data = b"data: " + json.dumps(chunk).encode() + b"\n\n"
    delivered = replace(whole.delivered, body=data)
    return replace(whole, delivered=delivered, upstream=delivered)


def at_limit(number, messages=None, answer="", calls=(), reason="length"):
    """A whole response that says that its answer ended at a token limit."""
    made = talk(number, messages, answer=answer, calls=calls)
    told = json.loads(made.delivered.body)
    told["choices"][0]["finish_reason"] = reason
    delivered = replace(made.delivered, body=json.dumps(told).encode())
    return replace(made, delivered=delivered, upstream=delivered)


def used(number, name="search", arguments=None, text='{"found": 391}', *, status=200, **changes):
    """An exchange with a tool over HTTP."""
    delivered = Delivery(status, "", (("content-type", "application/json"),), text.encode())
    request = Request(
        changes.pop("method", "POST"), "http", changes.pop("host", "tools.test"), 80,
        changes.pop("path", f"/{name}"), changes.pop("headers", ()),
        json.dumps(arguments if arguments is not None else {"q": "17*23"}).encode(),
    )  # fmt: skip
    made = {
        "session": "s", "number": number, "kind": "tool", "protocol": None, "provider": None, "tool": name,
        "request": request, "upstream": delivered, "delivered": delivered, "ending": "complete",
        "error": None, "attempt": 0, "started_ms": 1000 * number, "duration_ms": 100.0,
    }  # fmt: skip
    return Recorded(**(made | changes))


def line(fault="tool_error", outcome="fired", site="result", reason="call 1 matches", **changes):
    """A line of the ledger."""
    return FaultFired(fault, fault, site, outcome, reason, key="k", n=0, attempt=0, **changes)


@pytest.fixture
def wire():
    """Everything to make up a history: `wire.talk`, `wire.used`, `wire.call`, …"""
    made = {"talk": talk, "used": used, "call": call, "said": said, "result": result, "user": user}
    return SimpleNamespace(**made, line=line)


@pytest.fixture
def verdict(history):
    """The verdict of a check made from settings, on exchanges and an answer."""

    def judge(check, exchanges=(), answer="done", *, prompt=None, baseline=None, notes=(), **ended):
        told = replace(history(answer, *exchanges, **ended), prompt=prompt, baseline=baseline, notes=notes)
        return check.verdict(told)

    return judge
