"""The benchmark's histories and ones that are bent in every way that checks look at, the same each time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.bench import big, checks as bench

from faultwire.checks._api import Check
from faultwire.checks._registry import read
from faultwire.events import History, Recorded

MORE: tuple[dict[str, Any], ...] = (
    {"type": "no_pii_egress", "models": True},
    {"type": "no_duplicate_side_effect"},
    {"type": "truncated_stream_not_accepted", "count_length": True},
    {"type": "tool_arguments", "tool": "search", "arguments": {"q": "city 1"}, "which": "any"},
    {"type": "fallback_used", "kind": "tool"},
    {"type": "max_llm_calls", "max": 5, "count_retries": True},
    {"type": "no_fabrication", "allow": ["Jane"]},
    {"type": "excludes_pii", "allow_prompt": True},
    {"type": "tool_sequence", "tools": ["search"] * 9, "exact": True},
    {"type": "only_hosts", "hosts": ["api.openai.com/v1/*", "tools.example:443"]},
    {"type": "max_tokens", "max": 5_000, "of": "output"},
    {"type": "no_retry_storm", "max_attempts": 1, "max_requests": 2},
    {"type": "no_secret_egress", "allow_to": ["api.openai.com"]},
    {"type": "recovers_within", "max_s": 1, "max_exchanges": 1},
)
"""Settings beside those of the benchmark."""

ANSWERS = (
    "",
    "I'm sorry, but I can't help with that.",
    '{"answer": 1}',
    big.SYSTEM,
    'It is 42,000, says Jane Appleseed: "is quoted text here" (https://x.test/z).',
)
CONTENTS: tuple[Any, ...] = (
    None,
    "",
    [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}],
    {"x": 1},
    "jane@example.org 123456",
    'Jane Appleseed says "is quoted text here", https://x.test/z, 42,000',
)
MESSAGES: tuple[Any, ...] = (
    None,
    1,
    True,
    "x",
    [],
    {},
    {"role": "user"},
    {"role": "tool", "tool_call_id": "c1"},
    {"role": "tool", "tool_call_id": 1, "content": [{"type": "text", "text": "hey \ud800"}]},
)
ROLES: tuple[Any, ...] = ("user", "assistant", "tool", "system", "developer", None, 1)


class Chance:
    """Numbers that look like chance and are the same for ever (a linear congruential generator)."""

    def __init__(self, seed: int) -> None:
        self._at = seed

    def below(self, end: int) -> int:
        """One from 0 to `end`, without it."""
        self._at = (self._at * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self._at >> 33) % end

    def of(self, some: Any) -> Any:
        """One of these."""
        return some[self.below(len(some))]


def checks() -> tuple[Check, ...]:
    """Those of the benchmark, and some with other settings."""
    return (*bench.checks(), *(read(dict(one)) for one in MORE))


def plain() -> list[History]:
    """One of each kind that the benchmark judges."""
    short = [told for invocation, told in big.run(prompts=1, repeats=3)[2] if invocation.repeat > 1]
    return [*bench.histories(len(bench.MANNERS)), *short]


def bent(count: int) -> Iterator[History]:
    """So many, each bent in one to four ways."""
    whole = plain()
    for seed in range(count):
        chance = Chance(seed)
        history = chance.of(whole)
        exchanges = list(history.exchanges)
        for _ in range(1 + chance.below(4)):
            _bend(exchanges, chance)
        agent = history.agent
        if not chance.below(3):
            agent = replace(agent, answer=chance.of((*ANSWERS, agent.answer[:50])))
        yield replace(
            history,
            exchanges=tuple(exchanges),
            agent=agent,
            prompt=chance.of((history.prompt, None)),
            baseline=chance.of((history.baseline, None, agent.answer)),
        )


def _bend(exchanges: list[Recorded], chance: Chance) -> None:
    if not exchanges:
        return
    at = chance.below(len(exchanges))
    match chance.below(12):
        case 0:
            del exchanges[at]
        case 1:
            again = replace(exchanges[at], attempt=chance.below(3))
            exchanges.insert(chance.below(len(exchanges) + 1), again)
        case 2 | 3:
            exchanges[at] = _another_answer(exchanges[at], chance)
        case 4 | 5:
            exchanges[at] = _another_end(exchanges[at], chance)
        case 6 | 7:
            exchanges[at] = _another_request(exchanges[at], chance)
        case _:
            exchanges[at] = _resaid(exchanges[at], chance)


def _another_answer(one: Recorded, chance: Chance) -> Recorded:
    if one.delivered is None:
        return one
    if chance.below(2):
        return replace(one, delivered=replace(one.delivered, body=one.delivered.body[: chance.below(600)]))
    fields = (*one.delivered.headers, ("Retry-After", chance.of(("1", "x", "0.5"))))
    status = chance.of((200, 400, 429, 500))
    return replace(one, delivered=replace(one.delivered, status=status, headers=fields))


def _another_end(one: Recorded, chance: Chance) -> Recorded:
    ending = chance.of(("cut", "client_aborted", "open", "upstream_aborted"))
    ends = ({"delivered": None, "ending": "reset"}, {"upstream": None}, {"ending": ending})
    return replace(one, **chance.of(ends))


def _another_request(one: Recorded, chance: Chance) -> Recorded:
    request = one.request
    counted = (("X-Stainless-Retry-Count", str(chance.below(4))), ("Idempotency-Key", "k"))
    path = chance.of((request.path, f"{request.path}?a=1", "/mail/jane.doe@example.org"))
    host = chance.of(("api.openai.com", "x.evil.example", "TOOLS.example."))
    changes = (
        {"headers": (*request.headers, *counted)},
        {"path": path, "host": host},
        {"body": (request.body or b"")[: chance.below(4_000)]},
    )
    return replace(one, request=replace(request, **chance.of(changes)))


def _resaid(one: Recorded, chance: Chance) -> Recorded:
    """Another conversation in place of the one that was sent, perhaps written in another way."""
    try:
        document = json.loads(one.request.body or b"")
    except ValueError:
        return one
    messages = document.get("messages")
    if not isinstance(messages, list) or not messages:
        return one
    _rewrite(messages, chance)
    if not chance.below(3):
        document["model"] = chance.of(("gpt-4o", "x", 1, None))
    if not chance.below(4):
        document = {"messages": messages, **document}
    marks = chance.of(((", ", ": "), (",", ":")))
    text = json.dumps(document, separators=marks, ensure_ascii=bool(chance.below(2)))
    return replace(one, request=replace(one.request, body=text.encode("utf-8", "surrogatepass")))


def _rewrite(messages: list[Any], chance: Chance) -> None:
    at = chance.below(len(messages))
    message = messages[at]
    match chance.below(7):
        case 0:
            del messages[at]
        case 1:
            messages.insert(chance.below(len(messages) + 1), json.loads(json.dumps(message)))
        case 2:
            messages[at] = chance.of(MESSAGES)
        case 3 if isinstance(message, dict):
            message["role"] = chance.of(ROLES)
        case 4 if isinstance(message, dict):
            message["content"] = chance.of(CONTENTS)
        case 5 if isinstance(message, dict):
            _recall(message, chance)
        case _:
            other = chance.below(len(messages))
            messages[at], messages[other] = messages[other], messages[at]


def _recall(message: dict[str, Any], chance: Chance) -> None:
    calls = message.get("tool_calls")
    if not calls:
        message["tool_call_id"] = chance.of(("c1", "c2", "c9", "", None))
        return
    odd = (
        calls + calls,
        [],
        None,
        [{"id": "c2", "type": "custom", "custom": {"name": "refund", "input": "x"}}],
        [{"id": "", "function": {"name": "refund", "arguments": "{}"}}],
        {"a": 1},
        [1, calls[0]],
    )
    message["tool_calls"] = chance.of(odd)
