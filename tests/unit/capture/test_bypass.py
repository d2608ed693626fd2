"""The kernel's tables of sockets, line by line."""

from __future__ import annotations

import pytest

from faultwire.capture.bypass import OutboundSocket, counts, is_loopback, plain, read_table
from faultwire.events import Bypass

HEAD = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode      "
    "                                               \n"
)


def line(local: str, remote: str, state: str, inode: object = 4743378) -> str:
    return (
        f"   0: {local} {remote} {state} 00000000:00000000 02:000008E4 00000000     0        0 {inode} "
        "2 000000007fc3fd3f 20 4 30 10 -1\n"
    )


def peers(text: str, transport: str = "tcp", order: str = "little") -> list[str]:
    return [one.to.text for one in read_table(HEAD + text, transport, order).open]


def test_an_ipv4_line() -> None:
    # 127.0.0.1:34152 to 203.0.113.5:443, as a little-endian kernel writes it
    found = read_table(HEAD + line("0100007F:8568", "057100CB:01BB", "01"), "tcp", "little")
    assert found.open == [OutboundSocket(4743378, 34152, Bypass("203.0.113.5", 443))]
    assert found.listening == set()


def test_the_same_words_of_a_big_endian_machine() -> None:
    assert peers(line("7F000001:8568", "CB007105:01BB", "01"), order="big") == ["203.0.113.5:443"]


def test_ipv6_comes_in_four_words_each_turned_around() -> None:
    remote = "B80D0120000000000000000007000000"
    assert peers(line(f"{'0' * 32}:8568", f"{remote}:01BB", "01")) == ["[2001:db8::7]:443"]
    straight = "20010DB8000000000000000000000007"
    assert peers(line(f"{'0' * 32}:8568", f"{straight}:01BB", "01"), order="big") == ["[2001:db8::7]:443"]


def test_an_ipv4_address_in_ipv6_is_the_ipv4_one() -> None:
    mapped = "0000000000000000FFFF0000057100CB"
    assert peers(line(f"{'0' * 32}:8568", f"{mapped}:01BB", "02")) == ["203.0.113.5:443"]


@pytest.mark.parametrize(
    ("state", "held"),
    [
        ("01", True),  # ESTABLISHED
        ("02", True),  # SYN_SENT
        ("03", False),  # SYN_RECV: somebody connects to us
        ("04", True),  # FIN_WAIT1
        ("05", True),  # FIN_WAIT2
        ("06", False),  # TIME_WAIT: nobody holds it
        ("07", False),  # CLOSE
        ("08", True),  # CLOSE_WAIT
        ("09", False),  # LAST_ACK
        ("0A", False),  # LISTEN
        ("0B", False),  # CLOSING
    ],
)
def test_states(state: str, held: bool) -> None:
    assert bool(peers(line("0100007F:8568", "057100CB:01BB", state))) is held


def test_ports_that_are_listened_on() -> None:
    text = HEAD + line("00000000:1F90", "00000000:0000", "0A") + line("0100007F:0050", "00000000:0000", "0A")
    assert read_table(text, "tcp", "little").listening == {8080, 80}
    assert read_table(text, "udp", "little").listening == set()


def test_a_connected_udp_socket() -> None:
    text = line("0100007F:8568", "057100CB:01BB", "01") + line("00000000:14E9", "00000000:0000", "07")
    assert peers(text, "udp") == ["203.0.113.5:443/udp"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "nonsense\n",
        "a b c d e f g h i j k\n",
        line("0100007F:8568", "057100CB", "01"),
        line("0100007F:8568", "057100CB:", "01"),
        line("0100007F:8568", "057100CB:1BB", "01"),
        line("0100007F:8568", "057100CB:01BBB", "01"),
        line("0100007F:8568", "057100CB:XXXX", "01"),
        line("0100007F:8568", "057100C:01BB", "01"),
        line("0100007F:8568", "057100CBCB:01BB", "01"),
        line("0100007F:8568", f"{'0' * 31}:01BB", "01"),
        line("0100007F:8568", "QQ7100CB:01BB", "01"),
        line("0100007F", "057100CB:01BB", "01"),
        line("0100007F:8568", "057100CB:01BB", "01", 0),  # nobody holds it
        line("0100007F:8568", "057100CB:01BB", "01", "-3"),
        line("0100007F:8568", "057100CB:01BB", "01", "x"),
        line("0100007F:8568", "057100CB:01BB", "zz"),
        line("00000000:QQQQ", "00000000:0000", "0A"),
    ],
)
def test_a_line_that_is_not_as_it_must_be_hides_no_other(text: str) -> None:
    good = line("0100007F:8568", "057100CB:01BB", "01")
    assert peers(text + good) == ["203.0.113.5:443"]
    assert read_table(HEAD + text + good, "tcp", "little").listening == set()


def test_a_table_without_a_line_and_none_at_all() -> None:
    assert peers("") == []
    assert read_table("", "tcp").open == []


@pytest.mark.parametrize(
    ("peer", "possible"),
    [
        (Bypass("203.0.113.5", 443), True),
        (Bypass("203.0.113.5", 5432), True),
        (Bypass("127.0.0.1", 5432), True),  # whether this machine counts is for those who know the run
        (Bypass("203.0.113.5", 53), False),
        (Bypass("203.0.113.5", 53, "udp"), False),
        (Bypass("203.0.113.5", 443, "udp"), True),
        (Bypass("203.0.113.5", 123, "udp"), False),
        (Bypass("0.0.0.0", 443), False),
        (Bypass("::", 443), False),
        (Bypass("203.0.113.5", 0), False),
    ],
)
def test_what_can_be_a_bypass(peer: Bypass, possible: bool) -> None:
    assert counts(peer) is possible


def test_addresses() -> None:
    assert plain(bytes([203, 0, 113, 5])) == "203.0.113.5"
    assert plain(bytes(10) + b"\xff\xff\x7f\0\0\1") == "127.0.0.1"
    assert (plain(bytes(4)), plain(bytes(16)), plain(bytes(10) + b"\xff\xff" + bytes(4))) == (
        "0.0.0.0",
        "::",
        "0.0.0.0",
    )
    assert plain(bytes(12) + bytes([203, 0, 113, 5])) == "::cb00:7105"  # deprecated, and no mapped one
    assert (is_loopback("127.8.0.1"), is_loopback("::1"), is_loopback("10.0.0.1")) == (True, True, False)
