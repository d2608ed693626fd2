"""What the pure parts cost per exchange, in this process, in microseconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.bench import bodies
from tests.bench.load import CHAT, question
from tests.bench.rounds import Row
from tests.bench.subjects import ARMED, IDLE

from faultwire import wire
from faultwire.decide import decide
from faultwire.dice import Dice
from faultwire.events import Request, Response
from faultwire.passage import Passage, SessionContext
from faultwire.profile import load
from faultwire.profile.model import Profile
from faultwire.session import SessionState

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
ANSWER = Response(200, "OK", (("Content-Type", "application/json"), ("Content-Length", "2048")))


def run() -> list[Row]:
    """Median and spread of each part."""
    return [_row(name, _per_call(call)) for name, call in _parts().items()]


def _parts() -> dict[str, Callable[[], object]]:
    idle, armed = load.parse(IDLE, "idle.yaml"), load.parse(ARMED, "armed.yaml")
    known = _crossed(_context(idle)).exchange
    state = SessionState()
    dice = Dice(1, "bench")
    contexts = {"idle": _context(idle), "armed": _context(armed)}
    return {
        "passage, 8 entries of which none matches": lambda: _crossed(contexts["idle"]),
        "passage, 8 entries of which 3 match and wait": lambda: _crossed(contexts["armed"]),
        "decide, 8 entries of which none matches": lambda: decide(idle, dice, known, state),
        "classify a head": lambda: wire.classify(HEAD, idle.tools),
        "classify head and body": lambda: wire.classify(WHOLE, idle.tools),
        "fingerprint of a request": lambda: wire.fingerprint(WHOLE, "llm"),
    }


def _context(profile: Profile) -> SessionContext:
    return SessionContext("bench", profile, Dice(1, "bench"), SessionState())


def _crossed(context: SessionContext) -> Passage:
    """One exchange from head to ledger, as the engine drives it."""
    passage = Passage(context, HEAD)
    passage.request(BODY if passage.holds_request else None)
    passage.head(ANSWER)
    if passage.touches or passage.holds_response:
        list(passage.feed(bodies.json_body(2048)))
        list(passage.finish())
    passage.ledger()
    return passage


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
