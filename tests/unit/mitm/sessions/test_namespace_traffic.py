"""What became no exchange is told in one line each, with what would change it."""

from __future__ import annotations

from faultwire.events import Bypass
from faultwire.mitm.network.refused_packets import RefusedPacket
from faultwire.mitm.sessions.namespace_traffic import KEPT, TAKEN, NamespaceTraffic


def test_a_port_that_is_not_captured_is_reported_with_its_remedies() -> None:
    traffic = NamespaceTraffic()
    for _ in range(2):
        traffic.refuse(RefusedPacket("tcp", "198.18.0.1", 5432), "db.example")
    (note,) = traffic.notes
    assert note.startswith("2 connections to `db.example:5432` were refused: port 5432 is not captured")
    assert "--capture-port 5432" in note
    assert "--relay db.example:5432" in note


def test_a_service_of_this_machine_is_reported_another_one() -> None:
    traffic = NamespaceTraffic()
    traffic.refuse(RefusedPacket("tcp", "::1", 8000), "::1")
    (note,) = traffic.notes
    assert "--allow-host [::1]:8000" in note
    assert "--relay" not in note


def test_http3_is_reported_apart_from_other_udp() -> None:
    traffic = NamespaceTraffic()
    traffic.refuse(RefusedPacket("udp", "198.18.0.1", 443), "a.example")
    traffic.refuse(RefusedPacket("udp", "198.18.0.1", 123), "a.example")
    other, quic = traffic.notes
    assert "HTTP/3" in quic
    assert "HTTP/3" not in other
    assert "--capture env" in other


def test_what_is_spoken_and_what_is_relayed() -> None:
    traffic = NamespaceTraffic()
    traffic.reset(("ssh.example", 443))
    traffic.relay(("db.example", 5432))
    traffic.fail(("gone.example", 5432), "refused")
    reset, relayed, failed = traffic.notes
    assert "spoke neither HTTP nor TLS and was reset" in reset
    assert relayed == "1 connection to `db.example:5432` was relayed, and not recorded"
    assert failed == "`gone.example:5432` could not be relayed: refused"


def test_a_client_that_said_nothing_is_reported_with_the_relay() -> None:
    traffic = NamespaceTraffic()
    for _ in range(2):
        traffic.say_nothing(("smtp.example", 25))
    (note,) = traffic.notes
    assert note.startswith("2 connections to `smtp.example:25` said nothing and came to nothing")
    assert "`--relay smtp.example:25`" in note


def test_what_did_not_happen_is_not_reported() -> None:
    assert list(NamespaceTraffic().notes) == []


def test_a_program_that_tries_every_port_fills_no_memory() -> None:
    traffic = NamespaceTraffic()
    for port in range(1, 1001):
        traffic.refuse(RefusedPacket("tcp", "198.18.0.1", port), "a.example")
    traffic.lost = 3
    notes = list(traffic.notes)
    assert len(notes) == KEPT + 2
    assert notes[-2:] == [
        f"{1000 - KEPT} connections to other places became no exchange",
        "3 refusals more were not read in time",
    ]


def by_tunnel() -> NamespaceTraffic:
    traffic = NamespaceTraffic()
    traffic.packets = "the WireGuard tunnel"
    return traffic


def test_what_came_by_a_tunnel_is_counted_and_that_nothing_came_is_reported() -> None:
    traffic = by_tunnel()
    assert list(traffic.notes) == ["no connection came through the WireGuard tunnel"]
    for client in ("10.66.87.2", "10.66.87.2", "fd66::2"):
        traffic.arrive(client)
    assert list(traffic.notes) == [
        "2 connections of `10.66.87.2` came through the WireGuard tunnel",
        "1 connection of `fd66::2` came through the WireGuard tunnel",
    ]


def test_many_clients_of_a_tunnel_fill_no_memory_and_none_is_reported_to_have_come_to_nothing() -> None:
    traffic = by_tunnel()
    for number in range(100):
        traffic.arrive(f"10.0.0.{number}")
    notes = list(traffic.notes)
    assert len(notes) == KEPT + 1
    assert f"{100 - KEPT} connections of other clients came through the WireGuard tunnel" in notes


def test_a_reset_that_cannot_pass_is_reported_where_there_was_one() -> None:
    traffic = by_tunnel()
    traffic.arrive("10.66.87.2")
    assert not [note for note in traffic.notes if "reset" in note]
    traffic.end_unreset()
    assert (
        "1 connection that we reset only ended for the client: no reset passes through the WireGuard tunnel"
    ) in list(traffic.notes)


def test_udp_in_a_tunnel_is_dropped_and_no_option_is_named_that_would_change_it() -> None:
    traffic = by_tunnel()
    traffic.arrive("10.66.87.2")
    traffic.refuse(RefusedPacket("udp", "198.18.0.1", 443), "a.example")
    traffic.refuse(RefusedPacket("udp", "198.18.0.1", 123), "a.example")
    _, other, quic = traffic.notes
    assert other == "packets by UDP to `a.example:123` were dropped: UDP is not captured"
    assert "HTTP/3" in quic
    assert "--capture" not in other + quic


def test_peers_to_which_connections_came_by_a_tunnel_are_not_past_it() -> None:
    traffic = by_tunnel()
    traffic.take("tcp", "203.0.113.7", 443)
    seen = [Bypass("203.0.113.7", 443), Bypass("203.0.113.7", 80), Bypass("203.0.113.7", 443, "udp")]
    assert traffic.not_taken(seen) == seen[1:]
    assert NamespaceTraffic().not_taken(seen) == seen


def test_a_scan_through_a_tunnel_fills_no_memory() -> None:
    traffic = by_tunnel()
    for port in range(TAKEN + 10):
        traffic.take("tcp", "203.0.113.7", port)
    late = Bypass("203.0.113.7", TAKEN + 5)
    assert traffic.not_taken([Bypass("203.0.113.7", TAKEN - 1), late]) == [late]
