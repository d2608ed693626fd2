"""What the gate says of an exchange is what all stages of the pipeline decide on it: ledger, counts, memory
of the session, what is delivered. 20,000 made pairs of a profile and an exchange, in sessions that go on."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.events import Action, Close, Cut, FaultFired, Request, Reset, Response
from faultwire.exchange import gate
from faultwire.exchange.gate import EntryGate
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.faults._registry import registry
from faultwire.profile.entry_model import Entry, On, Recovery, Stage, Trigger
from faultwire.profile.model import Profile, ToolSite

PROFILES, EXCHANGES = 500, 40
"""As many pairs as their product."""
FAULTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("latency", {"ms": 1}),
    ("status", {"code": 503}),
    ("cut_stream", {"after_events": 1}),
    ("rate_limit", {}),
    ("reset", {"at": "before_headers"}),
    ("truncate_response", {"max_tokens": 2}),
    ("refusal", {}),
    ("slow_tokens", {"ms": 1}),
    ("empty_body", {}),
    ("mcp_error", {"code": -32603}),
    ("tool_error", {"code": 503}),
    ("memory_poisoning", {"payload": "x"}),
    ("stale_response", {}),
)
ONS: tuple[dict[str, Any], ...] = (
    {},
    {"kind": "llm"},
    {"kind": ("llm", "tool", "other")},
    {"host": "api.openai.com"},
    {"host": ("*.example", "api.*")},
    {"path": "/v1/*"},
    {"method": "GET"},
    {"model": "gpt-4*"},
    {"provider": "openai"},
    {"url": "https://api.openai.com/*"},
    {"stream": True},
    {"header": {"X-Team": "blue*"}},
    {"body": {"$.model": "gpt-5"}},
    {"text": "rivers"},
    {"turn": 1},
    {"session": "s"},
    {"status": 200},
    {"tool": "search"},
    {"kind": "other", "host": "*"},
)
TRIGGERS: tuple[dict[str, Any], ...] = (
    {"after_calls": 1_000_000},
    {"after_calls": 2},
    {"first": 2},
    {"every": 3},
    {"every": 4, "after_calls": 1},
    {"calls": (2, 5)},
    {"between_s": (5.0, 9.5)},
    {"probability": 0.2},
    {"probability": 0.0},
    {"probability": 0.1, "max_times": 1},
    {"max_times": 2},
    {"stages": (Stage(for_calls=3, probability=0.0), Stage(for_calls=4, probability=0.3))},
    {"stages": (Stage(for_calls=2, probability=0.1), Stage(probability=0.05))},
    {"recover_after": Recovery(calls=2), "after_calls": 1},
    {"recover_after": Recovery(s=3.5)},
    {"probability": 0.3, "attempts": "first"},
    {"after_calls": 3, "attempts": 2},
)
PLACES = (
    ("POST", "api.openai.com", "/v1/chat/completions"),
    ("POST", "api.anthropic.com", "/v1/messages"),
    ("POST", "models.example", "/v1/chat/completions?key=1"),
    ("GET", "api.openai.com", "/v1/models"),
    ("POST", "tools.example", "/search"),
    ("POST", "tools.example", "/rpc"),
    ("GET", "tools.example", "/sse"),
)
ANSWER = Response(200, "OK", (("Content-Type", "application/json"),))
STREAM = Response(200, "OK", (("Content-Type", "text/event-stream"),))


def made_profile(random: Random) -> Profile:
    """A few entries; most of them wait most of the time, so that the gate has something to say."""
    entries: list[Entry] = []
    for number in range(random.randrange(1, 7)):
        name, settings = random.choice(FAULTS if random.random() < 0.3 else FAULTS[:5])
        fault = registry()[name].model_validate(settings)
        on = random.choice(ONS if random.random() < 0.4 else ONS[:6])
        trigger = random.choice(TRIGGERS if random.random() < 0.6 else TRIGGERS[:1])
        entries.append(Entry(id=f"e{number}", fault=fault, on=On(**on), trigger=Trigger(**trigger)))
    tools = {"search": ToolSite(url="*/search")} if random.random() < 0.3 else {}
    return Profile(name="made", entries=tuple(entries), tools=tools)


def made_request(random: Random) -> tuple[Request, bytes]:
    method, host, path = random.choice(PLACES)
    document: dict[str, Any] = {
        "model": random.choice(("gpt-4o", "gpt-5")),
        "messages": [{"role": "user", "content": random.choice(("rivers", "lakes"))}]
        * random.randrange(1, 3),
        "stream": random.random() < 0.5,
    }
    if random.random() < 0.1:
        call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        document["messages"] += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": str(random.randrange(3))},
        ]
    body = json.dumps(document).encode()
    if path == "/rpc":
        body = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search"}}
        ).encode()
    if random.random() < 0.05:
        body = b'{"model": '
    fields = [("Content-Type", "application/json")]
    if random.random() < 0.3:
        fields.append(("x-team", random.choice(("blue 1", "Blue", "red"))))
    if random.random() < 0.2:
        fields.append(("x-stainless-retry-count", str(random.randrange(3))))
    if random.random() < 0.03:
        fields += [("Connection", "Upgrade"), ("Upgrade", "websocket")]
    return Request(method, "https", host, 443, path, tuple(fields)), b"" if method == "GET" else body


@dataclass
class Session:
    """One session, whose clock stands at `at_s`."""

    profile: Profile
    seed: int
    name: str = "s"
    at_s: float = 0.0
    state: SessionState = field(default_factory=SessionState)

    def __post_init__(self) -> None:
        dice = Dice(self.seed, self.name)
        self.context = SessionContext(self.name, self.profile, dice, self.state, lambda: self.at_s, 0.0)

    def send(self, head: Request, body: bytes, answer: Response, *, withheld: bool) -> tuple[object, ...]:
        """All that one exchange gives."""
        pipeline = ExchangePipeline(self.context, head)
        if withheld:
            pipeline.withhold("nobody is there")
        outbound = pipeline.request(body if pipeline.needs_request_body else None)
        actions: list[Action] = list(outbound.actions)
        ended = any(isinstance(one, Cut | Reset | Close) for one in actions)
        delivered: Response | None = None
        if not ended:
            delivered = pipeline.head(outbound.answer or answer)
            for part in (b'data: {"a": 1}\n\n', b"data: [DONE]\n\n"):
                actions += pipeline.feed(part) if pipeline.touches or pipeline.needs_response_body else ()
            actions += pipeline.finish()
        lines = pipeline.over()
        about = pipeline.state.exchange
        known = (about.kind, about.protocol, about.key, about.n, about.attempt, about.tool, about.caller)
        return outbound.request, outbound.answer, delivered, actions, lines, known, pipeline.touches

    def kept(self) -> tuple[object, ...]:
        """What the session remembers of it, whatever it is kept in."""
        state = self.state
        judged = [(call, dict(group.items())) for call, group in state._decided.items()]
        return judged, state._judgements, state.triggers, state._calls, state._outcomes, state._sites


def outcomes(*, seed: int, profiles: int, exchanges: int) -> Counter[str]:
    """Each exchange once through the gate and once without it; how often the gate spoke. Raises where they
    differ in anything."""
    random, counts = Random(seed), Counter[str]()
    for number in range(profiles):
        profile = made_profile(random)
        gated, plain = Session(profile, number), Session(profile, number)
        for _ in range(exchanges):
            head, body = made_request(random)
            answer = STREAM if random.random() < 0.4 else ANSWER
            gated.at_s = plain.at_s = gated.at_s + random.choice((0.0, 0.25, 0.5, 1.05))
            withheld = random.random() < 0.05
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(gate, "wait", lambda _: None)
                wanted = plain.send(head, body, answer, withheld=withheld)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(gate, "wait", counting(counts, gate.wait))
                found = gated.send(head, body, answer, withheld=withheld)
            assert found == wanted, (number, profile.entries, head, body)
            assert gated.kept() == plain.kept(), (number, profile.entries)
    return counts


def counting(counts: Counter[str], wait: Any) -> Any:
    def counted(at: Any) -> gate.WaitingLines | None:
        found: gate.WaitingLines | None = wait(at)
        counts["python" if found is None else "waits" if found.ledger() else "nothing"] += 1
        return found

    return counted


def test_the_gate_gives_what_all_stages_decide_on_20000_pairs() -> None:
    counts = outcomes(seed=9, profiles=PROFILES, exchanges=EXCHANGES)
    assert min(counts["python"], counts["waits"], counts["nothing"]) > 500, counts


def test_a_gate_that_passes_over_a_match_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: an entry that looks at the body is taken for one that never matches."""
    wait = EntryGate.wait

    def careless(self: EntryGate, exchange: Any) -> Any:
        if not self.match or self.core is None:
            return wait(self, exchange)
        every = [place for place, _ in self.match]
        return self.core.wait(exchange.key, exchange.n, exchange.at_s, every, [])

    monkeypatch.setattr(EntryGate, "wait", careless)
    with pytest.raises(AssertionError):
        outcomes(seed=9, profiles=60, exchanges=EXCHANGES)


def test_a_gate_that_does_not_count_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: waiting calls are counted where no trigger looks, so that it opens late."""
    made = gate._made

    def apart(entries: Any, exchange: Any, dice: Any, session: SessionState) -> EntryGate:
        return made(entries, exchange, dice, SessionState())

    monkeypatch.setattr(gate, "_made", apart)
    with pytest.raises(AssertionError):
        outcomes(seed=9, profiles=60, exchanges=EXCHANGES)


def test_sessions_of_one_profile_count_apart() -> None:
    on, trigger = On(host="api.openai.com"), Trigger(after_calls=3)
    entry = Entry(id="e", fault=registry()["latency"].model_validate({"ms": 1}), on=on, trigger=trigger)
    profile = Profile(name="p", entries=(entry,))
    random = Random(1)
    head, body = made_request(random)
    while head.host != "api.openai.com" or head.method != "POST":
        head, body = made_request(random)

    def reasons(session: Session) -> list[str]:
        lines = session.send(head, body, ANSWER, withheld=False)[4]
        assert isinstance(lines, tuple)
        return [line.reason for line in lines if isinstance(line, FaultFired)]

    one, other = Session(profile, 1, "one"), Session(profile, 1, "other")
    for call in (1, 2, 3):
        assert reasons(one) == reasons(other) == [f"call {call} of the first 3 passes"]
    assert reasons(one) == reasons(other) == ["call 4 matches"]
