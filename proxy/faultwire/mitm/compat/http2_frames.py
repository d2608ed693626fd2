"""What one peer of an HTTP/2 connection may make us keep: read off the headers of its frames, as they come.

h2 waits for a whole frame before it looks at its length, and for the last frame of a header block for as long
as its peer likes. Nothing of a frame is kept here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mitmproxy.proxy.layers.http._base import HttpEvent
from mitmproxy.proxy.layers.http._http_h2 import BufferedH2Connection

PREFACE = 24
"""Bytes with which a client begins (RFC 9113 §3.4)."""
HEADER = 9
"""Bytes of a frame's header (RFC 9113 §4.1)."""
HEADERS, SETTINGS, PUSH_PROMISE, CONTINUATION = 1, 4, 5, 9
ACK, END_HEADERS = 0x1, 0x4
LONGEST = 128 * 1024
"""Bytes of one frame: what mitmproxy announces that it takes."""
MOST_FRAMES = 64
"""Frames of one header block: a block of the longest that is taken needs five."""
MOST_BYTES = 64 * 1024
"""Bytes of one header block, which is never longer than the fields in it."""
MOST_SETTINGS = 100
SETTINGS_A_SECOND = 1.0
MOST_RESETS = 500
RESETS_A_SECOND = 33.0
"""Node takes 1,000 at once, and as many a second. A client that gives up a hundred at once stays below."""
MOST_TABLE = 64 * 1024
"""Bytes of the table that we keep to shorten what we send; a peer may offer room for 4 GB."""


@dataclass(slots=True)
class Allowance:
    """So many at once, and so many more a second after that. Times are in seconds."""

    most: int
    a_second: float
    left: float = field(init=False)
    at: float = 0.0

    def __post_init__(self) -> None:
        self.left = float(self.most)

    def take(self, now: float) -> bool:
        """One more; False where it is one too many."""
        self.left = min(float(self.most), self.left + max(0.0, now - self.at) * self.a_second)
        self.at = now
        if self.left < 1.0:
            return False
        self.left -= 1.0
        return True


class FrameReader:
    """The frames of one direction, which begins with a preface where it is a client's."""

    def __init__(self, *, client: bool) -> None:
        self.pending = 0
        """The number of the header block, or preface, that has begun and not ended; 0 where none has."""
        self._preface = PREFACE if client else 0
        self._settings = Allowance(MOST_SETTINGS, SETTINGS_A_SECOND)
        self._header = bytearray()
        self._left = 0
        self._begun = 0
        self._ends = True
        """Does the frame that is being read end what is pending?"""
        self._frames = self._bytes = 0

    def feed(self, data: bytes, now: float) -> str | None:
        """What came, at this moment in seconds. Returns what must not be, if something is."""
        view, at = memoryview(data), 0
        if self._preface and data:
            self._begin()
            at = min(self._preface, len(view))
            self._preface -= at
            if self._preface:
                return None
            self.pending = 0
        while at < len(view):
            if not self._left:
                step = min(HEADER - len(self._header), len(view) - at)
                self._header += view[at : at + step]
                at += step
                if len(self._header) < HEADER:
                    return None
                flaw = self._frame(now)
                if flaw is not None:
                    return flaw
            step = min(self._left, len(view) - at)
            self._left -= step
            at += step
            if not self._left:
                self._header.clear()
                if self._ends:
                    self.pending = 0
        return None

    def _begin(self) -> None:
        if not self.pending:
            self._begun += 1
            self.pending = self._begun
            self._frames = self._bytes = 0

    def _frame(self, now: float) -> str | None:
        """A frame begins: its header is known."""
        head = self._header
        self._left = int.from_bytes(head[:3], "big")
        kind, flags = head[3], head[4]
        if self._left > LONGEST:
            return f"a frame of {self._left} bytes, of at most {LONGEST}"
        block = kind in (HEADERS, PUSH_PROMISE, CONTINUATION)
        self._ends = not block or bool(flags & END_HEADERS)
        if block:
            self._begin()
            self._frames += 1
            self._bytes += self._left
            if self._frames > MOST_FRAMES:
                return f"a header block in more than {MOST_FRAMES} frames"
            if self._bytes > MOST_BYTES:
                return f"a header block of more than {MOST_BYTES} bytes"
        elif kind == SETTINGS and not flags & ACK and not self._settings.take(now):
            return f"more than {MOST_SETTINGS} frames of settings"
        return None


WINDOW = 1024 * 1024
"""Bytes that a server may send in one stream before we have taken any of them. mitmproxy announces 2 GB, and
opens it again with every byte, so that what waits in memory would have no bound."""


class Withholding(BufferedH2Connection):
    """Frames and states, in which the windows of some streams stay as they are."""

    withheld: dict[int, int]
    """Bytes that came in such a stream, for which no window was opened again. That of the connection has room
    for 2,000 streams of this kind."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.withheld = {}

    def limit_streams(self) -> None:
        """Announce a window that is worth withholding."""
        self.local_settings.initial_window_size = WINDOW
        self.local_settings.acknowledge()  # else the old value is sent

    def withhold(self, stream_id: int) -> None:
        """Open a stream's window no more."""
        self.withheld.setdefault(stream_id, 0)

    def read_on(self, stream_id: int) -> None:
        """Open it by all that came meanwhile; of a stream that is over, that of the connection."""
        size = self.withheld.pop(stream_id, 0)
        if size:
            super().acknowledge_received_data(size, stream_id)

    def acknowledge_received_data(self, acknowledged_size: int, stream_id: int) -> None:
        """Open the windows again, unless they are withheld."""
        if stream_id in self.withheld:
            self.withheld[stream_id] += acknowledged_size
        else:
            super().acknowledge_received_data(acknowledged_size, stream_id)


class ReadOn(HttpEvent):
    """What was withheld of a stream may come."""


@dataclass
class ResetStream(HttpEvent):
    """A fault ends a stream towards a client, with this code."""

    error: int


@dataclass
class Leaving(HttpEvent):
    """A fault lets a client's connection take no more calls. Is this stream's still `answered`?"""

    error: int
    answered: bool
