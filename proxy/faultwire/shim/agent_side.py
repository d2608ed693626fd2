"""The agent's side: lines from it become requests through the proxy, and answers become lines to it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import httpx

from faultwire import _core
from faultwire.errors import WireError
from faultwire.shim.bridge import COUNT, TOKEN
from faultwire.wire import json_bytes
from faultwire.wire.framing import split as framing, sse
from faultwire.wire.mcp import http as mcp, jsonrpc as mcp_jsonrpc

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.shim.bridge import Bridge
    from faultwire.wire.mcp.jsonrpc import Id

ORDERED_S = 0.25
"""How long a message waits for the one before it to reach the server. A fault may hold that one up for
longer; then later messages overtake it, as they would overtake a slow call."""
LAST_S = 5.0
"""How long open requests may still take once the agent has ended, and once the server has."""
CLOSED = -32000
_NO_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=64)


def through(proxy: str) -> httpx.AsyncClient:
    """A client of the proxy's that waits as long as it must."""
    return httpx.AsyncClient(proxy=proxy, timeout=None, limits=_NO_LIMITS, trust_env=False)


class AgentSide:
    """Sends the agent's messages and says what comes back. `say` is given one line without its end."""

    def __init__(
        self, url: str, client: httpx.AsyncClient, token: str, bridge: Bridge, write: Callable[[bytes], None]
    ) -> None:
        self._url = url
        self._bridge = bridge
        self._write = write
        self._token = f"Bearer {token}"
        self._count = 0
        self._version = mcp_jsonrpc.VERSIONS[-2]
        self._tasks: set[asyncio.Task[None]] = set()
        self._client = client

    async def listen(self) -> None:
        """Hear what the server says unasked, until it ends."""
        headers = {TOKEN: self._token, "accept": "text/event-stream", mcp.VERSION: self._version}
        try:
            async with self._client.stream("GET", self._url, headers=headers) as response:
                await self._relay(response, None)
        except httpx.RequestError:
            return  # a fault closed it; requests and their answers go on

    async def send(self, line: bytes) -> None:
        """Send a message; returns once the next one may follow."""
        self._count += 1
        number = str(self._count)
        arrived = asyncio.ensure_future(self._bridge.arrival(number).wait())
        task = asyncio.ensure_future(self._post(line, number))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait({task, arrived}, timeout=ORDERED_S, return_when=asyncio.FIRST_COMPLETED)
        arrived.cancel()

    async def idle(self) -> None:
        """Let the messages under way come to their end, for `LAST_S`: an answer may never come, where a fault
        holds it up or where the agent cancelled its request."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_S):
                while self._tasks:
                    await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """Hang up, once nothing is under way any more."""
        await self.idle()
        for task in self._tasks:
            task.cancel()
        await self._client.aclose()

    async def _post(self, line: bytes, number: str) -> None:
        ident = self._read(line)
        headers = {
            TOKEN: self._token,
            COUNT: number,
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            mcp.VERSION: self._version,
        }
        try:
            async with self._client.stream("POST", self._url, content=line, headers=headers) as response:
                answered = await self._relay(response, ident)
        except httpx.RequestError:
            answered = False
        if ident is not None and not answered:
            self._write(mcp_jsonrpc.error(ident, CLOSED, "Connection closed"))

    def _read(self, line: bytes) -> Id | None:
        """The id of the request in this line; the version that the client speaks is noted."""
        try:
            messages = mcp.messages(line)
        except WireError:
            return None
        for one in messages:
            wanted = one.params.get("protocolVersion")
            if one.method == "initialize" and wanted in mcp_jsonrpc.VERSIONS:
                self._version = wanted
        return next((one.id for one in messages if one.is_request), None)

    async def _relay(self, response: httpx.Response, ident: Id | None) -> bool:
        """Say what a response holds; was there anything that answers?"""
        headers = tuple(response.headers.items())
        if response.status_code < 300 and framing.content_type(headers) == framing.SSE:
            return await self._relay_events(response)
        body = (await response.aread()).strip()
        if response.status_code == 202 or (not body and ident is None):
            return True
        if ident is None:
            return True  # a notification that was refused: stdio has no word for that
        if response.status_code < 300:
            self._write(_one_line(body)) if body else None
            return bool(body)
        self._write(_refused(body, response.status_code, ident))
        return True

    async def _relay_events(self, response: httpx.Response) -> bool:
        splitter, answered = _core.SseSplitter(), False
        async for data in response.aiter_bytes():
            for event in splitter.feed(data):
                fields = sse.fields(event)
                if fields is None or fields.name not in ("", "message") or not fields.data:
                    continue
                self._write(_one_line(fields.data))
                answered = (
                    answered
                    or not mcp.event_messages(event)
                    or any(one.is_answer for one in mcp.event_messages(event))
                )
        return answered


def _refused(body: bytes, status: int, ident: Id) -> bytes:
    """An HTTP error in the only form that stdio has: the error of the request."""
    try:
        found = json_bytes.load_object(body)
    except WireError:
        found = {}
    if found.get("jsonrpc") == "2.0" and isinstance(found.get("error"), dict):
        return mcp_jsonrpc.with_id(body, ident)
    message = json_bytes.string(json_bytes.member(found, "error", "message")) or f"HTTP status {status}"
    return mcp_jsonrpc.error(ident, -32603, message, {"status": status})


def _one_line(body: bytes) -> bytes:
    return body.replace(b"\r", b" ").replace(b"\n", b" ")
