"""A process that serves several sessions: whose is a call of it?"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from mitmproxy import ctx, http
from mitmproxy.test import tflow

from faultwire.capture import traceparent
from faultwire.dice import Dice
from faultwire.errors import UsageError
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.flow.connections import ClientConnection, Stats
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.messages.error_responses import Refusal
from faultwire.mitm.sessions import shared_process
from faultwire.mitm.sessions.session import Session
from faultwire.mitm.sessions.sessions import Sessions
from faultwire.mitm.sessions.shared_process import Shared, UnattributedCalls, names, trace_id
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile

A, B, C = (trace_id(7, name) for name in ("a", "b", "c"))


def context(name: str, profile: Profile | None = None) -> SessionContext:
    return SessionContext(name, profile or Profile(name="calm"), Dice(1, name), SessionState())


def headers(**fields: str) -> http.Headers:
    return http.Headers([(name.encode(), value.encode()) for name, value in fields.items()])


def by_baggage(trace: str) -> http.Headers:
    return headers(baggage=f"user=1, faultwire-session={trace};p=1")


def by_parent(trace: str) -> http.Headers:
    return headers(traceparent=f"00-{trace}-{'1' * 16}-01")


def shared(*opened: str) -> tuple[Sessions, Shared, dict[str, Session]]:
    sessions = Sessions()
    found = sessions.share(sessions.open(context("server")))
    each = {name: sessions.open(context(name)) for name in opened}
    for name, session in each.items():
        sessions.attach("server", session, trace_id(7, name))
    return sessions, found, each


def test_a_trace_id_is_of_seed_and_session_and_valid() -> None:
    assert trace_id(7, "a") == A
    assert len({A, B, C, trace_id(8, "a")}) == 4
    assert all(len(trace) == 32 and int(trace, 16) > 0 and trace == trace.lower() for trace in (A, B, C))
    assert traceparent.MEMBER == shared_process.MEMBER


def test_what_a_request_names() -> None:
    assert names(by_baggage(A)) == [A]
    assert names(by_parent(A)) == [A]
    both = http.Headers(
        [*by_parent(A).fields, *by_baggage(B).fields, (b"Baggage", f"faultwire-session={C}".encode())]
    )
    assert names(both) == [B, C, A]
    assert names(headers(baggage=",,=;x", traceparent="nonsense")) == []
    assert names(headers(baggage=f"xfaultwire-session={A}")) == []


def test_alone_all_of_it_is_the_sessions() -> None:
    _, found, each = shared("a")
    assert found.single is each["a"]
    for told in (headers(), by_parent(A), by_baggage("0" * 32), by_parent("f" * 32)):
        assert found.choose(told) is each["a"]


def test_among_several_a_call_states_whose_it_is() -> None:
    _, found, each = shared("a", "b")
    assert found.single is None
    for name, trace in (("a", A), ("b", B)):
        assert found.choose(by_baggage(trace)) is each[name]
        assert found.choose(by_parent(trace)) is each[name]


def test_a_call_that_could_be_anybodys_is_nobodys_and_voids_all() -> None:
    _, found, each = shared("a", "b")
    for told in (headers(), by_parent("f" * 32)):
        with pytest.raises(UnattributedCalls, match="did not propagate `traceparent` or `baggage`"):
            found.choose(told)
    assert [len(session.voids) for session in each.values()] == [1, 1]
    assert found.own.voids == []


def test_without_a_session_it_is_the_processs_own() -> None:
    _, found, _ = shared()
    assert found.choose(headers()) is found.own
    found.own.exchanges = 2
    assert found.notes == [
        "`server` made 2 calls while no session was open; the tape has them as session `server`"
    ]


def test_a_late_call_is_nobodys_and_voids_nobody() -> None:
    sessions, found, each = shared("a", "b")
    sessions.close(each["a"])
    with pytest.raises(UnattributedCalls, match="a session that is over"):
        found.choose(by_baggage(A))
    assert each["b"].voids == []
    assert found.notes == ["`server` made 1 call for sessions that were over; it was turned away (403)"]
    assert found.choose(headers()) is each["b"]


def test_what_is_remembered_of_closed_ones_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_process, "CLOSED_KEPT", 1)
    sessions, found, each = shared("a", "b")
    sessions.close(each["a"])
    sessions.close(each["b"])
    assert found.choose(by_baggage(A)) is found.own
    with pytest.raises(UnattributedCalls):
        found.choose(by_baggage(B))


def test_user_token_and_port_lead_to_it() -> None:
    sessions, found, _ = shared("a")
    sessions.listen(found, 4000)
    assert sessions.find((found.user, found.token), 1) is found
    assert sessions.find(None, 4000) is found
    assert sessions.by_token(found.token) is found
    assert sessions.find((found.user, "wrong"), 1) is None
    assert sessions.find(None, 1) is None


def test_what_names_no_user_is_its_only_where_that_was_said() -> None:
    sessions = Sessions()
    found = sessions.share(sessions.open(context("server")), unnamed=True)
    assert sessions.find(None, 1) is found
    assert sessions.find(("stranger", "x"), 1) is None


def test_faults_on_connections_need_it_alone() -> None:
    refused = inline("refuse: {on: {host: api.openai.com}}")
    sessions, _, _ = shared("a")
    session = sessions.open(context("b", refused))
    assert not session.stages.idle
    with pytest.raises(UsageError, match="share `server`, and faults of one of them act on connections"):
        sessions.attach("server", session, B)
    sessions.close(sessions.named("a"))
    sessions.attach("server", session, B)
    with pytest.raises(UsageError):
        sessions.attach("server", sessions.open(context("c")), C)
    with pytest.raises(UsageError, match="no user `other` is shared"):
        sessions.attach("other", session, B)


# ---------------------------------------------------------------- in the engine


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> dict[str, SimpleNamespace]:
    connections: dict[str, SimpleNamespace] = {}
    server = SimpleNamespace(connections=connections)
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons={"proxyserver": server}), raising=False)
    return connections


def an_approach(*opened: str) -> tuple[Gateway, Shared]:
    made = Gateway(reverse={"openai": "https://api.openai.com"})
    found = made.sessions.share(made.sessions.open(context("server")), unnamed=True)
    for name in opened:
        made.sessions.attach("server", made.sessions.open(context(name)), trace_id(7, name))
    return made, found


def a_flow(told: http.Headers, url: str = "https://api.openai.com/v1/models") -> http.HTTPFlow:
    flow = tflow.tflow()
    flow.request.url = url
    flow.request.headers = told
    return flow


def test_requests_in_one_tunnel_are_of_different_sessions(stage: object) -> None:
    made, found = an_approach("a", "b")
    flow = a_flow(by_baggage(A))
    made.connection(flow.client_conn).belongs(found)
    assert made.begin(flow).session.name == "a"
    flow.request.headers = by_parent(B)
    assert made.begin(flow).session.name == "b"


def test_the_agents_own_bytes_go_on(stage: object) -> None:
    made, _ = an_approach("a", "b")
    recorded = made.begin(a_flow(by_baggage(A)))
    assert dict(recorded.pipeline.exchange.request.headers)["baggage"] == f"user=1, faultwire-session={A};p=1"


def test_who_names_nobody_is_refused_and_counted(stage: object) -> None:
    made, _ = an_approach("a", "b")
    with pytest.raises(Refusal) as refused:
        made.begin(a_flow(headers()))
    assert (refused.value.status, refused.value.kind) == (403, "faultwire_session")
    assert "did not propagate" in refused.value.message
    assert made.stats.counted()["refused"] == 1
    assert Stats().counted()["refused"] == 0


def test_in_base_url_mode_the_token_is_shared_as_well(stage: object) -> None:
    made, found = an_approach("a", "b")
    url = f"http://127.0.0.1:9/{found.token}/openai/v1/models"
    recorded = made.begin(a_flow(by_baggage(B), url))
    assert (recorded.session.name, recorded.pipeline.exchange.request.host) == ("b", "api.openai.com")
    with pytest.raises(Refusal) as refused:
        made.begin(a_flow(by_baggage(B), f"http://127.0.0.1:9/{found.token}/nowhere/x"))
    assert refused.value.status == 404
    assert made.sessions.named("b").notes == [
        "1 call went to the route `nowhere`, which is not declared (404)"
    ]


async def test_a_session_that_ends_takes_its_calls_and_leaves_idle_connections(
    stage: dict[str, SimpleNamespace],
) -> None:
    made, found = an_approach("a", "b")
    aborted: list[str] = []
    flows = {name: a_flow(by_baggage(trace)) for name, trace in (("a", A), ("b", B))}
    idle = a_flow(headers())
    for name, flow in [*flows.items(), ("idle", idle)]:
        flow.client_conn.id = name
        stage[name] = SimpleNamespace(abort=lambda name=name: aborted.append(name), progress=0, busy=0)
        made.connection(flow.client_conn).belongs(found)
    for flow in flows.values():
        made.begin(flow)
    await made.end_session(made.sessions.named("a"), 0.0)
    assert aborted == ["a"]
    stage.pop("a")
    made.drop_idle(found)
    assert aborted == ["a", "idle"]
    assert made.live == 1


async def test_two_sessions_on_one_connection_end_together_and_it_is_reported(
    stage: dict[str, SimpleNamespace],
) -> None:
    made, found = an_approach("a", "b")
    flow = a_flow(by_baggage(A))
    made.connection(flow.client_conn).belongs(found)
    made.begin(flow)
    flow.request.headers = by_baggage(B)
    made.begin(flow)
    await made.end_session(made.sessions.named("a"), 0.0)
    assert made.sessions.named("b").voids == ["`a` was closed, which shared a connection with it"]


def test_a_failure_on_a_shared_connection_voids_whose_it_can_be(stage: object, caplog: object) -> None:
    made, found = an_approach("a", "b")
    flow = a_flow(headers())
    made.connection(flow.client_conn).belongs(found)
    made.crashed(flow.client_conn, ValueError())
    made.malformed(flow.client_conn)
    for name in ("a", "b"):
        session = made.sessions.named(name)
        assert (session.voided, session.malformed) == (1, 1)
    assert found.own.voided == 0
    assert ClientConnection().sessions == []
