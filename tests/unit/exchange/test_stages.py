"""Which stages a profile needs, in which order they are asked, and what each does by itself."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable
from dataclasses import replace

import pytest

from faultwire import wire
from faultwire.dice import Dice
from faultwire.events import (
    Action,
    Cut,
    Exchange,
    FaultFired,
    Request,
    RequestView,
    Response,
    Send,
    ToolCall,
    Turn,
    Wait,
    header,
)
from faultwire.exchange.canaries import CanaryDetector, plant_canaries, returned_canaries
from faultwire.exchange.faults import FaultStage
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import PlantedCanary, SessionState
from faultwire.exchange.stage import HOOKS, ExchangeState, Stage
from faultwire.exchange.stages import PASSIVE, UPWARD, StageList, stage_types
from faultwire.exchange.understanding import Understanding, understood as understand, with_view
from faultwire.profile.load import inline, merge, parse

HEADERS = (("content-type", "application/json"),)
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
CHAT = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", HEADERS, BODY)
STREAMED = replace(CHAT, body=BODY.replace(b"{", b'{"stream": true, ', 1))


def state(*faults: str, request: Request = CHAT) -> ExchangeState:
    profile = merge([inline(text) for text in faults])
    context = SessionContext("s", profile, Dice(1, "s"), SessionState())
    return ExchangeState(context, Exchange("s", 1, request), None)


@pytest.mark.parametrize(
    ("fault", "there", "absent"),
    [
        ("latency: {ms: 1}", {"FaultStage"}, {"ToolResultRewriter", "PersistentRewrites", "Observers"}),
        ("tool_error: {message: x}", {"ToolResultRewriter", "Observers"}, {"PersistentRewrites"}),
        ("memory_poisoning: {payload: x}", {"PersistentRewrites"}, {"ToolResultRewriter"}),
        ("{agent_down: {}, on: {agent: writer}}", {"Observers"}, {"ToolResultRewriter"}),
    ],
)
def test_a_stage_that_a_profile_does_not_need_is_not_in_the_list(
    fault: str, there: set[str], absent: set[str]
) -> None:
    names = {kind.__name__ for kind in stage_types(inline(fault).candidates)}
    assert there <= names
    assert not absent & names


def test_the_stages_stand_in_the_order_of_the_request() -> None:
    every = merge([inline("tool_error: {message: x}"), inline("memory_poisoning: {payload: x}")])
    assert [kind.__name__ for kind in stage_types(every.candidates)] == [
        "Understanding",
        "CanaryDetector",
        "Observers",
        "WebSocketRequestRewriter",
        "ToolResultRewriter",
        "FaultStage",
        "PersistentRewrites",
        "DeferredReplies",
    ]


def test_only_stages_that_override_a_hook_are_asked_and_the_response_goes_up() -> None:
    class First(Stage):
        def on_end(self, actions):
            return [*actions, Send(b"first")]

    class Second(Stage):
        def on_end(self, actions):
            return [*actions, Send(b"second")]

        def over(self) -> None:
            """Asked alone."""

        def on_message(self, actions, by):
            return actions

    class Third(Second):
        """As the second one."""

    found = StageList((First, Second, Third), state("latency: {ms: 1}"))
    asked = {hook: [type(found.all[at]) for at in places] for hook, places in found.hooks.items()}
    assert asked["on_end"] == [Third, Second, First]
    assert asked["over"] == [Third, Second]
    assert asked["on_message"] == [Second, Third], "a client's go down; who asks turns it round"
    assert asked["on_request"] == []
    assert set(asked) == set(HOOKS)
    assert set(UPWARD) == {"on_response_head", "on_data", "on_end", "over"}
    assert {"on_request", "forward", "on_data", "observe", "ledger"} <= set(HOOKS)
    assert not {"touches", "holds"} & set(HOOKS)


def test_a_stage_that_can_have_nothing_to_do_is_not_made() -> None:
    def names(request: Request, *, canary: bool = False, inbox: bool = False) -> set[str]:
        at = state("latency: {ms: 1}", request=request)
        if canary:
            at.context.state.plant("word", PlantedCanary("e", "f", "response", 1))
        if inbox:
            at.context.state.open_replies("https://x/")
        at.protocol = wire.classify(replace(request, body=None)).protocol
        return {
            type(stage).__name__ for stage in StageList(stage_types(at.context.profile.candidates), at).all
        }

    always = {"Understanding", "FaultStage"}
    upgrade = replace(CHAT, headers=(*CHAT.headers, ("Upgrade", "websocket")))
    assert names(CHAT) == always
    assert names(CHAT, canary=True) == always | {"CanaryDetector"}
    assert names(CHAT, inbox=True) == always | {"DeferredReplies"}
    assert names(replace(CHAT, method="GET")) >= always | {"DeferredReplies"}
    assert names(upgrade) == always | {"WebSocketRequestRewriter"}
    unknown = replace(CHAT, host="h.example", path="/x")
    assert names(unknown) == always | {"DeferredReplies"}, "its body may be a call of MCP"


def test_an_exchange_on_which_nothing_is_decided_has_only_the_replies_to_others() -> None:
    assert [kind.__name__ for kind in PASSIVE] == ["DeferredReplies"]


def test_a_request_is_understood_and_numbered() -> None:
    at = state("latency: {ms: 1}")
    understand(at)
    assert at.exchange.view is None, "nothing in the profile looks at it"
    with_view(at)
    assert (at.exchange.kind, at.exchange.protocol, at.exchange.n) == ("llm", "openai_chat", 0)
    assert at.protocol is not None
    assert at.exchange.view is not None
    assert list(Understanding(at).ledger()) == []
    again = ExchangeState(at.context, Exchange("s", 2, CHAT), None)
    understand(again)
    assert (again.exchange.key, again.exchange.n) == (at.exchange.key, 1), "the same request is another call"


def test_a_conversation_is_looked_for_where_texts_may_be_changed_and_the_request_was_read() -> None:
    at = state("memory_poisoning: {payload: x}")
    understand(at)
    assert at.conversation is not None
    assert at.exchange.history == at.conversation.chance != ""
    unread, elsewhere = replace(CHAT, body=b"{"), replace(CHAT, host="h.example", path="/x", body=b"{}")
    for fault, request in (
        ("memory_poisoning: {payload: x}", unread),
        ("memory_poisoning: {payload: x}", elsewhere),
        ("latency: {ms: 1}", CHAT),
    ):
        none = state(fault, request=request)
        understand(none)
        assert (none.conversation, none.exchange.history) == (None, "")
    found = state("memory_poisoning: {payload: x}", request=unread)
    understand(found)
    assert found.protocol is not None, "it was recognised by its address"


def test_a_request_that_nobody_looked_into_is_reported_to_the_entries_that_may_have_meant_it() -> None:
    heavy = b'{"model": "m", "messages": [' + b"[]," * 40_000 + b"[]]}"
    at = state("{latency: {ms: 1}, on: {text: hi}}", request=Request(*_head(), HEADERS, heavy))
    understand(at)
    (line,) = Understanding(at).ledger()
    assert (line.outcome, "values" in line.reason) == ("inapplicable", True)


def _head() -> tuple[str, str, str, int, str]:
    return "POST", "https", "api.openai.com", 443, "/v1/chat/completions"


def test_a_canary_that_comes_back_is_reported_with_its_place() -> None:
    at = state("latency: {ms: 1}")
    at.context.state.plant("marker-7", PlantedCanary("e", "indirect_injection", "result", 0))
    stage = CanaryDetector(at)
    stage.on_request()
    assert list(Understanding(at).ledger()) == []
    at.exchange = Exchange("s", 2, Request(*_head(), HEADERS, b'{"q": "MARKER-7"}'))
    stage.on_request()
    (line,) = stage.ledger()
    assert (line.outcome, line.fault) == ("returned", "indirect_injection")
    assert "in the body of a request to `api.openai.com`" in line.reason


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        ("/v1", base64.b64encode(b"the word is marker-7"), "body"),
        ("/v1", gzip.compress(b"the word is marker-7", mtime=0), "body"),
        ("/v1?q=m%61rker%2D7", b"", "address"),
        ("/v1", b"the word is marker-8", ""),
    ],
)
def test_a_canary_is_found_in_encodings(path: str, body: bytes, where: str) -> None:
    at = state("latency: {ms: 1}", request=Request(*_head()[:4], path, HEADERS, body))
    at.context.state.plant("marker-7", PlantedCanary("e", "f", "result", 0))
    lines = list(returned_canaries(at.exchange, at.context.state))
    assert [f"in the {where} of" in line.reason for line in lines] == ([True] if where else [])


def test_a_canary_is_found_in_joined_messages() -> None:
    at = state("latency: {ms: 1}")
    at.context.state.plant("marker-7", PlantedCanary("e", "f", "result", 0))
    assert list(returned_canaries(at.exchange, at.context.state, joined=["a mark", "er-7"])) == []
    (line,) = returned_canaries(at.exchange, at.context.state, joined=["a marker-7"])
    assert "in the messages of" in line.reason


def test_a_canary_is_not_returned_in_the_exchange_that_planted_it() -> None:
    at = state("latency: {ms: 1}", request=Request(*_head(), HEADERS, b'{"q": "marker-7"}'))
    at.context.state.plant("marker-7", PlantedCanary("e", "f", "result", 1))
    assert list(returned_canaries(at.exchange, at.context.state)) == []
    assert len(list(returned_canaries(at.exchange, at.context.state, within=True))) == 1
    plant_canaries((), at.exchange, at.context.state)
    assert list(at.context.state.canaries) == ["marker-7"]


def decided(*faults: str) -> tuple[ExchangeState, FaultStage]:
    at = state(*faults, request=STREAMED)
    understand(at)
    stage = FaultStage(at)
    stage.on_request()
    return at, stage


def test_a_fault_that_answers_makes_the_same_request_again_a_retry() -> None:
    at, stage = decided("status: {code: 503}")
    assert list(stage.forward()) == []
    assert at.chain.answer is not None
    stage.settle_request()
    again = ExchangeState(at.context, Exchange("s", 2, STREAMED), None)
    understand(again)
    assert (again.exchange.n, again.exchange.attempt) == (at.exchange.n, 1)


def test_an_end_that_a_fault_made_is_a_failure_and_bytes_are_none() -> None:
    at, stage = decided("latency: {ms: 1}")
    assert list(stage.on_data((Send(b"x"),))) == [Send(b"x")]
    assert list(stage.on_data(iter((Send(b"x"),)))) == [Send(b"x")], "another stage gives it"
    fresh = ExchangeState(at.context, Exchange("s", 2, STREAMED), None)
    understand(fresh)
    assert (fresh.exchange.n, fresh.exchange.attempt) == (1, 0)
    assert list(stage.on_data(iter((Cut(),)))) == [Cut()], "of a fault that waited for another stream"
    retry = ExchangeState(at.context, Exchange("s", 3, STREAMED), None)
    understand(retry)
    assert (retry.exchange.n, retry.exchange.attempt) == (0, 1)


@pytest.mark.parametrize(
    ("fault", "n", "attempt"),
    [
        pytest.param("goaway: {}", 0, 1, id="refused-unseen"),
        pytest.param("rst_stream: {code: REFUSED_STREAM}", 0, 1, id="refused-stream"),
        pytest.param("rst_stream: {code: CANCEL}", 1, 0, id="another-code"),
        pytest.param("reset: {}", 1, 0, id="reset"),
        pytest.param("status: {code: 503}", 1, 0, id="answered"),
    ],
)
def test_below_an_sdk_that_counts_only_what_nobody_looked_at_is_sent_again(
    fault: str, n: int, attempt: int
) -> None:
    counted = replace(CHAT, headers=(*HEADERS, ("x-stainless-retry-count", "0")))
    context = state(fault).context
    at = ExchangeState(context, Exchange("s", 1, counted, http2=True), None)
    understand(at)
    stage = FaultStage(at)
    stage.on_request()
    assert list(stage.forward()) or at.chain.answer is not None
    stage.settle_request()
    again = ExchangeState(context, Exchange("s", 2, counted, http2=True), None)
    understand(again)
    assert (again.exchange.n, again.exchange.attempt) == (n, attempt)


def test_a_fault_that_did_not_fire_gives_its_place_back() -> None:
    at, stage = decided("{cut_stream: {after_events: 9}, trigger: {max_times: 1}}")
    (line,) = stage.ledger()
    assert line.outcome == "no_effect"
    assert at.context.state.counts(line.id) == (1, 1)
    stage.over()
    assert at.context.state.counts(line.id) == (1, 0)


def test_the_pipeline_asks_stages_that_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage is added by one entry in the list; the pipeline needs no change."""
    seen: list[str] = []

    class Witness(Stage):
        def on_request(self) -> None:
            seen.append("request")

        def on_data(self, actions):
            seen.append("data")
            return actions

        def on_response_head(self, response: Response) -> Response:
            self.touches = True
            return response

        def ledger(self):
            return (FaultFired("witness", "w", "stream", "fired", "seen", "k", 1, 0),)

    from faultwire.exchange import pipeline as module

    monkeypatch.setattr(module, "stage_types", lambda candidates: (*stage_types(candidates), Witness))
    made = ExchangePipeline(state("latency: {ms: 1}").context, CHAT)
    list(made.request(BODY).actions)
    made.head(Response(200, "OK", HEADERS))
    assert list(made.feed(b"{}")) == [Send(b"{}")]
    assert seen == ["request", "data"]
    assert [line.fault for line in made.over()][-1] == "witness"


def test_the_end_goes_up_the_stages_and_places_are_given_back_before_the_ledger_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the response does: what is nearest to the server comes to its end first."""
    ended: list[str] = []

    class Outer(Stage):
        def over(self) -> None:
            ended.append("outer")

        def ledger(self):
            ended.append("ledger")
            return ()

    class Inner(Stage):
        def over(self) -> None:
            ended.append(f"inner, {self.state.context.state.counts('cut_stream')[1]} taken")

    from faultwire.exchange import pipeline as module

    monkeypatch.setattr(module, "stage_types", lambda candidates: (Outer, *stage_types(candidates), Inner))
    made = ExchangePipeline(state("cut_stream: {after_events: 9}").context, CHAT)
    list(made.request(STREAMED.body or b"").actions)
    assert [line.outcome for line in made.over()] == ["no_effect"]
    assert ended == ["inner, 1 taken", "outer", "ledger"]
    assert made.state.context.state.counts("cut_stream") == (1, 0)


def test_every_action_is_observed_before_it_is_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the call, before the head, of the stream, and of what was held back until its end."""
    seen: list[object] = []

    class Witness(Stage):
        def observe(self, action: Action) -> None:
            seen.append(action)

    def carried_out(actions: Iterable[Action]) -> list[Action]:
        done: list[Action] = []
        for action in actions:
            done.append(action)
            assert seen == done
        seen.clear()
        return done

    from faultwire.exchange import pipeline as module

    monkeypatch.setattr(module, "stage_types", lambda candidates: (Witness, *stage_types(candidates)))
    faults = ("latency: {ms: 1000}", "{latency: {ms: 2000}, on: {status: 200}}", "reorder_events: {at: 1}")
    made = ExchangePipeline(state(*faults).context, STREAMED)
    assert carried_out(made.request(STREAMED.body).actions) == [Wait(1.0)]
    assert carried_out(made.pending(CALM)) == [Wait(2.0)]
    made.head(CALM)
    event = b'data: {"choices": []}\n\n'
    assert carried_out(made.feed(event)) == []
    assert carried_out(made.finish()) == [Send(event)]


def test_a_stage_that_says_nothing_of_it_is_wanted_on_every_exchange() -> None:
    assert Stage.wanted(state())


def test_an_answer_that_a_fault_replaced_makes_the_same_request_again_a_retry() -> None:
    at, stage = decided("{status: {code: 503}, on: {status: 200}}")
    at.exchange = at.exchange.answered(Response(200, "OK", HEADERS))
    assert list(stage.on_response()) == []
    assert stage.on_response_head(Response(200, "OK", HEADERS)).status == 503
    retry = ExchangeState(at.context, Exchange("s", 2, STREAMED), None)
    understand(retry)
    assert (retry.exchange.n, retry.exchange.attempt) == (at.exchange.n, 1)


def test_a_stage_that_was_not_asked_about_the_request_does_nothing_to_the_response() -> None:
    stage = FaultStage(state("{status: {code: 503}, on: {status: 200}}"))
    assert list(stage.on_response()) == []
    assert stage.on_response_head(CALM) is CALM
    assert (stage.touches, stage.holds) == (False, False)


CALM = Response(200, "OK", (("content-type", "text/event-stream"),))


def test_what_is_decided_on_the_head_is_rolled() -> None:
    at, stage = decided("{status: {code: 503}, on: {status: 200}, trigger: {probability: 1}}")
    at.exchange = at.exchange.answered(CALM)
    list(stage.on_response())
    (line,) = stage.ledger()
    assert line.unit == at.context.dice.roll("status", at.exchange.key, 0)


def test_an_answer_that_keeps_its_status_makes_no_retry() -> None:
    at, stage = decided("slow_tokens: {ms: 1}")
    stage.on_response_head(CALM)
    assert stage.touches
    again = ExchangeState(at.context, Exchange("s", 2, STREAMED), None)
    understand(again)
    assert (again.exchange.n, again.exchange.attempt) == (1, 0)


def test_messages_go_down_the_stages_from_the_client_and_up_from_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Marking(Stage):
        mark = b""

        def on_response_head(self, response: Response) -> Response:
            self.touches = True
            return response

        def on_message(self, actions, by):
            return [replace(action, data=action.data + self.mark) for action in actions]

    class First(Marking):
        mark = b"1"

    class Second(Marking):
        mark = b"2"

    from faultwire.exchange import pipeline as module

    monkeypatch.setattr(module, "stage_types", lambda candidates: (First, *stage_types(candidates), Second))
    made = ExchangePipeline(state("latency: {ms: 1}").context, replace(CHAT, body=None))
    list(made.request(BODY).actions)
    made.head(Response(200))
    assert list(made.message(b"up", text=True, by="client")) == [Send(b"up12", "server", True)]
    assert list(made.message(b"down", text=True, by="server")) == [Send(b"down21", "client", True)]


def test_a_decision_is_noted_with_its_instant_and_only_where_it_counts() -> None:
    at = state("status: {code: 503, trigger: {probability: 1}}", "cut_stream: {after_events: 1}")
    understand(at)
    at.exchange = replace(at.exchange, at_s=2.5)
    stage = FaultStage(at)
    stage.on_request()
    session = at.context.state
    assert (session.counts("status"), session.begun("status")) == ((1, 1), (1, 2.5))
    assert session.counts("cut_stream") == (0, 0), "the request asks for no stream"
    lines = {line.id: line for line in stage.ledger()}
    assert lines["status"].unit == at.context.dice.roll("status", at.exchange.key, 0)


def test_a_request_that_nobody_decided_on_goes_as_it_came() -> None:
    at = state("truncate_response: {max_tokens: 1}")
    FaultStage(at).settle_request()
    assert at.request is CHAT


@pytest.mark.parametrize(
    ("faults", "packed"),
    [
        (("truncate_response: {max_tokens: 1}", "{latency: {ms: 1}, on: {status: 200}}"), False),
        (("latency: {ms: 1}", "{truncate_response: {max_tokens: 1}, on: {status: 200}}"), False),
        (("reset: {}", "{truncate_response: {max_tokens: 1}, on: {status: 200}}"), True),
        (("latency: {ms: 1}", "{latency: {ms: 2}, on: {status: 200}}"), True),
        (("truncate_response: {max_tokens: 1, trigger: {after_calls: 1}}",), True),
    ],
)
def test_an_answer_is_asked_for_unpacked_where_a_fault_may_read_it(
    faults: tuple[str, ...], packed: bool
) -> None:
    at = state(*faults)
    understand(at)
    stage = FaultStage(at)
    stage.on_request()
    list(stage.forward())
    stage.settle_request()
    assert (header(at.request.headers, "accept-encoding") is None) is packed


# ---------------------------------------------------------------- what a request is

TOOLS = parse(
    """
tools: {search: {url: "https://x.test/*"}}
agents: {writer: {url: "https://w.test/*"}, editor: {caller: {x-team: blue}}}
faults: [{latency: {ms: 1}, on: {path: "*"}}]
""",
    "p.yaml",
)


def understood(request: Request, session: SessionState | None = None) -> tuple[Exchange, Exchange]:
    """The exchange as the pipeline first takes it, and as it is once the request is known."""
    context = SessionContext("s", TOOLS, Dice(1, "s"), session or SessionState(), lambda: 7.5, 5.0)
    made = ExchangePipeline(context, replace(request, body=None))
    first = made.exchange
    list(made.request(request.body).actions)
    return first, made.exchange


def test_a_request_is_classified_by_its_head_and_then_by_its_body() -> None:
    asked = replace(CHAT, headers=(*HEADERS, ("x-team", "blue"), ("x-stainless-retry-count", "1")))
    session = SessionState()
    understood(replace(CHAT, headers=(*HEADERS, ("x-stainless-retry-count", "0"))), session)
    first, then = understood(asked, session)
    head = replace(asked, body=None)
    assert first == Exchange("s", 2, head, "llm", "openai_chat", "openai", key="", at_s=2.5, caller="editor")
    view = RequestView("m", stream=False, turns=(Turn("user", "hi"),))
    assert then == replace(first, request=asked, view=view, key=then.key, n=0, attempt=1)
    assert then.key


def test_a_tool_and_an_agent_are_known_by_their_urls() -> None:
    session = SessionState()
    session.learn((ToolCall("call_1", "search", "{}"),))
    find = Request("GET", "https", "x.test", 443, "/find", (), b"")
    first, then = understood(find, session)
    assert (first.kind, first.tool, then.kind, then.tool) == ("tool", "search", "tool", "search")
    assert session.seen_at("search") == "http"
    first, then = understood(Request("POST", "https", "w.test", 443, "/", HEADERS, b"{}"))
    assert (first.kind, first.agent, then.kind, then.agent) == ("agent", "writer", "agent", "writer")


def test_an_agent_is_known_by_its_card() -> None:
    session = SessionState()
    session.peers.add("reviewer", ("https://r.test/a",))
    request = Request("POST", "https", "r.test", 443, "/a/v1/message:send", HEADERS, b"{}")
    assert [one.agent for one in understood(request, session)] == ["reviewer", "reviewer"]
    assert [one.agent for one in understood(request)] == ["r.test", "r.test"], "else by its host"


def test_a_protocol_counts_retries_in_its_own_way() -> None:
    session, headers = SessionState(), (("content-type", "application/grpc"),)
    call = Request("POST", "https", "g.test", 443, "/pkg.Service/Do", headers, b"\0\0\0\0\0")
    again = replace(call, headers=(*headers, ("grpc-previous-rpc-attempts", "1")))
    found = [understood(request, session)[1] for request in (call, again, call)]
    assert [(one.n, one.attempt) for one in found] == [(0, 0), (0, 1), (1, 0)]


def test_a_decision_of_which_nothing_comes_has_its_line_in_its_place_and_no_part_in_the_chain() -> None:
    waits, fires = "{status: {code: 503}, trigger: {after_calls: 9}}", "latency: {ms: 1}"
    looks_on = "{stale_response: {}, trigger: {after_calls: 9}}"
    at = state(waits, fires, waits, looks_on)
    stage = FaultStage(at)
    understand(at)
    stage.on_request()
    lines = list(stage.ledger())
    decided = [entry.id for entry in at.context.profile.composed]
    assert [line.id for line in lines] == decided, "in the order in which they are composed"
    acting = [active.decision.entry.id for active in at.chain.all]
    assert set(acting) < set(decided)
    assert {name.partition("#")[0] for name in acting} == {"latency", "stale_response"}
    assert {line.reason for line in lines if line.fault == "status"} == {"call 1 of the first 9 passes"}
    at.chain.all.clear()  # they wait for another stream
    assert {line.fault for line in stage.ledger()} == {"status"}
