"""A run as large as a report must carry: 1,000 invocations of an agent with a model and a tool."""

from __future__ import annotations

import json
from collections.abc import Iterator

from faultwire.checks._registry import make
from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.events import AgentResult, Delivery, FaultFired, Headers, History, Recorded, Request
from faultwire.faults._registry import registry
from faultwire.profile.entry_model import Entry
from faultwire.profile.model import Profile

CHECKS = (
    make("completes", {"severity": "critical"}),
    make("contains", {"id": "right_answer", "value": "population of", "severity": "high"}),
    make("respects_retry_after", {"severity": "medium"}),
    make("no_retry_storm", {}),
    make("output_not_empty", {"severity": "low"}),
)
JSON: Headers = (("content-type", "application/json"), ("x-request-id", "req_0123456789abcdef"))
SSE: Headers = (("content-type", "text/event-stream; charset=utf-8"), ("x-request-id", "req_0123456789ab"))
WORDS = ("The population of the city is near four hundred thousand", "by the newest count", "of all.")
SETTINGS: dict[str, dict[str, int]] = {"cut_stream": {"after_events": 8}}
SYSTEM = "You are a careful assistant. Answer from what the tools say, and say so when they fail. " * 6


def run(
    prompts: int = 25, repeats: int = 10
) -> tuple[tuple[Scenario, ...], tuple[Prompt, ...], list[tuple[Invocation, History]]]:
    """Four scenarios, so many prompts and repeats, and what was played: by default 5,000 cells."""
    scenarios = (_scenario("calm"), _scenario("limits", "rate_limit"), _scenario("cuts", "cut_stream"))
    scenarios = (*scenarios, _scenario("outage", "overloaded"))
    asked = tuple(
        Prompt(f"p{at}", f"What is the population of city number {at}, and how sure are you?")
        for at in range(1, prompts + 1)
    )
    return scenarios, asked, list(_played(scenarios, asked, repeats))


def _scenario(name: str, fault: str | None = None) -> Scenario:
    entries = (Entry(id=fault, fault=registry()[fault](**SETTINGS.get(fault, {}))),) if fault else ()
    return Scenario(name, Profile(name=name, entries=entries))


def _played(
    scenarios: tuple[Scenario, ...], prompts: tuple[Prompt, ...], repeats: int
) -> Iterator[tuple[Invocation, History]]:
    for scenario in scenarios:
        for at, prompt in enumerate(prompts):
            for repeat in range(1, repeats + 1):
                invocation = Invocation(scenario, prompt, repeat)
                yield invocation, _history(invocation, (at * 7 + repeat) % 10)


def _history(invocation: Invocation, luck: int) -> History:
    """Ask the model, use the tool, ask again and read the stream; under chaos the last step is hit."""
    name, prompt, where = invocation.scenario.name, invocation.prompt.text, invocation.id
    first = _chat(prompt, None, where)
    last = _chat(prompt, f'{{"population": "{luck}91,204", "source": "census of {where}"}}', where)
    whole = _stream(WORDS * 20, where)
    exchanges = [_exchange(where, 1, first, _calls(where), 20)]
    exchanges.append(
        _exchange(where, 2, _search(where), Delivery(200, "OK", JSON, b'{"population": 391204}'), 90)
    )
    bad, broken = name != "calm" and luck < 4, name != "calm"
    if name in ("limits", "outage"):
        status = 429 if name == "limits" else 529
        refusal = Delivery(status, "", (*JSON, ("retry-after", "1")), b'{"error": {"message": "slow down"}}')
        hit = _fired("rate_limit" if name == "limits" else "overloaded")
        exchanges.append(_exchange(where, 3, last, refusal, 140, upstream=None, faults=(hit,)))
        if not bad:
            exchanges.append(_exchange(where, 4, last, whole, 1_300))
    elif name == "cuts":
        cut = Delivery(200, "OK", SSE, whole.body[: len(whole.body) // 3], whole.chunks)
        hit = _fired("cut_stream")
        exchanges.append(_exchange(where, 3, last, cut, 140, upstream=whole, ending="cut", faults=(hit,)))
        if not bad:
            exchanges.append(_exchange(where, 4, last, whole, 1_300))
    else:
        exchanges.append(_exchange(where, 3, last, whole, 140))
    answer = " ".join(WORDS * 20) if not bad else ""
    stderr = f"openai.APIStatusError in {where}" if bad else ""
    return History(where, tuple(exchanges), AgentResult(answer, int(bad and broken), 1.7, stderr))


def _chat(prompt: str, result: str | None, where: str) -> bytes:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": f"{prompt} ({where})"}]
    if result is not None:
        call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "city"}'}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},  # type: ignore[dict-item]
            {"role": "tool", "tool_call_id": "c1", "content": result},
        ]
    return json.dumps({"model": "gpt-4o-mini", "stream": True, "messages": messages}).encode()


def _calls(where: str) -> Delivery:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "city"}'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 312, "completion_tokens": 18, "total_tokens": 330}
    told = {"id": f"chatcmpl-{where}", "object": "chat.completion", "model": "gpt-4o-mini"}
    return Delivery(200, "OK", JSON, json.dumps(told | {"choices": [choice], "usage": usage}).encode())


def _stream(words: list[str], where: str) -> Delivery:
    body, chunks = bytearray(), []
    for at, word in enumerate([*words, None]):
        delta = {"content": f"{word} "} if word is not None else {}
        choice = {"index": 0, "delta": delta, "finish_reason": "stop" if word is None else None}
        told = {"id": f"chatcmpl-{where}", "object": "chat.completion.chunk", "model": "gpt-4o-mini"}
        body += b"data: " + json.dumps(told | {"choices": [choice]}).encode() + b"\n\n"
        chunks.append((len(body), (300 + 12 * at) * 1_000_000))
    body += b"data: [DONE]\n\n"
    chunks.append((len(body), 1_000_000_000))
    return Delivery(200, "OK", SSE, bytes(body), tuple(chunks))


def _search(where: str) -> Request:
    body = json.dumps({"q": "city", "for": where}).encode()
    return Request("POST", "https", "tools.example", 443, "/search", JSON, body)


def _fired(fault: str) -> FaultFired:
    effect, reason = f"{fault} in place of the answer", "call 2 matches"
    return FaultFired(
        fault, fault, "response", "fired", reason, "k", 0, 0, effect=effect, settings={"status": 1}
    )


def _exchange(
    where: str, number: int, asked: bytes | Request, got: Delivery, at_ms: int, **changes: object
) -> Recorded:
    tool = isinstance(asked, Request)
    request = asked if isinstance(asked, Request) else Request(
        "POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, asked
    )  # fmt: skip
    made = {
        "session": where, "number": number, "kind": "tool" if tool else "llm",
        "protocol": None if tool else "openai_chat", "provider": None if tool else "openai",
        "tool": "search" if tool else None, "request": request, "upstream": got, "delivered": got,
        "ending": "complete", "error": None, "attempt": 0, "started_ms": 1_000_000 + at_ms,
        "duration_ms": 48.0,
    }  # fmt: skip
    return Recorded(**{**made, **changes})  # type: ignore[arg-type]
