"""A process that records without end, until it is killed. Run by `test_kill.py`.

Mixed load: JSON, streams that stay open across commits, now and then a megabyte, sessions that come
and go. `--early` acknowledges before the commit: the mistake that the test must be able to see.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.clock import pause
from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.tape.record.writer import TapeWriter

if TYPE_CHECKING:
    from faultwire.tape.record.recorder import Recording

JSON = (("content-type", "application/json"), ("authorization", "Bearer sk-ant-REDACTED-000000000000"))
SSE = (("content-type", "text/event-stream"),)
FIRED = FaultFired("status", "status", "response", "fired", "rolled 0.1, under 0.5", "k", 0, 0, 0.1)


class Early(TapeWriter):
    """Says that exchanges are safe before they are."""

    def _settle(self, ended: list[Recording]) -> None:
        assert self._journal is not None
        if ended:
            self._journal.acknowledge(recording.exchange for recording in ended)
        pause(0.1)
        self._commit()


def main(folder: Path, early: bool) -> None:
    kind = Early if early else TapeWriter
    writer = kind.create(folder / "t.tape", origin="p/t", settings={}, journal=folder / "events.jsonl")
    streams: list[Recording] = []
    number = 0
    for turn in range(1_000_000):
        session = f"s{turn // 50}"
        if turn % 50 == 0:
            writer.open_session(session, profile="calm", profile_digest="", seed=turn)
        number += 1
        recording = begin(writer, session, number, JSON)
        size = 1_000_000 if turn % 97 == 0 else 2000
        recording.upstream_chunk(b'{"n":%d,"text":"%s"}' % (number, b"x" * size))
        recording.end("complete", None, (FIRED,))
        number += 1
        streams.append(begin(writer, session, number, SSE))
        for stream in streams:
            stream.upstream_chunk(b'data: {"delta":{"content":"word %d "}}\n\n' % turn)
        if len(streams) > 8:
            streams.pop(0).end("complete")
        if turn % 50 == 49:
            for stream in streams:
                stream.end("client_aborted", "left")
            streams.clear()
            writer.close_session(session)
        while writer.behind > 2_000_000:
            pause(0.001)
        pause(0.0005)


def begin(writer: TapeWriter, session: str, number: int, head: tuple[tuple[str, str], ...]) -> Recording:
    request = Request("POST", "https", "h", 443, "/v1", JSON, b'{"n":%d}' % number)
    recording = writer.record(Exchange(session, number, request, "llm"))
    recording.request(request)
    recording.upstream_head(Response(200, "OK", head))
    return recording


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--early" in sys.argv)
