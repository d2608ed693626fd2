"""Who may be connected to. Look-ups are lists of ours: no such address is ever dialled."""

from __future__ import annotations

import fcntl
import ipaddress
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.mitm.network import registries, special_purpose
from faultwire.mitm.network.egress_guard import MARK, Guard, Refused, family_of, is_local, private

DATE = "2026-11-23"
PUBLIC = ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "8.8.8.8", "192.0.0.9", "192.31.196.1",
          "2001:20::1",
          "2620:4f:8000::1", "64:ff9b::808:808", "2002:808:808::1", "2001:0:808:808::f7f7:f7f7"]  # fmt: skip
PRIVATE = {
    "127.0.0.1": "loopback",
    "127.8.8.8": "loopback",
    "0.0.0.0": "loopback",
    "::1": "loopback",
    "::": "loopback",
    "169.254.169.254": "link-local",
    "fe80::1": "link-local",
    "10.0.0.1": "private",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.168.1.1": "private",
    "100.64.0.1": "private",
    "fd00:ec2::254": "private",
    "224.0.0.1": "multicast",
    "ff02::1": "multicast",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:10.0.0.1": "private",
    "64:ff9b::7f00:1": "loopback",
    "2002:7f00:1::": "loopback",
    "2002:a9fe:a9fe::1": "link-local",
    "64:ff9b::a00:1": "private",
    "64:ff9b:1::7f00:1": "loopback",
    "64:ff9b:1::808:808": "private",
    "::7f00:1": "loopback",
    "::808:808": "private",
    "fec0::1": "private",
    "feff::1": "private",
    "2001:0:7f00:1::f7f7:f7f7": "loopback",
    "2001:0:808:808::80ff:fffe": "loopback",
    "192.0.0.8": "private",
    "192.88.99.1": "private",
    "198.18.0.1": "private",
    "240.0.0.1": "private",
    "255.255.255.255": "private",
    "100::1": "private",
    "100:0:0:1::1": "private",
    "2001:2::1": "private",
    "2001:10::1": "private",
    "2001:db8::1": "private",
    "3fff::1": "private",
    "5f00::1": "private",
    "fc00::1": "private",
}


def infos(*addresses: str) -> list[tuple[int, int, int, str, tuple[object, ...]]]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]


@pytest.mark.parametrize(("address", "kind"), PRIVATE.items())
def test_private_addresses(address: str, kind: str) -> None:
    assert private(ipaddress.ip_address(address)) == kind
    why = Guard().check_literal(address, 80)
    assert why is not None
    assert f"--allow-host {address}" in why


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    assert private(ipaddress.ip_address(address)) is None
    assert Guard().check_literal(address, 80) is None


def test_a_name_is_judged_by_what_it_resolves_to() -> None:
    guard = Guard()
    assert guard.check_literal("intranet.test", 80) is None
    with pytest.raises(Refused) as refused:
        guard.filter("intranet.test", 443, infos("10.1.2.3"))
    assert str(refused.value) == (
        f"{MARK}`intranet.test` (10.1.2.3) is a private address; "
        "to allow it, add `--allow-host intranet.test`"
    )
    assert guard.filter("public.test", 443, infos(PUBLIC[0])) == infos(PUBLIC[0])


def test_of_mixed_results_only_the_allowed_ones_are_left() -> None:
    assert Guard().filter("rebound.test", 443, infos("127.0.0.1", PUBLIC[0])) == infos(PUBLIC[0])


@pytest.mark.parametrize(
    "rule", ["internal.test", "INTERNAL.test", "*.test", "internal.test:443", "internal.test:*"]
)
def test_allowed_hosts(rule: str) -> None:
    guard = Guard.of([rule])
    assert guard.filter("internal.test", 443, infos("10.0.0.1")) == infos("10.0.0.1")
    assert guard.check("elsewhere.example", 443, "10.0.0.1") is not None


def test_a_rule_with_a_port_allows_no_other() -> None:
    guard = Guard.of(["127.0.0.1:8000"])
    assert guard.check_literal("127.0.0.1", 8000) is None
    assert guard.check_literal("127.0.0.1", 8001) is not None


def test_declared_targets_are_allowed() -> None:
    guard = Guard.of([], ["http://127.0.0.1:9000/base"])
    assert guard.check_literal("127.0.0.1", 9000) is None
    assert guard.check_literal("127.0.0.1", 9001) is not None


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "0.0.0.0", "::ffff:127.0.0.1"])
def test_its_own_ports_are_refused_whatever_is_allowed(address: str) -> None:
    guard = Guard.of(["*"])
    assert guard.check("anything", 8080, address) is None
    guard.listeners.add(8080)
    assert guard.check("anything", 8080, address) == "`anything:8080` is this proxy itself"


@pytest.mark.parametrize(
    ("family", "others", "own"),
    [
        (4, ["::1", "::"], ["127.0.0.1", "127.1.2.3", "0.0.0.0", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]),
        (6, ["127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1"], ["::1", "::", "64:ff9b::7f00:1"]),
    ],
)
def test_the_same_port_in_the_other_version_of_ip_is_another_program(
    family: int, others: list[str], own: list[str]
) -> None:
    guard = Guard(("*",), listeners={8080}, family=family)
    assert [guard.check("anything", 8080, one) for one in others] == [None] * len(others)
    assert [guard.is_listener(one, 8080) for one in own] == [True] * len(own)
    assert guard.is_listener("localhost", 8080)


def test_a_name_may_be_listened_on_in_both_versions() -> None:
    assert [family_of(host) for host in ("127.0.0.1", "0.0.0.0", "::1", "::", "fe80::1%lo", "localhost")] == [
        4, 4, 6, 6, 6, 0,
    ]  # fmt: skip


def test_an_empty_look_up_stays_empty() -> None:
    assert Guard().filter("nothing.test", 443, []) == []


MOCKED = Guard.of(
    ["*"],
    ["http://127.0.0.1:9", "https://tools.example"],
    local_only=True,
    remote_hosts=["A.example", "*.b.example"],
)
"""Everything is allowed, and only this machine and two hosts may be called."""


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "tools.localhost",
        "127.0.0.1",
        "127.9.9.9",
        "::1",
        "0.0.0.0",
        "::ffff:127.0.0.1",
    ],
)
def test_this_machine_may_be_called_where_nothing_else_may(host: str) -> None:
    assert is_local(host)
    assert MOCKED.check_remote(host) is None
    assert MOCKED.check(host, 80, "127.0.0.1") is None


@pytest.mark.parametrize("host", ["a.example", "A.EXAMPLE", "x.b.example"])
def test_a_named_exception_may_be_called(host: str) -> None:
    assert MOCKED.check_remote(host) is None
    assert MOCKED.check(host, 443, "93.184.216.34") is None


@pytest.mark.parametrize(
    "host",
    ["api.other.example", "b.example", "tools.example", "localhost.example", "8.8.8.8", "10.0.0.1", "::2"],
)
def test_no_other_host_is_called(host: str) -> None:
    assert not is_local(host)
    why = MOCKED.check_remote(host)
    assert why is not None
    assert why.endswith(f"add `--mock-except {host}` (`proxy.mock_except` in faultwire.yaml)")
    assert MOCKED.check(host, 443, "93.184.216.34") == why
    allowed = Guard.of(["*"])
    assert allowed.check_remote(host) is None
    assert allowed.check(host, 443, "93.184.216.34") is None


def test_a_local_name_that_resolves_elsewhere_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        MOCKED.filter("tools.localhost", 80, infos("93.184.216.34"))
    assert str(refused.value) == f"{MARK}`tools.localhost` (93.184.216.34) is not an address of this machine"


def test_loopback_is_refused_unless_it_is_allowed_as_without_the_mock() -> None:
    strict = Guard.of([], local_only=True)
    assert strict.check_remote("127.0.0.1") is None
    assert strict.check_literal("127.0.0.1", 80) == Guard().check_literal("127.0.0.1", 80) is not None


def test_the_table_is_what_the_registries_say() -> None:
    root = Path(__file__).parents[4]
    data = root / "tests" / "data" / "special_purpose"
    command = [
        sys.executable,
        str(root / "docs" / "special_purpose.py"),
        data / "ipv4.csv",
        data / "ipv6.csv",
    ]
    made = subprocess.run([*command, DATE], capture_output=True, text=True, check=True).stdout
    assert made == Path(special_purpose.__file__).read_text()
    assert len(special_purpose.SPECIAL) > 50


def test_names_that_resolve_to_addresses_in_disguise() -> None:
    for address in (
        "::7f00:1",
        "64:ff9b:1::a9fe:a9fe",
        "2002:7f00:1::",
        "2001:0:808:808::80ff:fffe",
        "fec0::1",
    ):
        with pytest.raises(Refused):
            Guard().filter("names.test", 443, infos(address))
    assert registries.embedded(ipaddress.ip_address("2606:4700::1")) == ()


def test_an_address_in_disguise_is_not_this_machine() -> None:
    """With `--mock` nothing leaves: what is routed to a relay does."""
    guard = Guard(("*",), local_only=True)
    assert guard.check("x.test", 80, "::ffff:127.0.0.1") is None
    assert guard.check("x.test", 80, "64:ff9b::7f00:1") is not None


def test_a_workbench_is_refused_whatever_is_allowed_and_only_while_it_is_there(tmp_path: Path) -> None:
    guard = Guard.of(["127.0.0.1", "localhost"])
    guard.workbenches = tmp_path
    assert guard.check("127.0.0.1", 8000, "127.0.0.1") is None
    with (tmp_path / "8000").open("w") as held:
        assert guard.check("127.0.0.1", 8000, "127.0.0.1") is None  # left behind by one that was killed
        fcntl.flock(held, fcntl.LOCK_EX)
        for address in ("127.0.0.1", "::1", "0.0.0.0", "::ffff:127.0.0.1"):
            assert "workbench" in (guard.check("127.0.0.1", 8000, address) or "")
        assert guard.check("127.0.0.1", 8001, "127.0.0.1") is None
        assert guard.check("a.example", 8000, "93.184.216.34") is None
    assert guard.check("127.0.0.1", 8000, "127.0.0.1") is None
