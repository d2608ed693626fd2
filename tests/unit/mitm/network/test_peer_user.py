"""What the kernel says of a connection's owner, read from bytes; real sockets are in tests/e2e/attacks."""

from __future__ import annotations

import struct
import sys

import pytest

from faultwire.mitm.network import peer_user

TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:C350 0100007F:0FA0 01 00000000:00000000 00:00000000 00000000  1234        0 777 1
   1: 0100007F:C351 0100007F:0FA0 06 00000000:00000000 03:00000000 00000000     0        0 0 3
""".splitlines()


def answer(state: int, user: int, inode: int, kind: int = 20) -> bytes:
    body = struct.pack("=BBBB48xIIIII", 2, state, 0, 0, 0, 0, 0, user, inode)
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 1, 0) + body


def test_the_owner_of_a_socket_that_is_open() -> None:
    assert peer_user.read(answer(1, 1234, 5)) == 1234


@pytest.mark.parametrize(("state", "inode"), [(1, 0), (10, 5)])
def test_a_closed_one_and_one_that_listens_are_nobodys(state: int, inode: int) -> None:
    assert peer_user.read(answer(state, 0, inode)) is None


def test_no_such_socket_and_an_error_are_different() -> None:
    def failed(code: int) -> bytes:
        return struct.pack("=IHHIIi16x", 36, 2, 0, 1, 0, -code)

    assert peer_user.read(failed(2)) is None
    for bad in (failed(1), b"", answer(1, 1, 1)[:40], answer(1, 1, 1, kind=3)):
        with pytest.raises(OSError, match="sock_diag"):
            peer_user.read(bad)


def test_a_question_names_both_ends_and_a_mapped_address_is_an_ipv4_one() -> None:
    plain = peer_user.question(("127.0.0.1", 50000), ("127.0.0.1", 4000))
    mapped = peer_user.question(("::ffff:127.0.0.1", 50000), ("::ffff:127.0.0.1", 4000))
    assert plain == mapped
    assert plain[16] == 2
    assert plain[24:28] == (50000).to_bytes(2) + (4000).to_bytes(2)
    assert peer_user.question(("::1", 1), ("::1", 2))[16] == 10


@pytest.mark.skipif(sys.byteorder != "little", reason="the table is written in the machine's byte order")
def test_a_table_of_proc() -> None:
    ours = ("127.0.0.1", 4000)
    assert peer_user.find(TABLE, ("127.0.0.1", 50000), ours, version6=False) == 1234
    assert peer_user.find(TABLE, ("127.0.0.1", 50001), ours, version6=False) is None
    assert peer_user.find(TABLE, ("127.0.0.1", 50002), ours, version6=False) is None
