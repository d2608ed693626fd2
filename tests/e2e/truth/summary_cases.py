"""Runs of agents, and the lines of the summary that are true of each: by what the agent does, what it is
given, and how it is started."""

from __future__ import annotations

from dataclasses import dataclass

import agent_logs
from agent_logs import RIVERS, TEA
from summary_lines import (
    EXACT_BUT,
    HEADS,
    NOT_EXACT,
    Check,
    as_written,
    asked_twice,
    counted,
    fired,
    heads,
    length,
    more_than_listed,
    nothing_fired,
    printed,
    refused_by_name,
    served,
)

SCRIPT = """
turns:
  - match: {last_user: "*rivers*"}
    reply: {text: "The Danube, the Rhine and the Elbe are rivers of Europe."}
  - match: {last_user: "*secret*"}
    reply: {text: "Your key is AKIA2OGYBAHKQZ3XWLMD, keep it."}
  - match: {last_user: "*Order tea*", turn: 0}
    reply: {tool_calls: [{name: order, arguments: {item: tea}}]}
  - match: {last_user: "*Order tea*"}
    reply: {text: "{last_result}"}
  - match: {}
    reply: {text: "There are many of them."}
"""
MOCK = ("--script", "script.yaml")
SHOP = ("--mock-except", "localhost", "--allow-host", "localhost")
LATENCY = "latency: {ms: 1}"
AT_TOOL = "{status: {code: 503}, on: {tool: nothing}}"
SELDOM = "{latency: {ms: 1}, trigger: {probability: 0.0001}}"
LONG = "truncate_response: {max_tokens: 5000}"
SECRET = "my secret"

ALWAYS = ("{}, run {}", "{} fired{}", "ledger: {}")
NO_PROFILE = "none: traffic is recorded and not changed"
MOCKED = "{} and {} other host{}"
CALM = (*ALWAYS, NO_PROFILE, MOCKED)
FAULTED = (*ALWAYS, MOCKED)
REPLAYED = (*ALWAYS, "replay from {}", "replayed   {}", "{} of {} from {}")
FORKED = ("{} fired{}", "ledger: {}", "replayed   {}", "{} of {} from {}")
ONE_HEAD = (HEADS, "1 answer differs")
HEADS_DIFFER = (EXACT_BUT, "{} answers")
BODIES_DIFFER = (NOT_EXACT, "redacted values are not on the tape", "answers differ")
DIVERGED = ("  diverged: {}", "  not requested: {}")
MISSED = ("  miss ({}){}: {}: {}", "    expected next: {}")
SAME = "determinism: same: {} with seed {} made the same {} and had the same faults"
DIFFERENT = "determinism: different: {}"
REORDERED = "  from call {} on, calls came in another order"
TWICE = ("exec", "--check-determinism", *MOCK)
Agent = tuple[str, ...]

# ---------------------------------------------------------------- runs


@dataclass(frozen=True)
class Case:
    """A command line with an agent, and the templates of the lines that are true of it. `recording` is a
    folder with the tape `t`."""

    agent: Agent
    arguments: tuple[str, ...]
    true: tuple[str, ...]
    code: int = 0
    recording: str = ""
    checks: tuple[Check, ...] = ()


RECORDINGS: dict[str, tuple[Agent, tuple[str, ...]]] = {
    "two": (("openai", "two"), ()),
    "often": (("langgraph", "often"), ()),
    "secret": (("anthropic", "often", SECRET), ()),
    "one secret": (("pydantic-ai", "plain", SECRET), ()),
    "shop": (("pydantic-ai", "posting"), SHOP),
}
CASES: dict[str, Case] = {
    **{
        f"calm-{framework}": Case(
            (framework, "plain", RIVERS), ("exec", *MOCK), CALM, checks=(counted, nothing_fired, as_written)
        )
        for framework in agent_logs.FRAMEWORKS
    },
    **{
        f"in-another-language-{framework}": Case((framework, "plain", RIVERS), ("exec", *MOCK), CALM)
        for framework in agent_logs.OTHER_LANGUAGES
    },
    **{
        f"down-{framework}": Case(
            (framework, "catching", RIVERS), ("exec", *MOCK, "--fault", "status: {code: 503}"), FAULTED,
            checks=(counted, fired(503), as_written),
        )
        for framework in agent_logs.FRAMEWORKS
    },
    # ------------------------------------------------------------ the header
    "a profile of a file": Case(
        ("langgraph", "plain", RIVERS), ("exec", "--profile", "degraded_llm", *MOCK),
        (*FAULTED, ", sha256 {}", "`{}` never fired: {}{}"), checks=(counted, nothing_fired),
    ),
    "a server that is not mocked": Case(
        ("pydantic-ai", "posting", TEA), ("exec", *MOCK, *SHOP), (*CALM, "not mocked"), checks=(counted,)
    ),
    "an upstream as a local URL": Case(
        ("openai", "plain", RIVERS), ("exec", *MOCK, "--reverse", "shop=https://api.openai.com"),
        (*CALM, "base URL"), checks=(counted,),
    ),
    "through base URLs": Case(
        ("openai", "plain", RIVERS), ("exec", *MOCK, "--capture", "base-url"), (*CALM, "base URLs of {}")
    ),
    # ------------------------------------------------------------ faults
    "more faults than are listed": Case(
        ("langgraph", "often", RIVERS), ("exec", *MOCK, "--fault", LATENCY),
        (*FAULTED, " ({} times)"), checks=(counted, more_than_listed),
    ),
    "a limit that is not reached": Case(
        ("pydantic-ai", "plain", RIVERS), ("exec", *MOCK, "--fault", LONG),
        (*FAULTED, "`{}` never fired: {}{}"),
        checks=(nothing_fired,),
    ),
    "a fault for a tool that is not called": Case(
        ("anthropic", "plain", RIVERS), ("exec", *MOCK, "--fault", AT_TOOL),
        (*FAULTED, "`{}` never fired: {}{}"),
        checks=(nothing_fired,),
    ),
    "a chance that is small": Case(
        ("openai-agents", "plain", RIVERS), ("exec", *MOCK, "--fault", SELDOM),
        (*FAULTED, "`{}` never fired: {}{}", "another `--seed` rolls anew"), checks=(nothing_fired,),
    ),
    "a server that is refused": Case(
        ("langgraph", "reading", TEA), ("exec", *MOCK), (*CALM, "refused {} {} to {}:{}: {}"), code=1,
        checks=(counted, refused_by_name),
    ),
    # ------------------------------------------------------------ determinism
    "the same twice": Case(
        ("pydantic-ai", "two", RIVERS), TWICE, (*CALM, SAME), checks=(asked_twice(same=True),)
    ),
    "the same with faults twice": Case(
        ("langgraph", "two", RIVERS), (*TWICE, "--fault", LATENCY), (*FAULTED, SAME),
        checks=(asked_twice(same=True),),
    ),
    "a random prompt": Case(
        ("anthropic", "random", RIVERS), TWICE, (*CALM, DIFFERENT, "call {}"), code=1,
        checks=(asked_twice(same=False),),
    ),
    "fewer calls": Case(
        ("openai", "fewer", RIVERS), TWICE, (*CALM, DIFFERENT, "a call is missing"), code=1,
        checks=(lambda done: length(done, 3),),
    ),
    "another exit": Case(
        ("openai", "exiting", RIVERS), TWICE,
        (*CALM, DIFFERENT, "the command exited {} and then {} after the same calls"), code=1,
        checks=(asked_twice(same=True),),
    ),
    "another order": Case(
        ("pydantic-ai", "reversed", RIVERS), TWICE, (*CALM, DIFFERENT, "call {}"), code=1,
        checks=(asked_twice(same=False), asked_twice(same=True, ordered=False)),
    ),
    "another order that is accepted": Case(
        ("langgraph", "reversed", RIVERS), (*TWICE, "--any-order"), (*CALM, SAME, REORDERED),
        checks=(asked_twice(same=False), asked_twice(same=True, ordered=False)),
    ),
    "another order and another call": Case(
        ("openai", "turned", RIVERS), (*TWICE, "--any-order"),
        (*CALM, DIFFERENT, "call {}", REORDERED), code=1,
        checks=(asked_twice(same=False, ordered=False),),
    ),
    "another call has the fault": Case(
        ("openai", "reversed", RIVERS),
        (*TWICE, "--any-order", "--fault", "{latency: {ms: 1}, trigger: {after_calls: 1}}"),
        (*FAULTED, DIFFERENT, "the same calls had other faults", REORDERED), code=1,
        checks=(asked_twice(same=True, ordered=False),),
    ),
    "the same call has the fault": Case(
        ("openai", "reversed", RIVERS),
        (*TWICE, "--any-order", "--seed", "1", "--fault", "{latency: {ms: 1}, trigger: {probability: 0.5}}"),
        (*FAULTED, SAME, REORDERED), checks=(asked_twice(same=True, ordered=False),),
    ),
    # ------------------------------------------------------------ replays
    "all is replayed": Case(
        ("openai", "two", RIVERS), ("exec", "--replay", "t"), (*REPLAYED, *HEADS_DIFFER), recording="two",
        checks=(counted, served(2, 2)),
    ),
    "one call is not asked for": Case(
        ("openai", "plain", RIVERS), ("exec", "--replay", "t"), (*REPLAYED, *DIVERGED, *ONE_HEAD), code=1,
        recording="two", checks=(counted, served(1, 2)),
    ),
    "another prompt": Case(
        ("openai", "catching", "Name some seas."), ("exec", "--replay", "t"),
        (*REPLAYED, *DIVERGED, *MISSED, "refused {} {} to {}:{}: {}"), code=1, recording="two",
        checks=(counted, served(0, 2)),
    ),
    "another prompt that goes on": Case(
        ("openai", "plain", "Name some seas."), ("exec", "--replay", "t", "--on-miss", "live", *MOCK),
        (*REPLAYED, MOCKED, *MISSED, "  not requested: {}", "  {} sent upstream because of --on-miss `{}`{}"),
        recording="two", checks=(counted, served(0, 2)),
    ),
    "more calls are left than are listed": Case(
        ("langgraph", "plain", RIVERS), ("exec", "--replay", "t"),
        (*REPLAYED, *DIVERGED, *ONE_HEAD, "  and {} more in `replay.json`"), code=1, recording="often",
        checks=(counted, served(1, 21)),
    ),
    "answers with secrets": Case(
        ("anthropic", "often", SECRET), ("exec", "--replay", "t"),
        (*REPLAYED, *BODIES_DIFFER, "    and {} more in `replay.json`"), recording="secret",
        checks=(counted, served(21, 21)),
    ),
    "an answer with a secret": Case(
        ("pydantic-ai", "plain", SECRET), ("exec", "--replay", "t"),
        (*REPLAYED, NOT_EXACT, "redacted values are not on the tape", "answer differs"),
        recording="one secret", checks=(counted, served(1, 1)),
    ),
    "a shop that sets a cookie": Case(
        ("pydantic-ai", "posting", TEA), ("exec", "--replay", "t"), (*REPLAYED, *HEADS_DIFFER),
        recording="shop", checks=(counted, served(3, 3), lambda done: heads(done, "set-cookie")),
    ),
    "a fork to the mock": Case(
        ("openai", "two", RIVERS), ("fork", "t", "--at", "1", "--set", 'text="none"', *MOCK),
        (*FORKED, "to the mock", "; {} later {} went {}", "  forked at {}, here #{}"),
        recording="two", checks=(counted, lambda done: printed(done, "none")),
    ),
    "a fork on the tape": Case(
        ("openai", "two", RIVERS), ("fork", "t", "--at", "2", "--set", 'text="none"', "--tail", "tape"),
        (*FORKED, *ONE_HEAD, "  forked at {}, here #{}"), recording="two",
        checks=(counted, lambda done: printed(done, "none")),
    ),
    "a fork that is not reached": Case(
        ("openai", "plain", RIVERS), ("fork", "t", "--at", "2", "--set", 'text="none"', "--tail", "tape"),
        (*FORKED, *DIVERGED, *ONE_HEAD, "  did not reach the fork point {}"), code=1,
        recording="two", checks=(counted,),
    ),
}  # fmt: skip
