"""How an agent took a failure: what it printed, how it ended, and which exchange that followed."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, NamedTuple

from faultwire.checks._api import quoted
from faultwire.checks._once import compiled
from faultwire.checks._tools import uses
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import place, quoted_place
from faultwire.events import AgentResult
from faultwire.report.cause import cause, last, stopped

if TYPE_CHECKING:
    from typing import TypeGuard

    from faultwire.events import History, Recorded

LONG_ENOUGH = 16
"""Characters of a tool's failure that, found in an answer, are no accident."""
TRANSIENT = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
"""Statuses after which the same request may succeed (RFC 9110 §15; 425 is RFC 8470's)."""
_CRASHES = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGTRAP)
"""Signals that a program gets for a mistake of its own."""
_CRASHED = frozenset(code for number in _CRASHES for code in (-number, 128 + number))
_TRACE = (
    r"(?m)^(Traceback \(most recent call last\):|  \+ Exception Group Traceback|panic: |goroutine \d+ \[|"
    r"thread '[^'\n]{0,80}' .{0,20}panicked at |Exception in thread |Unhandled exception|Uncaught |"
    r"[ \t]+at \S.{0,200}:\d+|\tfrom \S+:\d+:in |PHP Fatal error:|terminate called )"
)
"""How Python, Go, Rust, Java, .NET, Node, Ruby, PHP and C++ say that nobody caught it. A program that ends
with a message and a code of its own has caught it."""


class Evidence(NamedTuple):
    """The exchanges that show a mistake, and a description."""

    exchanges: tuple[int, ...]
    words: str


def repeats_failure(history: History) -> Evidence | None:
    """The text of a tool's failure is in the answer of an agent that exited 0."""
    agent = history.agent
    if agent is None or agent.exit_code != 0 or not agent.answer.strip():
        return None
    answer = " ".join(agent.answer.split()).casefold()
    for use in uses(history):
        text = " ".join(use.result.split())
        if use.failed and len(text) >= LONG_ENOUGH and text[:200].casefold() in answer:
            return Evidence(
                (use.number,),
                f"the tool {quoted(use.name)} failed with {quoted(text)}, and the answer repeats it",
            )
    return None


def gives_up(history: History) -> Evidence | None:
    """A transient failure was the last exchange."""
    agent, newest = history.agent, last(history)
    if (
        agent is None
        or stopped(agent)
        or newest is None
        or not (_transient(newest) and _spoiled(agent.exit_code, agent.answer))
    ):
        return None
    if any(
        other.number != newest.number and place(other) == place(newest) and failed(other)
        for other in history.exchanges
    ):
        return None
    return Evidence((newest.number,), f"{outcome(newest)}; it was not retried")


def crashes(history: History) -> Evidence | None:
    """The agent crashed after a failure or a change, by a trace on stderr. An exit code alone says nothing:
    who reports a failure exits with one."""
    agent, hit = history.agent, cause(history)
    if hit is None or hit.ending == "refused" or not _ended_badly(agent):
        return None
    return _last_words(agent, hit) if _traced(agent) else None


def killed(history: History) -> Evidence | None:
    """The agent was ended by a signal that programs get for a mistake of their own, and left no trace that
    says why."""
    agent, hit = history.agent, cause(history)
    if hit is None or hit.ending == "refused" or not _ended_badly(agent):
        return None
    return _last_words(agent, hit) if agent.exit_code in _CRASHED and not _traced(agent) else None


def _traced(agent: AgentResult) -> bool:
    return compiled(_TRACE).search(agent.stderr) is not None


def was_refused(history: History) -> Evidence | None:
    """The agent did not end well after the proxy itself had refused its call: that tests nothing."""
    agent, hit = history.agent, cause(history)
    if hit is None or hit.ending != "refused" or not _ended_badly(agent):
        return None
    return _last_words(agent, hit)


def exit_after(history: History, exit_code: int) -> list[str]:
    """What went before an exit code that is no success, where an exchange explains it: a fact, no mistake."""
    hit = cause(history)
    badly = _ended_badly(AgentResult("", exit_code, 0.0))
    if hit is None or hit.ending == "refused" or exit_code in _CRASHED or not badly:
        return []
    return [f"the command exited with {exit_code} after #{hit.number}: {outcome(hit)}"]


def _ended_badly(agent: AgentResult | None) -> TypeGuard[AgentResult]:
    return agent is not None and not stopped(agent) and agent.exit_code not in (0, None)


def _last_words(agent: AgentResult, hit: Recorded) -> Evidence:
    stderr_line = next((line for line in reversed(agent.stderr.splitlines()) if line.strip()), "")
    code = agent.exit_code or 0
    name = f" ({_named(code)})" if code in _CRASHED else ""
    words = f"{outcome(hit)}; the agent exited with {128 - code if code < 0 else code}{name}"
    return Evidence((hit.number,), f"{words}: {quoted(stderr_line, 160)}" if stderr_line else words)


def _named(code: int) -> str:
    """The signal of an exit code, as `SIGSEGV`."""
    return signal.Signals(-code if code < 0 else code - 128).name


def hangs(history: History) -> Evidence | None:
    """The agent was stopped while waiting for a response."""
    agent, newest = history.agent, last(history)
    if agent is None or not agent.timed_out or newest is None or newest.ending == "complete":
        return None
    return Evidence(
        (newest.number,), f"the agent was stopped while {quoted_place(newest)} had not finished its response"
    )


def silent(history: History) -> Evidence | None:
    """The agent exited 0 without output after a failure."""
    agent, broken = history.agent, cause(history)
    if agent is None or agent.exit_code != 0 or agent.answer.strip() or broken is None or not failed(broken):
        return None
    return Evidence((broken.number,), f"{outcome(broken)}; the agent exited 0 and printed nothing")


def _transient(exchange: Recorded) -> bool:
    got = exchange.delivered
    return failed(exchange) and (got is None or got.status < 400 or got.status in TRANSIENT)


def _spoiled(exit_code: int | None, answer: str) -> bool:
    return exit_code != 0 or not answer.strip()


def outcome(exchange: Recorded, *, faults: bool = True) -> str:
    """What came of an exchange, with the fault in a good response where `faults` are to be named."""
    got = exchange.delivered
    if exchange.ending == "refused":  # the answer is the proxy's own
        return f"{quoted_place(exchange)} was refused by the proxy ({quoted(exchange.error or '', 160)})"
    fired = next((fault.fault for fault in exchange.faults if fault.outcome == "fired"), None)
    if exchange.request.method == "CONNECT" and exchange.upstream is None and fired:
        return f"the connection to {quoted(exchange.request.host)} failed by the fault {quoted(fired)}"
    how = (
        f"answered {got.status}"
        if got is not None
        else f"gave no response ({exchange.ending.replace('_', ' ')})"
    )
    if got is not None and exchange.upstream is None and exchange.ending == "upstream_aborted":
        how = f"gave no response (the proxy answered {got.status}: {quoted(exchange.error or '', 160)})"
    elif got is not None and got.status < 400 and exchange.ending != "complete":
        how = f"ended early ({exchange.ending.replace('_', ' ')})"
    elif got is not None and got.status < 400:
        names = [fault.fault for fault in exchange.faults if fault.outcome == "fired"]
        how += f" with the fault {quoted(names[-1])}" if names and faults else ""
    return f"{quoted_place(exchange)} {how}"
