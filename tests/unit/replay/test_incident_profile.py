from __future__ import annotations

from faultwire.faults.tool.recorded_response import RecordedAnswer, RecordedResponse
from faultwire.profile.match import like
from faultwire.profile.model import ToolSite
from faultwire.replay.incident import Session, ToolResponse
from faultwire.replay.incident_profile import profile_of

ANSWERS = (
    ToolResponse(tool="price", status=504, latency_ms=30_000),
    ToolResponse(tool="stock", response="none", optional=True, match_url="http://s/*"),
    ToolResponse(tool="price", response={"hits": 3}),
)
SESSION = Session("a", ("hi",), name="named", tool_responses=ANSWERS, none_left="pass", digest="d" * 64)


def test_each_tool_answers_in_its_order() -> None:
    made = profile_of(SESSION, {"price": ToolSite(url="http://p/*")})
    price, stock = made.entries
    assert price.fault == RecordedResponse(
        responses=(
            RecordedAnswer(status=504, latency_ms=30_000),
            RecordedAnswer(response={"hits": 3}),
        ),
        none_left="pass",
    )
    assert isinstance(stock.fault, RecordedResponse)
    assert stock.fault.optional
    assert [entry.id for entry in made.entries] == ["recorded_response", "recorded_response#2"]
    assert (made.name, made.description, made.digest) == ("a", "named", "d" * 64)
    assert made.tools == {"price": ToolSite(url="http://p/*"), "stock": ToolSite(url=("http://s/*",))}


def test_latency_is_scaled_and_bounded() -> None:
    def latency(timing: float) -> float:
        fault = profile_of(SESSION, {}, timing=timing).entries[0].fault
        assert isinstance(fault, RecordedResponse)
        return fault.responses[0].latency_ms

    assert [latency(timing) for timing in (1.0, 0.01, 0.0, 1000.0)] == [30_000, 300, 0, 3_600_000]


def test_a_tool_of_an_mcp_server_is_known_by_all_its_names() -> None:
    for told, also in (("price", "mcp__shop__price"), ("mcp__shop__price", "price")):
        session = Session("a", ("hi",), tool_responses=(ToolResponse(tool=told),))
        names = profile_of(session, {}).entries[0].on.tool
        assert like(names, told)
        assert like(names, also)
        assert not like(names, "pricey")


def test_an_url_is_added_to_those_of_the_configuration() -> None:
    answers = (
        ToolResponse(tool="p", match_url="http://b"),
        ToolResponse(tool="p", match_url=("http://b", "http://c")),
    )
    session = Session("a", ("hi",), tool_responses=answers)
    assert profile_of(session, {"p": ToolSite(url="http://a")}).tools["p"].url == (
        "http://a",
        "http://b",
        "http://c",
    )


def test_a_session_without_tools_breaks_nothing() -> None:
    assert profile_of(Session("a", ("hi",)), {}).entries == ()
