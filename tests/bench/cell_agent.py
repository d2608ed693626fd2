"""An agent that takes 50 ms: it asks its model once, through the proxy, and hands the trace context on.

`python cell_agent.py PORT MODEL`. Its connections to the proxy are kept.
"""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from urllib.parse import urlsplit

TAKES_S = 0.05
SAID = b'{"output": "Paris"}'
REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (
    len(SAID),
    SAID,
)


class Agent:
    def __init__(self, model: str) -> None:
        proxy = urlsplit(os.environ["HTTP_PROXY"])
        self.proxy = (proxy.hostname, proxy.port)
        user = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
        self.head = (
            f"GET {model} HTTP/1.1\r\nhost: {urlsplit(model).netloc}\r\nproxy-authorization: Basic {user}\r\n"
        )
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, context: str) -> None:
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection(*self.proxy)
        writer.write(f"{self.head}{context}\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
        if not head.startswith(b"HTTP/1.1 200"):
            raise ValueError(head)
        self.idle.append((reader, writer))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            began = loop.time()
            lines = [
                line for line in head.split("\r\n") if line.lower().startswith(("traceparent:", "baggage:"))
            ]
            if head.startswith("POST"):
                await self.ask("".join(f"{line}\r\n" for line in lines))
                await asyncio.sleep(max(0.0, began + TAKES_S - loop.time()))
            writer.write(REPLY)
            await writer.drain()
        except asyncio.IncompleteReadError:
            pass  # somebody only looked whether we are there
        finally:
            writer.close()


async def main() -> None:
    agent = Agent(sys.argv[2])
    server = await asyncio.start_server(agent.serve, "127.0.0.1", int(sys.argv[1]), backlog=256)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
