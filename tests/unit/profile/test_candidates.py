"""faultwire.profile.candidates: the same entries as asking each of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import pytest

from faultwire.events import Exchange, Request, RequestView
from faultwire.faults._api import Fault, Site
from faultwire.profile.candidates import KEPT, Candidates
from faultwire.profile.entry_model import Entry, On
from faultwire.profile.load import parse
from faultwire.profile.match import may_match, mismatch
from faultwire.profile.model import Profile

FAULTS = """
faults:
  - latency: {ms: 1}
  - latency: {ms: 1}
    on: {kind: llm}
  - latency: {ms: 1}
    on: {kind: other}
  - latency: {ms: 1}
    on: {host: "*.openai.com"}
  - latency: {ms: 1}
    on: {path: "/v1/*", method: POST}
  - latency: {ms: 1}
    on: {model: ["gpt-4*", "o3"]}
  - latency: {ms: 1}
    on: {url: "*key=1*"}
  - latency: {ms: 1}
    on: {tool: search}
  - tool_error: {}
    on: {tool: "get_*"}
  - latency: {ms: 1}
    on: {provider: openai, stream: true}
"""


@pytest.fixture
def profile() -> Profile:
    """One that has not been asked yet."""
    return parse(FAULTS, "test.yaml")


def exchanges() -> list[Exchange]:
    made = []
    kinds = (("llm", "openai_chat"), ("tool", None), ("other", None))
    for (kind, protocol), host, path, model, tool in itertools.product(
        kinds, ("api.openai.com", "x.example"), ("/v1/a?key=1", "/v2/b"), ("gpt-4o", "m"), (None, "search")
    ):
        request = Request("POST", "https", host, 443, path)
        view = RequestView(model, stream=model == "m") if protocol else None
        made.append(
            Exchange("s", 1, request, kind, protocol, "openai" if protocol else None, tool, view)  # type: ignore[arg-type]
        )
    return made


@pytest.mark.parametrize("tool", [None, "get_weather"])
def test_none_that_matches_is_left_out(profile: Profile, tool: str | None) -> None:
    candidates = profile.candidates
    for exchange in (*exchanges(), *exchanges()):  # the second time from memory
        found = [one.entry for one in candidates.of(exchange, tool=tool)]
        for entry in profile.composed:
            matches = mismatch(entry.on, exchange, tool=tool, protocols=entry.fault.protocols) is None
            assert entry in found or not matches
        assert [entry for entry in profile.composed if entry in found] == found, "in their order"


def test_most_that_do_not_match_are(profile: Profile) -> None:
    far = Exchange("s", 1, Request("GET", "https", "x.example", 443, "/v2/b"), "tool", tool="none")
    assert len(profile.candidates.of(far)) == 2, "the one on everything, and the one on a URL"


def test_the_head_is_judged_as_by_each_entry(profile: Profile) -> None:
    without_url = Candidates([entry for entry in profile.composed if "url" not in dict(entry.on.globs)])
    for candidates, entries in ((profile.candidates, profile.composed), (without_url, without_url._entries)):
        for exchange in (*exchanges(), *exchanges()):
            wanted = any(may_match(e.on, exchange, protocols=e.fault.protocols) for e in entries)
            assert candidates.on_head(exchange) is wanted
    assert not Candidates([]).on_head(exchanges()[0])


def test_memory_is_bounded(profile: Profile) -> None:
    candidates = Candidates(profile.composed)
    for n in range(KEPT + 50):
        candidates.of(Exchange("s", 1, Request("POST", "https", f"h{n}", 443, "/")))
    assert len(candidates._found) == KEPT


@pytest.mark.parametrize(
    ("entry", "results", "texts", "agents"),
    [
        ("latency: {ms: 1}", False, False, False),
        ("tool_error: {}", True, False, False),
        ("memory_poisoning: {payload: x}", False, True, False),
        ("{agent_down: {}, on: {agent: writer}}", False, False, True),
        ("{agent_down: {}, on: {edge: 'a->writer'}}", False, False, True),
    ],
)
def test_what_the_entries_are_about(entry: str, results: bool, texts: bool, agents: bool) -> None:
    found = parse(
        f"faults: [{entry if entry[0] == '{' else '{' + entry + '}'}, {{slow_close: {{ms: 1}}}}]", "p.yaml"
    ).candidates
    assert (found.replace_results, found.rewrite_texts, found.name_agents) == (results, texts, agents)
    assert not Candidates([]).replace_results


# ---------------------------------------------------------------- asked once for exchanges that look alike


class Counted(Fault):
    """A fault that counts how often somebody asks what it is about."""

    name: ClassVar[str] = "counted"
    site: ClassVar[Site] = "response"
    asked: ClassVar[list[str]] = []

    @property
    def protocols(self) -> tuple[str, ...]:  # type: ignore[override]
        self.asked.append("once")
        return ("known",)


def of_host(n: int, *, path: str = "/", protocol: str | None = None) -> Exchange:
    return Exchange("s", 1, Request("POST", "https", f"h{n}", 443, path), protocol=protocol)


def counted(**on: str) -> Candidates:
    Counted.asked.clear()
    return Candidates([Entry.model_construct(id="e", fault=Counted(), on=On(model=("*",), **on))])


@pytest.mark.parametrize("way", [Candidates.of, Candidates.on_head])
def test_an_entry_is_asked_once_about_exchanges_that_look_alike(way: Callable[..., object]) -> None:
    candidates = Candidates(
        [Entry.model_construct(id="e", fault=Counted(), on=On(session="s")), *counted()._entries]
    )
    for _ in range(3):
        way(candidates, of_host(1))
    assert len(Counted.asked) == 2, "each of the two"
    way(candidates, of_host(1, protocol="other"))
    assert len(Counted.asked) == 4, "another protocol looks otherwise"


@pytest.mark.parametrize("way", [Candidates.of, Candidates.on_head])
def test_of_the_kinds_that_are_remembered_the_oldest_is_forgotten(way: Callable[..., object]) -> None:
    entry = Entry.model_construct(id="e", fault=Counted(), on=On(session="s*"))
    candidates = Candidates([entry])
    Counted.asked.clear()
    for n in range(KEPT + 1):
        way(candidates, replace(of_host(1), session=f"s{n}"))
    assert len(Counted.asked) == KEPT + 1
    way(candidates, replace(of_host(1), session=f"s{KEPT}"))
    way(candidates, replace(of_host(1), session="s1"))
    assert len(Counted.asked) == KEPT + 1, "the latest ones are remembered"
    way(candidates, replace(of_host(1), session="s0"))
    assert len(Counted.asked) == KEPT + 2


def test_a_fault_about_a_protocol_is_a_candidate_for_its_exchanges() -> None:
    candidates = counted()
    known = of_host(1, protocol="known")
    with_model = replace(known, view=RequestView("m", stream=False))
    assert candidates.on_head(known)
    assert len(candidates.of(with_model)) == 1
    assert not candidates.on_head(of_host(1, protocol="unknown"))
    assert candidates.of(replace(with_model, protocol="unknown")) == ()
    assert len(candidates.of(replace(with_model, protocol="unknown", kind="llm"))) == 1


def test_urls_are_judged_one_by_one() -> None:
    candidates = parse("faults: [{latency: {ms: 1}, on: {url: '*key=1*'}}]", "p.yaml").candidates
    found = [candidates.on_head(of_host(1, path=path)) for path in ("/?key=1", "/?key=2", "/?key=1")]
    assert found == [True, False, True]


MORE: dict[str, Any] = {
    "url": "*key=1*",
    "stream": True,
    "edge": "a -> b",
    "header": {"x-a": "1"},
    "turn": 2,
    "text": "weather",
    "body": {"$.a": 1},
}
"""What an entry may look at besides that which the candidates are found by."""


@pytest.mark.parametrize("key", MORE)
def test_an_entry_that_looks_at_more_is_compared_each_time(key: str) -> None:
    on = On(**{key: MORE[key]})
    assert not on.settled
    assert On(kind="llm", host="x", path="/v1", tool="t").settled


def test_for_a_settled_entry_being_a_candidate_is_to_match(profile: Profile) -> None:
    found = 0
    for one in exchanges():
        for entry in [compiled.entry for compiled in Candidates(profile.composed).of(one)]:
            if entry.on.settled:
                assert mismatch(entry.on, one, protocols=entry.fault.protocols) is None
                found += 1
    assert found > 50


def test_every_key_is_of_one_sort_or_the_other() -> None:
    compared = {"kind", "provider", "model", "host", "method", "path", "tool", "agent", "session"}
    judged_elsewhere = {"site", "status"}
    assert set(On.model_fields) == compared | judged_elsewhere | set(MORE)
