from dataclasses import dataclass

import pytest

from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.events import AgentResult, FaultFired, History, Recorded, Request, Verdict
from faultwire.faults._api import Fault
from faultwire.faults.tool.tool_error import ToolError
from faultwire.profile.entry_model import Entry, On
from faultwire.profile.model import Profile


class Slow(Fault):
    name = "slow"
    site = "connection"


@dataclass(frozen=True)
class Says:
    """An invariant that says what it was told to."""

    label: str
    said: str = "pass"
    severity: str = "medium"
    when: str = "always"
    scenarios: tuple[str, ...] = ()

    def verdict(self, history):
        return Verdict(self.said, f"{self.label} said {self.said}")


def fired(outcome="fired", *, site="connection", name="slow", reason="call 1 matches"):
    return FaultFired(name, name, site, outcome, reason, key="k", n=0, attempt=0)


def recorded(number, *faults, kind="llm"):
    return Recorded(
        session="s", number=number, kind=kind, protocol=None, provider=None, tool=None,
        request=Request("POST", "https", "h", 443, "/"), upstream=None, delivered=None, ending="complete",
        error=None, attempt=0, started_ms=0, duration_ms=1.0, faults=faults,
    )  # fmt: skip


@pytest.fixture
def says():
    return Says


@pytest.fixture
def line():
    return fired


@pytest.fixture
def exchange():
    return recorded


@pytest.fixture
def history():
    return lambda *exchanges: History("s", exchanges, AgentResult("answer", 0, 1.0))


@pytest.fixture
def profiles():
    def entry(fault, **on):
        return (Entry(id=fault.name, fault=fault, on=On(**on)),)

    return {
        "calm": Profile(name="calm"),
        "any": Profile(name="any", entries=entry(Slow())),
        "llm": Profile(name="llm", entries=entry(Slow(), kind="llm")),
        "tool": Profile(name="tool", entries=entry(ToolError(), tool="search")),
        "site": Profile(name="site", entries=entry(Slow(), kind="other", host="x")),
    }


@pytest.fixture
def invocation(profiles):
    def make(scenario="any", prompt="p1", repeat=1, invariants=()):
        return Invocation(Scenario(scenario, profiles[scenario]), Prompt(prompt, "?", invariants), repeat)

    return make
