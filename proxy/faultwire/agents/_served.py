"""What agents have in common that are servers: they are asked over HTTP, run behind the proxy as one
process for all cells, and say by the trace context which cell a call of theirs belongs to."""

from __future__ import annotations

import codecs
import threading
from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass, replace
from email.message import Message
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from faultwire import clock
from faultwire.agents._dial import Dialler, HttpReply, NoReply
from faultwire.agents._process import Processes
from faultwire.agents._request import call, pieces
from faultwire.agents._reset import NO_RESET, failed, quotable
from faultwire.events import AgentResult, header, with_header

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.agents._api import Asked
    from faultwire.agents._request import Call
    from faultwire.agents._reset import Resetting
    from faultwire.agents.server import Server
    from faultwire.events import Headers
    from faultwire.mutations._request import RequestChange

FAILED = 1
"""The exit code of a call that brought no answer: agents that are servers have none of their own."""
SHOWN = 300
"""Characters of a failing answer that are quoted."""


@dataclass
class Served(ABC):
    """An agent that is a server. `propagates`: it hands the trace context on to what it calls.

    `server` is there where we have started it.
    """

    endpoint: str
    headers: Headers = ()
    timeout_s: float = 30.0
    propagates: bool = False
    resetting: Resetting = NO_RESET
    server: Server | None = None
    network: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._dialler = Dialler()
        self._processes = Processes()

    @property
    def label(self) -> str:
        """Its address, without user and query."""
        url = urlsplit(self.endpoint)
        port = f":{url.port}" if url.port else ""
        return f"{url.scheme}://{url.hostname}{port}{url.path}"

    @property
    def concurrent(self) -> bool:
        """Only a call that names its session can be separated from those of other cells."""
        return self.propagates and not self.resets

    @property
    def resets(self) -> bool:
        """Is it made to forget before each invocation?"""
        return self.resetting.any

    def reset(self, env: Mapping[str, str]) -> None:
        """Make it forget. Raises AgentError where that fails."""
        self.resetting.reset(self._processes, self._dialler)

    def invoke(self, asked: Asked, env: Mapping[str, str]) -> AgentResult:
        """Ask once; whatever its server does is a result. Raises AgentError where it cannot be run."""
        if self.server is not None:
            self.server.ready()
        started = clock.monotonic()
        with asked.watch(self.server.pid) if self.server is not None else nullcontext():
            result = self.call(asked, trace(self.headers, env))
        if result.timed_out and self.server is not None and not self.propagates:
            # What it still does for this cell would count for the next one.
            self.server.stale()
        duration = clock.monotonic() - started - result.paused_s
        news = (
            "" if self.server is None else self.server.news(failed=not (result.replied or result.timed_out))
        )
        stderr = "\n".join(filter(None, (result.why, news)))
        return AgentResult(result.answer, result.code, duration, stderr, result.timed_out, result.misplaced)

    def stop(self) -> None:
        """End every running invocation; their `invoke` calls return."""
        self._dialler.stop()
        self._processes.stop()

    @abstractmethod
    def call(self, asked: Asked, headers: Headers) -> CallResult:
        """What it says to a whole conversation. `headers` are to be sent with each request."""

    @abstractmethod
    def read(self, reply: HttpReply) -> CallResult:
        """The answer in a reply with a status of 2xx."""

    # ------------------------------------------------------------ one request

    def ask(self, request: Call, change: RequestChange | None) -> tuple[CallResult, HttpReply | None]:
        """Send one request, changed where that is asked for, and read what comes back."""
        copies = change.copies if change is not None else 1
        if change is None or copies < 2:
            return self._once(request, change)
        same = replace(change, copies=1, pause_s=0.0)
        return self._at_the_same_time(request, same, copies, change.pause_s), None

    def _once(self, request: Call, change: RequestChange | None) -> tuple[CallResult, HttpReply | None]:
        pause_s = change.pause_s if change is not None else 0.0
        try:
            reply = self._dialler.ask(
                request, pieces(request, change), timeout_s=self.timeout_s, pause_s=pause_s
            )
        except NoReply as error:
            return failed_call(error), None
        return self._judged(reply, changed=change is not None), reply

    def _at_the_same_time(
        self, request: Call, change: RequestChange, copies: int, gap_s: float
    ) -> CallResult:
        """Send it several times. Returns the first answer; a server error to any of them is reported."""
        found: list[tuple[CallResult, HttpReply | None]] = [(CallResult("", FAILED), None)] * copies

        def one(at: int) -> None:
            found[at] = self._once(request, change)

        threads = [threading.Thread(target=one, args=(at,), daemon=True) for at in range(copies)]
        for thread in threads:
            thread.start()
            if gap_s:
                self._dialler.wait(gap_s)
        for thread in threads:
            thread.join()
        result = found[0][0]
        broken = [one for one, reply in found if reply is None or reply.status >= 500]
        counted: dict[str, int] = {}
        for _, reply in found:
            word = status_line(reply) if reply is not None else "no answer"
            counted[word] = counted.get(word, 0) + 1
        why = f"faultwire: {copies} of the same request at once: " + ", ".join(
            f"{word} ({count})" for word, count in counted.items()
        )
        return replace(
            result,
            code=result.code or (broken[0].code if broken else 0),
            why="\n".join(filter(None, (result.why, why))),
        )

    def _judged(self, reply: HttpReply, *, changed: bool) -> CallResult:
        if 400 <= reply.status < 500 and changed:
            # To turn a malformed request away is what a sound server does.
            why = f"faultwire: the changed request was answered {status_line(reply)}"
            return CallResult(text_of(reply), 0, why)
        return self.read(reply) if 200 <= reply.status < 300 else refused(reply)


@dataclass(frozen=True, slots=True)
class CallResult:
    """What came of asking. `why` tells it in words where it is not a plain answer."""

    answer: str
    code: int | None = 0
    why: str = ""
    timed_out: bool = False
    replied: bool = True
    """Did its server answer at all?"""
    misplaced: str = ""
    """What stood in place of the answer, where the configuration looks for it in the wrong place."""
    paused_s: float = 0.0
    """How long its user waited between turns: no time of the agent's."""

    @property
    def well(self) -> bool:
        """Is it an answer?"""
        return self.code == 0


def failed_call(error: NoReply) -> CallResult:
    """There was no answer."""
    code = None if error.timed_out else FAILED
    return CallResult("", code, f"faultwire: the agent {error.why}", error.timed_out, replied=False)


def status_line(reply: HttpReply) -> str:
    """For example `HTTP 503 Service Unavailable`."""
    return f"HTTP {reply.status} {reply.reason}".rstrip()


def refused(reply: HttpReply) -> CallResult:
    """A failed answer; it keeps the text, so that a report can show what was wrong."""
    excerpt = " ".join(quotable(text_of(reply), SHOWN).split())
    where = header(reply.headers, "location") if 300 <= reply.status < 400 else None
    more = f" to `{where}`, and redirects are not followed" if where else f": {excerpt}" if excerpt else ""
    return CallResult("", FAILED, f"faultwire: the agent answered {status_line(reply)}{more}")


def text_of(reply: HttpReply) -> str:
    """The body as text, by the charset that it names; without one it is UTF-8."""
    about = Message()
    about["content-type"] = header(reply.headers, "content-type") or ""
    charset = about.get_content_charset() or "utf-8"
    try:
        known = codecs.lookup(charset)
        text = reply.body.decode(charset, "replace") if known._is_text_encoding else None
    except (LookupError, UnicodeError, ValueError):
        text = None
    if text is None:
        text = reply.body.decode("utf-8", "replace")
    return f"{text}\n[{reply.dropped} more bytes were not kept]" if reply.dropped else text


def trace(headers: Headers, env: Mapping[str, str]) -> Headers:
    """The user's header fields and the session's trace context (W3C Trace Context, W3C Baggage)."""
    parent, baggage = env.get("TRACEPARENT"), env.get("BAGGAGE")
    if parent:
        headers = with_header(with_header(headers, "tracestate", None), "traceparent", parent)
    if baggage:
        theirs = header(headers, "baggage")
        ours = baggage.rpartition(",")[2].strip() if theirs else baggage
        headers = with_header(headers, "baggage", f"{theirs},{ours}" if theirs else ours)
    return headers


def call_to_reset(address: str, headers: Headers, timeout_s: float, dialler: Dialler) -> None:
    """POST to the address that makes an agent forget. Raises AgentError."""
    url = urlsplit(address)
    request = call("POST", url, headers=headers)
    try:
        reply = dialler.ask(request, pieces(request), timeout_s=timeout_s)
    except NoReply as error:
        raise failed(f"`{url.path}` {error.why}") from None
    if not 200 <= reply.status < 300:
        raise failed(f"`{url.path}` answered {status_line(reply)}, expected 2xx", text_of(reply))
