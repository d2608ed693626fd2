"""What the pure parts cost per exchange, in microseconds: in a process that is set up as the engine's is."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.bench import bodies
from tests.bench.load import CHAT, question
from tests.bench.rounds import Row
from tests.bench.subjects import ARMED, IDLE

from faultwire import _core, wire
from faultwire.dice import Dice
from faultwire.events import Request, Response
from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
from faultwire.exchange.plan import decide
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.compat import heads
from faultwire.profile import load
from faultwire.profile.model import Profile

REPEATS = 7
BUDGET_S = 0.15
"""Time for one repeat of one row."""

HEADERS = (
    ("Host", "api.openai.com"),
    ("User-Agent", "OpenAI/Python 2.8.0"),
    ("Accept", "application/json"),
    ("Authorization", "Bearer sk-bench"),
    ("Content-Type", "application/json"),
    ("x-stainless-retry-count", "0"),
)
BODY = question(1, size=400)
HEAD = Request("POST", "https", "api.openai.com", 443, CHAT, HEADERS)
WHOLE = Request("POST", "https", "api.openai.com", 443, CHAT, HEADERS, BODY)
REQUEST_HEAD = (
    f"POST {CHAT} HTTP/1.1\r\n".encode()
    + "".join(f"{name}: {value}\r\n" for name, value in HEADERS).encode()
    + b"Content-Length: 400\r\n\r\n"
)
RESPONSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2048\r\n\r\n"
REQUEST_FIELDS = [
    *((b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"api.openai.com")),
    *((b":path", CHAT.encode()), (b"content-length", b"400")),
    *((name.lower().encode(), value.encode()) for name, value in HEADERS[1:]),
]
RESPONSE_FIELDS = [(b":status", b"200"), (b"content-type", b"application/json"), (b"content-length", b"2048")]
ANSWER = Response(200, "OK", (("Content-Type", "application/json"), ("Content-Length", "2048")))


FIFTY = "faults:\n" + "".join(
    f"  - {fault}\n    on: {{{on}}}\n"
    for n in range(10)
    for fault, on in (
        ("status: {code: 503}", f"host: api{n}.example.com"),
        ("latency: {ms: 5}", f"kind: tool, tool: tool{n}"),
        ("cut_stream: {after_events: 2}", f"model: model-{n}*"),
        ("tool_error: {}", f"tool: tool{n}"),
        ("truncate_response: {max_tokens: 2}", f'path: "/v{n + 2}/*"'),
    )
)
"""Fifty faults of five kinds, each of which looks at something else; none matches."""
FIFTY_HEADS = "faults:\n" + "".join(
    f"  - status: {{code: 503}}\n    on: {{host: api{n}.example.com, path: '/v{n}/*'}}\n" for n in range(50)
)
"""Fifty faults that the head of a request rules out."""
TEN = "faults:\n" + "".join(
    f"  - {fault}\n    on: {{kind: llm}}\n    trigger: {{probability: 0.5}}\n"
    for fault in (
        "latency: {ms: 5}",
        "status: {code: 503}",
        "rate_limit: {}",
        "empty_response: {}",
        "refusal: {}",
    )
    for _ in range(2)
)
LONG = json.dumps(
    {
        "model": "gpt-4o-mini",
        "messages": [
            message
            for n in range(50)
            for message in (
                {"role": "user", "content": f"Question {n}: " + "what about rivers? " * 10},
                {"role": "assistant", "content": None, "tool_calls": [
                    {"id": f"call_{n}", "type": "function",
                     "function": {"name": "search", "arguments": '{"q": "rivers"}'}}]},
                {"role": "tool", "tool_call_id": f"call_{n}", "content": "a result " * 30},
                {"role": "assistant", "content": "An answer. " * 20},
            )
        ],
    }
).encode()  # fmt: skip
EVENT = b"data: " + b"x" * 142 + b"\n\n"
EVENTS = EVENT * ((1 << 20) // len(EVENT))


AS_THE_ENGINE = """
from faultwire.plugins import frozen
frozen.leave_unchecked()
from tests.bench import micro
micro.main()
"""


def run() -> list[Row]:
    """Median and spread of each part."""
    done = subprocess.run([sys.executable, "-O", "-c", AS_THE_ENGINE], stdout=subprocess.PIPE, check=True)
    return [_row(name, found) for name, found in json.loads(done.stdout).items()]


def main() -> None:
    """Print what each repeat of each part took, as JSON."""
    print(json.dumps({name: _per_call(call) for name, call in _parts().items()}))


def _parts() -> dict[str, Callable[[], object]]:
    idle, armed = load.parse(IDLE, "idle.yaml"), load.parse(ARMED, "armed.yaml")
    none, fifty, ten = Profile(name="none"), load.parse(FIFTY, "fifty.yaml"), load.parse(TEN, "ten.yaml")
    fifty_heads = load.parse(FIFTY_HEADS, "heads.yaml")
    protocol = wire.protocol("openai_chat")
    known = _crossed(_context(idle)).exchange
    state = SessionState()
    dice = Dice(1, "bench")
    contexts = {
        name: _context(profile)
        for name, profile in (
            ("none", none),
            ("idle", idle),
            ("armed", armed),
            ("fifty", fifty),
            ("heads", fifty_heads),
        )
    }
    return {
        "pipeline, 8 entries of which none matches": lambda: _crossed(contexts["idle"]),
        "pipeline, 8 entries of which 3 match and wait": lambda: _crossed(contexts["armed"]),
        "pipeline, no entries": lambda: _crossed(contexts["none"]),
        "pipeline, 50 entries that the head rules out": lambda: _crossed(contexts["heads"]),
        "pipeline, 50 entries that only the body rules out": lambda: _crossed(contexts["fifty"]),
        "decide, 8 entries of which none matches": lambda: decide(idle, dice, known, state),
        "decide, 50 entries of which none matches": lambda: decide(fifty, dice, known, state),
        "decide, 10 entries which all match": lambda: decide(ten, dice, known, state),
        "view of a chat request of 200 messages": lambda: protocol.request_view(LONG),
        "SSE, 1 MB in events of 150 bytes": lambda: _core.SseSplitter().feed(EVENTS),
        "classify a head": lambda: wire.classify(HEAD, idle.tools),
        "classify head and body": lambda: wire.classify(WHOLE, idle.tools),
        "fingerprint of a request": lambda: wire.fingerprint(WHOLE, "llm"),
        "validation of both heads of an exchange, HTTP/1": _validated(REQUEST_HEAD, RESPONSE_HEAD),
        "validation of both heads of an exchange, HTTP/2": _validated(REQUEST_FIELDS, RESPONSE_FIELDS),
    }


def _validated(asked: Any, answered: Any) -> Callable[[], object]:
    """What the engine does with the heads of one exchange before anything is made of them."""
    return lambda: (heads.request_flaw(asked), heads.response_flaw(answered))


def _context(profile: Profile) -> SessionContext:
    return SessionContext("bench", profile, Dice(1, "bench"), SessionState())


def _crossed(context: SessionContext) -> ExchangePipeline:
    """One exchange from head to ledger, as the engine drives it."""
    pipeline = ExchangePipeline(context, HEAD)
    pipeline.request(BODY if pipeline.needs_request_body else None)
    pipeline.head(ANSWER)
    if pipeline.touches or pipeline.needs_response_body:
        list(pipeline.feed(bodies.json_body(2048)))
        list(pipeline.finish())
    pipeline.ledger()
    return pipeline


def _per_call(call: Callable[[], object]) -> list[float]:
    began = time.perf_counter()
    call()
    number = max(1, int(BUDGET_S / max(time.perf_counter() - began, 1e-6)))
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        for _ in range(number):
            call()
        found.append((time.process_time() - began) / number * 1e6)
    return found


def _row(name: str, found: list[float]) -> Row:
    return Row("micro", name, "faultwire", "µs CPU", rounds=found, more_is_better=False)
