"""Recommended fixes, from what happened in the exchanges of failed invocations, never from names.

A rule examines one history and returns the exchanges that show its mistake. Most rules are the wire checks
with their defaults, applied whether or not the contract has them. Texts contain no times and durations, and
timing rules use wide margins, so that a report is the same for the same seed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire.checks._api import quoted
from faultwire.checks._calls import calls
from faultwire.checks._order import PAUSE_MS, ended_ms
from faultwire.checks._registry import make
from faultwire.checks._traffic import answered
from faultwire.checks._transcripts import quoted_place
from faultwire.checks._waits import asked_s
from faultwire.checks.truncated_stream_not_accepted import ABOUT_LIMITS
from faultwire.events import header
from faultwire.report import after_failure
from faultwire.report.after_failure import Evidence
from faultwire.report.broken_arguments import broken_arguments
from faultwire.report.text import clip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from faultwire.checks._api import Check
    from faultwire.contract.cells import Invocation
    from faultwire.events import History, Verdict

EXAMINED = 300
"""Failed invocations that are looked at."""
SHOWN = 5
"""Pieces of evidence that a suggestion repeats."""
EARLY = 0.5
"""Share of the time asked for after which coming back is no matter of a slow machine."""


class Rule(NamedTuple):
    """A mistake: its fix, and the function that finds it."""

    id: str
    action: str
    find: Callable[[History], Evidence | None]


def suggestions_part(
    played: Sequence[tuple[Invocation, History]],
    failures: Mapping[str, int],
    redact: Callable[[str], str],
) -> list[dict[str, Any]]:
    """Recommended fixes, most frequent first. `failures` counts the failed cells of an invocation by its id;
    inconclusive invocations and those without a failed cell suggest nothing."""
    candidates = [(i.id, history) for i, history in played if failures.get(i.id) and not history.voids]
    found: dict[str, list[dict[str, Any]]] = {}
    for where, history in candidates[:EXAMINED]:
        for rule in RULES:
            evidence = rule.find(history)
            if evidence is not None:
                words = clip(redact(evidence.words), 500)
                found.setdefault(rule.id, []).append(
                    {"invocation": where, "exchanges": list(evidence.exchanges[:20]), "words": words}
                )
    parts = [
        {"id": r.id, "action": r.action, "invocations": len(found[r.id]), "evidence": found[r.id][:SHOWN]}
        for r in RULES
        if r.id in found
    ]
    return sorted(parts, key=lambda part: -part["invocations"])


# ---------------------------------------------------------------- the checks, asked anew


@cache
def _check(name: str, *, limits: bool = False) -> Check:
    return make(name, {"count_length": True} if limits else {})


def _asked(name: str, history: History) -> Verdict | None:
    """The verdict of a check if it fails for another reason than a missing answer."""
    check = _check(name)
    if history.agent is None or (check.reads_answer and not history.agent.answer.strip()):
        return None
    verdict = check.verdict(history)
    return verdict if verdict.verdict == "fail" else None


def _fails(*names: str) -> Callable[[History], Evidence | None]:
    def find(history: History) -> Evidence | None:
        for name in names:
            verdict = _asked(name, history)
            if verdict is not None:
                return Evidence(verdict.exchanges, verdict.explanation)
        return None

    return find


def _cut_in_transit(history: History) -> Evidence | None:
    """An answer whose closing event never came was accepted."""
    verdict = _asked("truncated_stream_not_accepted", history)
    if verdict is None or verdict.value in ABOUT_LIMITS:
        return None
    return Evidence(verdict.exchanges, verdict.explanation)


def _at_limit(history: History) -> Evidence | None:
    """An answer that ended at a token limit was accepted, and none that was cut in transit."""
    if history.agent is None or _cut_in_transit(history) is not None:
        return None
    verdict = _check("truncated_stream_not_accepted", limits=True).verdict(history)
    return Evidence(verdict.exchanges, verdict.explanation) if verdict.verdict == "fail" else None


def _too_early(history: History) -> Evidence | None:
    verdict = _asked("respects_retry_after", history)
    if verdict is None:
        return None
    first, early = verdict.exchanges
    answer = next(e for e in history.exchanges if e.number == first)
    got, retry_after = answer.delivered, asked_s(answer.delivered)
    if got is None or retry_after is None or verdict.value > retry_after * EARLY:
        return None
    wish = header(got.headers, "retry-after") or header(got.headers, "retry-after-ms") or ""
    words = f"{quoted_place(answer)} returned {got.status} with retry-after {quoted(wish)}"
    return Evidence((first, early), f"{words}; exchange {early} came before that time had passed")


def _hammers(history: History) -> Evidence | None:
    """A failing call was made three or more times without a deliberate pause."""
    for call in calls(answered(history.exchanges)):
        waits = [
            later.started_ms - ended_ms(earlier)
            for earlier, later in pairwise(call.tries)
            if asked_s(earlier.delivered) is None
        ]
        if len(waits) > 1 and max(waits) < PAUSE_MS:
            words = f"{len(call.tries)} attempts of a call to {quoted(call.url)} without a pause"
            return Evidence(tuple(call.numbers), words)
    return None


RULES = (
    Rule(
        "honour_retry_after",
        "Honour `Retry-After` before the next attempt, also in retry loops around the SDK.",
        _too_early,
    ),
    Rule("back_off", "Back off between attempts: exponentially and with jitter.", _hammers),
    Rule(
        "cap_attempts",
        "Limit the attempts of a call in one place: retries around an SDK that also retries multiply.",
        _fails("no_retry_storm"),
    ),
    Rule(
        "mend_before_retry",
        "Do not retry a request that the server rejected: change it or its key, or fail.",
        _fails("no_retry_of_client_errors"),
    ),
    Rule(
        "refuse_halves",
        "Treat a stream without its closing event as a failure: retry it, or report it.",
        _cut_in_transit,
    ),
    Rule(
        "heed_limits",
        "Read the finish reason: an answer that ended at its token limit is incomplete, and so is a tool "
        "call in it. Raise the limit, ask for the rest, or report it.",
        _at_limit,
    ),
    Rule(
        "act_once",
        "Before retrying a call with side effects, check whether it succeeded, or send an idempotency key.",
        _fails("no_duplicate_side_effect"),
    ),
    Rule(
        "treat_as_data",
        "Keep tool results separate from instructions, and validate the tool calls that follow.",
        _fails("injection_not_obeyed", "canary_not_leaked"),
    ),
    Rule(
        "repair_history",
        "After a failure, send a result for every tool call before the next model request.",
        _fails("valid_history"),
    ),
    Rule(
        "name_failures",
        "Tell the model that the tool failed; do not return the error text as the answer.",
        after_failure.repeats_failure,
    ),
    Rule(
        "do_not_invent",
        "Let the model say that it does not know: facts that no tool returned are invented.",
        _fails("no_fabrication"),
    ),
    Rule(
        "try_again",
        "Retry a request a few times after a transient failure before giving up.",
        after_failure.gives_up,
    ),
    Rule(
        "catch_failures",
        "Catch the failure where it occurs, and report what could not be done.",
        after_failure.crashes,
    ),
    Rule(
        "find_signal",
        "Find out what raised the signal: that the failure before it did is not known.",
        after_failure.killed,
    ),
    Rule(
        "heed_arguments",
        "Treat arguments that are no JSON as a failed call: tell the model, or ask again.",
        broken_arguments,
    ),
    Rule(
        "allow_or_answer",
        "Let the call through or have it answered, and run again: how the agent goes on was not tested.",
        after_failure.was_refused,
    ),
    Rule(
        "set_timeouts",
        "Give every request a timeout that is shorter than the agent's own.",
        after_failure.hangs,
    ),
    Rule(
        "say_so",
        "Report the failure: an empty answer with exit code 0 looks like success.",
        after_failure.silent,
    ),
)
"""In the order in which they are shown where they are seen equally often."""
