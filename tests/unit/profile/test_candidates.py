"""faultwire.profile.candidates: the same entries as asking each of them."""

from __future__ import annotations

import itertools

import pytest

from faultwire.events import Exchange, Request, RequestView
from faultwire.profile.candidates import KEPT, Candidates
from faultwire.profile.load import parse
from faultwire.profile.match import may_match, mismatch

PROFILE = parse(
    """
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
""",
    "test.yaml",
)


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
def test_none_that_matches_is_left_out(tool: str | None) -> None:
    candidates = PROFILE.candidates
    for exchange in (*exchanges(), *exchanges()):  # the second time from memory
        found = candidates.of(exchange, tool=tool)
        for entry in PROFILE.composed:
            matches = mismatch(entry.on, exchange, tool=tool, protocols=entry.fault.protocols) is None
            assert entry in found or not matches
        assert [entry for entry in PROFILE.composed if entry in found] == list(found), "in their order"


def test_most_that_do_not_match_are() -> None:
    far = Exchange("s", 1, Request("GET", "https", "x.example", 443, "/v2/b"), "tool", tool="none")
    assert len(PROFILE.candidates.of(far)) == 2, "the one on everything, and the one on a URL"


def test_the_head_is_judged_as_by_each_entry() -> None:
    without_url = Candidates([entry for entry in PROFILE.composed if "url" not in dict(entry.on.globs)])
    for candidates, entries in ((PROFILE.candidates, PROFILE.composed), (without_url, without_url._entries)):
        for exchange in (*exchanges(), *exchanges()):
            wanted = any(may_match(e.on, exchange, protocols=e.fault.protocols) for e in entries)
            assert candidates.on_head(exchange) is wanted
    assert not Candidates([]).on_head(exchanges()[0])


def test_memory_is_bounded() -> None:
    candidates = Candidates(PROFILE.composed)
    for n in range(KEPT + 50):
        candidates.of(Exchange("s", 1, Request("POST", "https", f"h{n}", 443, "/")))
    assert len(candidates._found) == KEPT


def test_what_the_entries_are_about() -> None:
    assert PROFILE.candidates.replace_results
    assert not PROFILE.candidates.name_agents
    assert not Candidates([]).replace_results
