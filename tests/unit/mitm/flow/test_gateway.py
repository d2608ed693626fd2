"""What a stream asks of the engine, without any socket."""

from __future__ import annotations

from base64 import b64encode
from types import SimpleNamespace

import pytest
from mitmproxy import ctx, http
from mitmproxy.test import tflow

from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.compat.owner import Counters, Owner
from faultwire.mitm.flow import addon, gateway
from faultwire.mitm.messages.error_responses import Refusal
from faultwire.mitm.network.egress_guard import Guard
from faultwire.profile.load import inline, merge
from faultwire.profile.model import Profile


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """mitmproxy without a connection."""
    server = SimpleNamespace(connections={})
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons={"proxyserver": server}), raising=False)


def a_shell(*faults: str, **settings) -> gateway.Gateway:
    made = gateway.Gateway(**settings)
    name = "implicit"
    profile = merge([inline(one) for one in faults]) if faults else Profile(name="calm")
    made.sessions.implicit = made.sessions.open(SessionContext(name, profile, Dice(1, name), SessionState()))
    return made


def a_flow(url: str = "https://api.openai.com/v1/models") -> http.HTTPFlow:
    flow = tflow.tflow()
    flow.request.url = url
    return flow


def test_an_exchange_is_counted_while_it_lives(stage) -> None:
    made = a_shell()
    recorded = made.begin(a_flow())
    assert (made.live, made.sessions.implicit.live, made.idle.is_set()) == (1, 1, False)
    recorded.end("complete")
    assert (made.live, made.sessions.implicit.live, made.idle.is_set()) == (0, 0, True)
    assert made.stats.exchanges == 1


def test_nobody_s_traffic_is_refused(stage) -> None:
    with pytest.raises(Refusal) as refused:
        gateway.Gateway().begin(a_flow())
    assert refused.value.status == 407


def test_no_more_than_so_many_at_once(stage) -> None:
    made = a_shell(max_exchanges=2)
    first = made.begin(a_flow())
    made.begin(a_flow())
    with pytest.raises(Refusal) as refused:
        made.begin(a_flow())
    assert refused.value.kind == "faultwire_busy"
    assert made.sessions.implicit.voids
    first.end("complete")
    made.begin(a_flow())


def test_an_engine_that_ends_takes_no_more(stage) -> None:
    made = a_shell()
    made.draining = True
    with pytest.raises(Refusal) as refused:
        made.begin(a_flow())
    assert refused.value.kind == "faultwire_stopping"


def test_the_guard_is_asked_and_routes_are_not(stage) -> None:
    made = a_shell(guard=Guard(), routes={"10.0.0.1": "http://127.0.0.1:9"})
    made.admit(made.begin(a_flow("http://10.0.0.1/")))
    with pytest.raises(Refusal) as refused:
        made.admit(made.begin(a_flow("http://10.0.0.2/")))
    assert refused.value.status == 403
    assert "--allow-host 10.0.0.2" in refused.value.message


def test_behind_a_mock_other_hosts_get_a_501_that_names_the_option(stage) -> None:
    routes = {"api.openai.com": "http://127.0.0.1:9"}
    made = a_shell(
        guard=Guard.of(["10.0.0.9"], local_only=True, remote_hosts=["real.example"]), routes=routes
    )
    for host in ("api.openai.com", "real.example"):
        made.admit(made.begin(a_flow(f"https://{host}/")))
    with pytest.raises(Refusal) as refused:
        made.admit(made.begin(a_flow("http://10.0.0.9/")))
    assert (refused.value.status, refused.value.kind) == (501, "faultwire_mock")
    assert "--mock-except 10.0.0.9" in refused.value.message
    assert ("x-should-retry", "false") in refused.value.response().headers
    assert made.stats.refused == 1


def test_behind_a_mock_a_fault_that_may_act_is_asked_before_a_host_is_refused(stage) -> None:
    made = a_shell("{status: {code: 503}, on: {host: 10.0.0.9}}", guard=Guard.of([], local_only=True))
    waits = made.begin(a_flow("http://10.0.0.9/"))
    refusal = made.admit(waits)
    assert refusal is not None
    assert (refusal.status, made.stats.refused) == (501, 0), "it is counted where it is given"
    assert waits.pipeline.state.withheld == "the mock does not answer for `10.0.0.9`"
    for recorded, live in ((made.begin(a_flow("http://10.0.0.8/")), False), (waits, True)):
        with pytest.raises(Refusal) as refused:
            made.admit(recorded, live=live)
        assert refused.value.status == 501
    assert made.stats.refused == 2
    made.guard.local_only = False
    with pytest.raises(Refusal) as refused:
        made.admit(waits)
    assert refused.value.status == 403, "what no mock is the reason of waits for nobody"


@pytest.mark.parametrize(
    ("url", "address", "tls", "path"),
    [
        ("https://api.openai.com/v1/models", ("127.0.0.1", 9000), False, "/base/v1/models"),
        ("https://API.openai.com/v1/models", ("127.0.0.1", 9000), False, "/base/v1/models"),
        ("https://plain.test/x", ("127.0.0.1", 443), True, "/x"),
        ("http://other.test:81/x", ("other.test", 81), False, "/x"),
        ("https://other.test/x", ("other.test", 443), True, "/x"),
    ],
)
def test_where_a_request_goes(stage, url: str, address: tuple[str, int], tls: bool, path: str) -> None:
    made = a_shell(
        routes={"api.openai.com": "http://127.0.0.1:9000/base/", "plain.test": "https://127.0.0.1"}
    )
    request = a_flow(url).request
    assert made.routes.destination(request) == (address, tls)
    assert request.path == path


def test_a_failure_voids_its_session_only(stage, caplog: pytest.LogCaptureFixture) -> None:
    made = a_shell()
    other = made.sessions.open(
        SessionContext("other", Profile(name="calm"), Dice(1, "other"), SessionState())
    )
    flow = a_flow()
    recorded = made.begin(flow)
    made.failed(flow.client_conn, recorded, ValueError("sk-secret"), None)
    assert len(made.sessions.implicit.voids) == 1
    assert other.voids == []
    assert made.live == 0
    assert "ValueError" in caplog.text
    assert "sk-secret" not in caplog.text


def test_a_failure_of_nobody_in_particular_voids_all(stage) -> None:
    made = a_shell()
    made.crashed(None, ValueError())
    assert made.sessions.implicit.voided == 1


def test_a_hook_that_raises_voids_and_does_not_raise(stage) -> None:
    made = gateway.Gateway()
    hooks = addon.FaultwireAddon(made)
    made.sessions.implicit = made.sessions.open(
        SessionContext("implicit", Profile(name="calm"), Dice(1, "implicit"), SessionState())
    )
    hooks.http_connect(object())  # no flow at all
    hooks.tls_clienthello(a_flow())  # not what it takes
    assert made.sessions.implicit.voided == 2


def test_traffic_of_nobody_is_noted_once(stage) -> None:
    made = gateway.Gateway()
    session = made.sessions.open(SessionContext("s", Profile(name="calm"), Dice(1, "s"), SessionState()))
    for _ in range(2):
        with pytest.raises(Refusal):
            made.begin(a_flow("https://lost.test/"))
    with pytest.raises(Refusal):
        made.begin(a_flow("https://found.test/"))
    user = b64encode(f"{session.user}:{session.token}".encode()).decode()
    flow = a_flow("https://found.test/")
    flow.request.headers["proxy-authorization"] = f"Basic {user}"
    made.begin(flow)  # asked for its name, this client gave it: nothing is missing
    assert session.notes == []
    assert made.stats.strangers.notes == [
        "2 calls to `lost.test` came without the session's proxy user and were turned away (407)"
    ]
    assert session.voids == []
    assert made.stats.refused == 3


def test_it_has_all_that_the_handler_of_a_connection_needs() -> None:
    made = gateway.Gateway()
    needed = {name for name in (*Owner.__annotations__, *vars(Owner)) if not name.startswith("_")}
    assert {"head_timeout_s", "handshake_s", "stats", "crashed", "lags", "room"} <= needed
    assert [name for name in sorted(needed) if not hasattr(made, name)] == []
    assert [name for name in Counters.__annotations__ if not hasattr(made.stats, name)] == []
