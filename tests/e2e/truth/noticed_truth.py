"""What is true of an agent by its own log, in the words of the rules whose findings `exec` prints."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from agent_logs import OTHER_LANGUAGES, TEA, Run, Sent
from labelled import PROMPTS
from sentence_patterns import Patterns

from faultwire.report.advice import RULES
from faultwire.report.noticed import BY_OUTPUT

AFTER_TEXT = "an incomplete answer: it ended after `{}` {}"
IN_A_CALL = "an incomplete answer: it ended in a call of {} {}"
EMPTY = "an empty answer: it ended {} before any text"
AT_LIMIT = "at its token limit (`{}`)"
IN_TRANSIT = "without its closing event"
ACCEPTED = "{}, {}, and the command exited 0"
UNANSWERED = "{}, no call of a model succeeded after it, and the command exited 0"
NOT_RETRIED = "was not retried"
FED_ON = "{}, a message of #{} has all of that text, and the command exited 0"
UNRELATED = "nothing after it asks the same again or goes on from it"
BESIDE = "the same question was answered whole at the same time"
ERROR_EVENT = "with the error event {}"
NO_JSON_EVENT = "with an event that is no JSON"
NO_PAUSE = "{} attempts of a call to {} without a pause"
ASKED_TO_WAIT = "{} returned {} with retry-after {}"
REPEATED = (
    "{} answered {} to #{}, the agent got {} and sent the same {} again without the same idempotency key"
)
TOO_EARLY = "{}; exchange {} came before that time had passed"
PATTERNS = Patterns(
    (
        "report/noticed.py",
        "report/halves.py",
        "report/advice.py",
        "report/repeated.py",
        "report/unanswered.py",
    ),
    special={  # by its own words alone it would be found in `UNANSWERED`, too
        ACCEPTED: r"an (incomplete|empty) answer: it ended .+, .+, and the command exited 0"
    },
    parts=(
        AFTER_TEXT,
        IN_A_CALL,
        EMPTY,
        AT_LIMIT,
        IN_TRANSIT,
        ACCEPTED,
        UNANSWERED,
        NOT_RETRIED,
        FED_ON,
        UNRELATED,
        BESIDE,
        ERROR_EVENT,
        NO_JSON_EVENT,
        NO_PAUSE,
        ASKED_TO_WAIT,
        TOO_EARLY,
        REPEATED,
    ),
)
ACTIONS = {f"      {rule.action}": rule.id for rule in RULES}
ACTIONS |= {f"      {action}": rule for rule, action in BY_OUTPUT.items()}
INVALID = frozenset({400, 401, 402, 403, 404, 405, 406, 410, 413, 414, 415, 422})
STORM = 6
SHORTLY_S, PAUSE_S = 0.15, 0.4
"""Below and above what the rule calls a pause, as far as an agent's clock and ours may differ."""
EARLY = 0.5


@dataclass(frozen=True)
class Truth:
    """The rules that were broken and the templates that say how, and the rules that cannot be decided."""

    rules: frozenset[str]
    templates: frozenset[str]
    open: frozenset[str] = frozenset()


def is_model(one: Sent) -> bool:
    return one.host.startswith("api.") and "traces" not in one.path


def failed(one: Sent) -> bool:
    return one.status is None or one.status >= 400


def broke_off(one: Sent) -> bool:
    """Did its client fail by itself after it had sent the request? It does not know of the answer, though one
    came: openai-agents asks with a connection of an event loop that is closed."""
    return one.error == "RuntimeError"


def chains(sent: list[Sent]) -> list[list[Sent]]:
    """The same request again and again, each time after a failure."""
    found: list[list[Sent]] = []
    for one in sent:
        for chain in found:
            last = chain[-1]
            if (last.path, last.body) == (one.path, one.body) and failed(last) and one.began >= last.ended:
                chain.append(one)
                break
        else:
            found.append([one])
    return found


def truth(done: Run, framework: str, manner: str, prompt: str, shortens: str | None) -> Truth:
    """What is true of a run in which the first answer of the model was shortened: `transit`, `limit`, or not
    at all. An exit code of the agent's own is no mistake."""
    rules, templates, undecided = set[str](), set[str](), set[str]()
    calls = [one for one in done.sent if "traces" not in one.path]
    for first, again in pairwise(calls):  # whatever it asks: the server wants to be left alone
        if first.wait is not None and again.began - first.ended < float(first.wait) * EARLY:
            rules.add("honour_retry_after")
            templates.update((ASKED_TO_WAIT, TOO_EARLY))
    for chain in chains(calls):
        _retries(chain, rules, templates, undecided)
        # The shop has done what it is asked whenever it is asked: only a fault tells the agent otherwise.
        if any(first.host == "localhost" and first.method == "POST" for first, _ in pairwise(chain)):
            rules.add("act_once")
            templates.add(REPEATED)
    if framework in OTHER_LANGUAGES:
        undecided.add("back_off")  # they log no instants
    models = [one for one in calls if is_model(one)]
    if shortens is not None:
        _shortened(done, framework, manner, prompt, shortens, models, rules, templates)
    if calls and calls[-1].status == 403 and done.code not in (0, 5):
        rules.add("allow_or_answer")
    if models and done.code == 0:
        _unanswered(models[-1], rules, templates, undecided)
    if manner == "orphan":
        rules.add("repair_history")
    return Truth(frozenset(rules), frozenset(templates), frozenset(undecided))


def _retries(chain: list[Sent], rules: set[str], templates: set[str], undecided: set[str]) -> None:
    if any(first.status in INVALID for first, _ in pairwise(chain)):
        rules.add("mend_before_retry")
    waits = [again.began - first.ended for first, again in pairwise(chain) if first.wait is None]
    if len(waits) > 1 and max(waits) < PAUSE_S:
        if max(waits) < SHORTLY_S:
            rules.add("back_off")
            templates.add(NO_PAUSE)
        else:
            undecided.add("back_off")
    if len(chain) > STORM:
        # Where its client broke off, the next request comes at once and on another connection: the wire does
        # not show whether it repeats that one.
        (undecided if any(map(broke_off, chain)) else rules).add("cap_attempts")


def _unanswered(newest: Sent, rules: set[str], templates: set[str], undecided: set[str]) -> None:
    """Of an agent that exited 0: was the last call of a model a failure?"""
    if broke_off(newest):
        undecided.add("say_so")
    elif failed(newest) and newest.status != 403:
        rules.add("say_so")
        templates.add(UNANSWERED)


def _shortened(
    done: Run, framework: str, manner: str, prompt: str, shortens: str, models: list[Sent],
    rules: set[str], templates: set[str],
) -> None:  # fmt: skip
    """Whether the beginning of an answer was taken for all of it, and how that is put."""
    rule, how = {"transit": ("refuse_halves", IN_TRANSIT), "limit": ("heed_limits", AT_LIMIT)}[shortens]
    whole, arguments = PROMPTS[prompt]
    tools = [one for one in done.did if "tool" in one]
    answer = next((one["answer"] for one in done.did if one.get("exit") == 0), None)
    if framework in OTHER_LANGUAGES:
        again = manner == "careful" or not whole.startswith((answer or "").strip())
        ran = any(one["arguments"] not in arguments[one["tool"]] for one in tools)
    else:
        again = len([one for one in models if one.status == 200]) > 1
        ran = done.order[:2] == ["sent", "did"] and bool(tools)
    if ran:
        rules.add(rule)
        return
    if again or answer is None or done.code != 0:
        return
    assert answer.strip() != whole
    rules.add(rule)
    templates.update((how, ACCEPTED, NOT_RETRIED))
    templates.add(AFTER_TEXT if answer.strip() else IN_A_CALL if prompt == TEA else EMPTY)
