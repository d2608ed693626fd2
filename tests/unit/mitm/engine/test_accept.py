"""A relay passes on bytes, and the end of either side."""

from __future__ import annotations

import asyncio

from faultwire.mitm.engine.accept import _pass


class Writer:
    """Takes what is written; `fails` after so many pieces."""

    def __init__(self, fails: int = 99) -> None:
        self.pieces: list[bytes] = []
        self.ended = False
        self._fails = fails

    def write(self, data: bytes) -> None:
        self.pieces.append(data)

    async def drain(self) -> None:
        if len(self.pieces) >= self._fails:
            raise ConnectionResetError

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True


def passed(writer: Writer, *pieces: bytes) -> Writer:
    async def run() -> None:
        reader = asyncio.StreamReader()
        for piece in pieces:
            reader.feed_data(piece)
        reader.feed_eof()
        await _pass(reader, writer)  # type: ignore[arg-type]

    asyncio.run(run())
    return writer


def test_all_is_passed_on_and_then_the_end() -> None:
    found = passed(Writer(), b"abc", b"def")
    assert b"".join(found.pieces) == b"abcdef"
    assert found.ended


def test_a_peer_that_is_gone_ends_it() -> None:
    assert not passed(Writer(fails=1), b"abc").ended
