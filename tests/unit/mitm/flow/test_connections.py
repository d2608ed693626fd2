"""How requests come: on which of a session's connections, and what else is open then."""

from types import SimpleNamespace

import pytest

from faultwire.mitm.flow import connections
from faultwire.mitm.flow.connections import ClientConnection, OpenConnections


@pytest.fixture
def moment(monkeypatch):
    at = SimpleNamespace(s=100.0)
    now = SimpleNamespace(timestamp=lambda: at.s)
    monkeypatch.setattr(connections.clock, "utc_now", lambda: now)
    return at


def link(beside, whose="s"):
    made = ClientConnection(beside=beside)
    made.belongs(SimpleNamespace(name=whose))
    return made


def arrived(made, client, session="s"):
    recorded = SimpleNamespace(recording=SimpleNamespace(arrival=None), session=SimpleNamespace(name=session))
    made.arrive(client, recorded)
    return recorded.recording.arrival


def client(opened, tls=None):
    return SimpleNamespace(timestamp_start=opened, timestamp_tls_setup=tls)


def test_ages_are_those_at_the_request(moment):
    found = arrived(link(OpenConnections()), client(99.5, tls=99.75))
    assert (found.open_ms, found.ready_ms) == (500.0, 250.0)
    bare = arrived(link(OpenConnections()), client(99.5))
    assert bare.open_ms == bare.ready_ms == 500.0
    moment.s = 90.0  # a clock that was set back
    assert arrived(link(OpenConnections()), client(99.5)).open_ms == 0.0


def test_what_is_open_beside_it_is_counted(moment):
    beside = OpenConnections()
    one, two, three = link(beside), link(beside), link(beside)
    first, second = arrived(one, client(99.0)), arrived(three, client(99.0))
    assert (first.connection, first.request, first.others, first.unused) == (1, 1, 0, 2)
    assert (second.connection, second.request, second.others, second.unused) == (3, 1, 2, 1)
    again = arrived(one, client(99.0))
    assert (again.connection, again.request, again.others, again.unused) == (1, 2, 0, 1)
    one.leave()
    two.leave()
    alone = link(beside)
    assert arrived(alone, client(99.0)).others == 1
    assert arrived(three, client(99.0)).unused == 0


def test_another_sessions_connections_are_not_beside_it(moment):
    beside = OpenConnections()
    link(beside, "other")
    found = arrived(link(beside), client(99.0))
    assert (found.connection, found.others, found.unused) == (2, 0, 0)


def test_of_a_request_without_a_tunnel_the_session_is_known_by_itself(moment):
    beside = OpenConnections()
    bare = ClientConnection(beside=beside)
    assert arrived(bare, client(99.0)).connection == 1
    bare.leave()
    assert not beside.open
    assert not beside.unused


def test_a_connection_of_nobody_is_not_counted():
    beside = OpenConnections()
    ClientConnection(beside=beside).leave()
    assert (beside.numbered, dict(beside.open)) == (0, {})


def test_without_a_tape_a_request_is_counted_all_the_same(moment):
    beside = OpenConnections()
    made = link(beside)
    made.arrive(client(99.0), SimpleNamespace(recording=None, session=SimpleNamespace(name="s")))
    assert made.requests == 1
    assert beside.unused["s"] == 0
