"""Which of an agent's connections went past the proxy?"""

from __future__ import annotations

import pytest
from mitmproxy import connection
from mitmproxy.proxy.server_hooks import ServerConnectionHookData
from pydantic import ValidationError

from faultwire.events import Bypass
from faultwire.mitm.flow.addon import FaultwireAddon
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.network.bypassed import MOST, REMEMBERED, CloseSettings, Reached, local_ports, past_us
from faultwire.mitm.network.egress_guard import Guard
from faultwire.profile.model import AgentSite, Profile, ToolSite

CALM = Profile(name="calm")


def guard(*ports: int, targets: tuple[str, ...] = ()) -> Guard:
    made = Guard.of((), targets)
    made.listeners |= set(ports)
    return made


def texts(*seen: Bypass, reached: Reached | None = None, listen: str = "127.0.0.1", **about) -> list[str]:
    made = past_us(
        about.get("profile", CALM), seen, reached or Reached(), about.get("guard", guard(8080)), listen
    )
    return [one.text for one in made]


def test_everything_beyond_this_machine() -> None:
    seen = Bypass("203.0.113.5", 443), Bypass("10.0.0.7", 5432), Bypass("2001:db8::7", 443, "udp")
    assert texts(*seen) == ["203.0.113.5:443", "10.0.0.7:5432", "[2001:db8::7]:443/udp"]


def test_our_own_listeners_are_the_way_through_the_proxy() -> None:
    reached = Reached()
    reached.note("localhost", "127.0.0.1", 8080)  # whatever the proxy was asked for
    seen = Bypass("127.0.0.1", 8080), Bypass("::1", 8080), Bypass("203.0.113.5", 8080)
    assert texts(*seen, reached=reached) == ["203.0.113.5:8080"]
    assert texts(*seen, reached=reached, listen="203.0.113.5") == []
    assert texts(*seen, reached=reached, listen="0.0.0.0") == []
    assert texts(*seen, reached=reached, listen="::") == []


def test_this_machine_does_not_count() -> None:
    assert texts(Bypass("127.0.0.1", 5432), Bypass("::1", 6379), Bypass("127.8.0.1", 80)) == []


def test_except_what_the_proxy_reached_there() -> None:
    reached = Reached()
    reached.note("localhost", "127.0.0.1", 5001)
    reached.note("127.0.0.1", "::ffff:127.0.0.1", 5002)
    reached.note("203.0.113.9", "203.0.113.9", 6379)
    seen = [Bypass("127.0.0.1", 5001), Bypass("::1", 5001), Bypass("127.0.0.1", 5002)]
    assert texts(*seen, Bypass("127.0.0.1", 6379), reached=reached) == [
        "localhost (127.0.0.1:5001)",
        "[::1]:5001",
        "localhost (127.0.0.1:5002)",
    ]


def test_and_what_profile_or_routes_name_there() -> None:
    profile = Profile(
        name="p",
        tools={"search": ToolSite(url="http://localhost:5001/search*")},
        agents={"writer": AgentSite(url=("https://127.0.0.1/*", "http://writer.example:7000/"))},
    )
    about = {"profile": profile, "guard": guard(8080, targets=("http://127.0.0.1:11434",))}
    assert local_ports(profile, about["guard"].targets) == {5001, 443, 11434}
    seen = [Bypass("127.0.0.1", port) for port in (5001, 443, 11434, 7000)]
    assert texts(*seen, **about) == ["127.0.0.1:5001", "127.0.0.1:443", "127.0.0.1:11434"]


@pytest.mark.parametrize(
    "url", ["*", "http://*/search", "localhost", "http://localhost:x/", "http://[::1", ""]
)
def test_a_glob_that_names_no_port_names_none(url: str) -> None:
    found = local_ports(Profile(name="p", tools={"t": ToolSite(url=url)}))
    assert found == ({80} if url == "localhost" else frozenset())


def test_a_name_is_said_where_only_one_is_known() -> None:
    reached = Reached()
    reached.note("api.example", "203.0.113.5", 443)
    assert texts(Bypass("203.0.113.5", 8443), reached=reached) == ["api.example (203.0.113.5:8443)"]
    reached.note("api.example", "203.0.113.5", 443)
    assert reached.name("203.0.113.5") == "api.example"
    reached.note("other.example", "203.0.113.5", 443)
    reached.note("api.example", "203.0.113.5", 443)
    assert texts(Bypass("203.0.113.5", 443), reached=reached) == ["203.0.113.5:443"]


def test_the_addon_remembers_what_it_connects_to() -> None:
    gateway = Gateway()
    addon = FaultwireAddon(gateway)
    client = connection.Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), timestamp_start=0.0)
    server = connection.Server(address=("api.example", 443))
    addon.server_connected(ServerConnectionHookData(server=server, client=client))  # a peer nobody knows
    assert gateway.reached.places == set()
    server.peername = ("2001:db8::7", 443, 0, 0)
    addon.server_connected(ServerConnectionHookData(server=server, client=client))
    assert gateway.reached.places == {("2001:db8::7", 443)}
    assert gateway.reached.name("2001:db8::7") == "api.example"


def test_what_is_remembered_is_bounded() -> None:
    reached = Reached()
    for at in range(REMEMBERED + 2):
        reached.note(f"h{at}", f"198.18.{at >> 8}.{at & 255}", 443)
    reached.note("x", "no address", 443)
    assert len(reached.places) == REMEMBERED


@pytest.mark.parametrize(
    "told",
    [
        {"seen": [{"address": "api.example", "port": 443}]},
        {"seen": [{"address": "203.0.113.5", "port": 0}]},
        {"seen": [{"address": "203.0.113.5", "port": 65536}]},
        {"seen": [{"address": "203.0.113.5", "port": 443, "transport": "sctp"}]},
        {"seen": [{"address": "203.0.113.5", "port": 443, "host": "x"}]},
        {"seen": [{"address": "203.0.113.5", "port": 443}] * (MOST + 1)},
        {"more": -1},
        {"more": 2**53},
        {"path": "/x"},
    ],
)
def test_a_bad_message_is_refused(told: dict) -> None:
    assert CloseSettings.model_validate({"name": "s"}).seen == ()
    with pytest.raises(ValidationError):
        CloseSettings.model_validate({"name": "s", **told})
