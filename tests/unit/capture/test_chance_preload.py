from __future__ import annotations

import pytest

from faultwire.capture.chance_preload import Stream


def test_bytes_follow_from_the_key_and_come_once() -> None:
    one, other, third = Stream("a"), Stream("a"), Stream("b")
    taken = [one.read(8) for _ in range(4)]
    assert taken == [other.read(8) for _ in range(4)]
    assert len({*taken, *(third.read(8) for _ in range(4))}) == 8
    assert one.read(0) == b""
    assert 0 <= one.number() < 1 << 256
    with pytest.raises(ValueError, match="negative"):
        one.read(-1)


def test_forked_processes_have_streams_of_their_own() -> None:
    """As the interpreter calls it: before each fork in the parent, and after it in the child's copy."""
    made = []
    for number in (1, 2):
        parent = Stream("a")
        for _ in range(number):
            parent.before_fork()
        parent.in_child()
        made.append(parent.read(8))
    assert len({*made, Stream("a").read(8)}) == 3
