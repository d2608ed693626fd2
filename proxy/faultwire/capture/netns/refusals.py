"""Sees which connections a network namespace refuses: the kernel's answers where nobody listens.

Every address is local there, so that a SYN to a port without a listener is answered on `lo` by RST and ACK
with the sequence number 0 (RFC 9293 §3.10.7.1), and a UDP packet by an ICMP message, port unreachable
(RFC 1122 §4.1.3.1, RFC 4443 §3.1). A packet socket with a filter in the kernel passes nothing else, so that
traffic that is served costs nothing here. Pure: what a filter is, and what a packet that came through says.
"""

from __future__ import annotations

import ctypes
import socket
import struct

SO_ATTACH_FILTER = 26
ETH_P_IP, ETH_P_IPV6 = 0x0800, 0x86DD

_LDB_ABS, _LDB_IND, _LD_ABS, _LD_IND, _LDXB_MSH = 0x30, 0x50, 0x20, 0x40, 0xB1
_AND, _JEQ, _RET = 0x54, 0x15, 0x06
_FLAGS, _RST_ACK = 0x17, 0x14
"""FIN, SYN, RST and ACK; of these RST and ACK."""
_TCP, _ICMP, _ICMPV6 = 6, 1, 58
_KEEP, _DROP = 0xFFFF, 0

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, operand (`linux/filter.h`)."""

IPV4: tuple[Instruction, ...] = (
    (_LDB_ABS, 0, 0, 9),  # 0: the protocol
    (_JEQ, 0, 6, _TCP),  # 1: no: 8
    (_LDXB_MSH, 0, 0, 0),  # 2: X = length of the IP header
    (_LDB_IND, 0, 0, 13),
    (_AND, 0, 0, _FLAGS),
    (_JEQ, 0, 7, _RST_ACK),  # 5: no: 13
    (_LD_IND, 0, 0, 4),  # 6: the sequence number
    (_JEQ, 4, 5, 0),  # 7: yes: 12, no: 13
    (_JEQ, 0, 4, _ICMP),  # 8: no: 13
    (_LDXB_MSH, 0, 0, 0),
    (_LDB_IND, 0, 0, 0),
    (_JEQ, 0, 1, 3),  # 11: destination unreachable
    (_RET, 0, 0, _KEEP),
    (_RET, 0, 0, _DROP),
)
IPV6: tuple[Instruction, ...] = (
    (_LDB_ABS, 0, 0, 6),  # 0: the next header
    (_JEQ, 0, 5, _TCP),  # 1: no: 7
    (_LDB_ABS, 0, 0, 40 + 13),
    (_AND, 0, 0, _FLAGS),
    (_JEQ, 0, 6, _RST_ACK),  # 4: no: 11
    (_LD_ABS, 0, 0, 40 + 4),
    (_JEQ, 3, 4, 0),  # 6: yes: 10, no: 11
    (_JEQ, 0, 3, _ICMPV6),  # 7: no: 11
    (_LDB_ABS, 0, 0, 40),
    (_JEQ, 0, 1, 1),  # 9: destination unreachable
    (_RET, 0, 0, _KEEP),
    (_RET, 0, 0, _DROP),
)


def watch(interface: str, protocol: int) -> socket.socket:
    """A packet socket that sees what is refused on an interface. Raises OSError (CAP_NET_RAW is needed)."""
    program = IPV4 if protocol == ETH_P_IP else IPV6
    code = b"".join(struct.pack("=HBBI", *one) for one in program)
    room = ctypes.create_string_buffer(code)
    # Protocol 0: it sees nothing until it is bound, and then only what its filter lets through.
    found = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, 0)
    try:
        attached = struct.pack("@HP", len(program), ctypes.addressof(room))
        found.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, attached)
        found.bind((interface, protocol))
    except BaseException:
        found.close()
        raise
    return found
