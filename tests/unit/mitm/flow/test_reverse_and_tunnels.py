"""How a client comes to us, without any socket."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from mitmproxy import ctx, http
from mitmproxy.test import tflow

from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.messages.error_responses import Refusal
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile

ROUTES = {"openai": "https://api.openai.com", "local": "http://10.0.0.7:8000/base"}


@pytest.fixture(autouse=True)
def stage(monkeypatch: pytest.MonkeyPatch) -> None:
    server = SimpleNamespace(connections={})
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons={"proxyserver": server}), raising=False)


def an_approach(profile: Profile | None = None) -> Gateway:
    made = Gateway(reverse=ROUTES)
    context = SessionContext("s", profile or Profile(name="calm"), Dice(1, "s"), SessionState())
    made.sessions.implicit = made.sessions.open(context)
    return made


def a_flow(path: str, method: str = "GET", host: str = "127.0.0.1", port: int = 9) -> http.HTTPFlow:
    flow = tflow.tflow()
    flow.request = http.Request.make(method, f"http://{host}:{port}{path}")
    flow.request.headers["host"] = f"{host}:{port}"
    return flow


@pytest.mark.parametrize(
    ("path", "url", "host"),
    [
        ("/openai/v1/models?x=1", "https://api.openai.com/v1/models?x=1", "api.openai.com"),
        ("/local/x", "http://10.0.0.7:8000/base/x", "10.0.0.7:8000"),
    ],
)
def test_a_call_by_base_url_is_the_upstream_request(path: str, url: str, host: str) -> None:
    made = an_approach()
    session = made.sessions.open(
        SessionContext("mine", Profile(name="calm"), Dice(1, "mine"), SessionState())
    )
    flow = a_flow(f"/{session.token}{path}")
    recorded = made.begin(flow)
    assert recorded.session is session
    assert recorded.pipeline.exchange.request.url == url
    assert flow.request.headers["host"] == host


def test_what_has_no_token_stays_what_it_is() -> None:
    made = an_approach()
    recorded = made.begin(a_flow("/nobody/openai/v1", host="tool.test", port=80))
    assert recorded.pipeline.exchange.request.url == "http://tool.test/nobody/openai/v1"
    assert recorded.session is made.sessions.implicit


def test_a_route_that_is_not_declared_is_refused_and_noted() -> None:
    made = an_approach()
    assert made.sessions.implicit is not None
    with pytest.raises(Refusal) as refused:
        made.begin(a_flow(f"/{made.sessions.implicit.token}/evil/x"))
    assert refused.value.status == 404
    assert made.sessions.implicit.notes == ["1 call went to the route `evil`, which is not declared (404)"]
    assert made.stats.refused == 1


def test_a_tunnel_is_decided_on_once() -> None:
    made = an_approach(inline("{refuse: {}, on: {host: api.openai.com}, trigger: {calls: [99]}}"))
    session = made.sessions.implicit
    assert session is not None
    flow = a_flow("", "CONNECT", "api.openai.com", 443)
    assert made.tunnels.context_of(session, flow.client_conn) is session.context
    made.open_tunnel(session, flow)
    assert flow.response is None
    assert made.tunnels.context_of(session, flow.client_conn) is session.inside
    assert session.inside.profile.entries == ()
    assert session.exchanges == 1


def test_a_tunnel_that_is_refused_is_reported() -> None:
    made = an_approach(inline("{refuse: {}, on: {host: api.openai.com}}"))
    assert made.sessions.implicit is not None
    flow = a_flow("", "CONNECT", "api.openai.com", 443)
    made.open_tunnel(made.sessions.implicit, flow)
    assert flow.response is not None
    assert flow.response.status_code == 502


def test_nothing_is_decided_about_a_tunnel_while_we_end() -> None:
    made = an_approach(inline("{refuse: {}, on: {host: api.openai.com}}"))
    assert made.sessions.implicit is not None
    made.draining = True
    flow = a_flow("", "CONNECT", "api.openai.com", 443)
    made.open_tunnel(made.sessions.implicit, flow)
    assert flow.response is not None
    assert flow.response.status_code == 503
    assert made.sessions.implicit.exchanges == 0
