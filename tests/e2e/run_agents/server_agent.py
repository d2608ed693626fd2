"""Somebody's agent: one process, many conversations at once, and kept connections to its model.

`python server_agent.py PORT [--propagate] [--only HEADER] [--startup-call]`; it knows its proxy and roots
from the environment, and uses nothing but the standard library.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import ssl
import sys
from urllib.parse import urlsplit

HOST = "api.openai.com"
CONTEXT = ("traceparent", "baggage")


class Model:
    """Asks the model through the proxy, on connections that are kept for whoever asks next."""

    def __init__(self) -> None:
        self.proxy = urlsplit(os.environ["HTTPS_PROXY"])
        self.roots = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.opened = 0

    async def ask(self, prompt: str, headers: dict[str, str]) -> tuple[int, str]:
        body = json.dumps(
            {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": prompt}]}
        ).encode()
        lines = [f"POST /v1/chat/completions HTTP/1.1\r\nhost: {HOST}\r\nauthorization: Bearer k\r\n"]
        lines += [f"{name}: {value}\r\n" for name, value in headers.items()]
        lines += [f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"]
        request = "".join(lines).encode() + body
        reader, writer = self.kept() or await self.connect()
        try:
            writer.write(request)
            await writer.drain()
            status, reply, keep = await answer(reader)
        except BaseException:
            writer.close()
            raise
        if keep:
            self.idle.append((reader, writer))
        else:
            writer.close()
        return status, reply

    def kept(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """A connection that nobody uses, without those that were closed in the meantime."""
        while self.idle:
            reader, writer = self.idle.pop()
            if not (reader.at_eof() or writer.is_closing()):
                return reader, writer
            writer.close()
        return None

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.opened += 1
        reader, writer = await asyncio.open_connection(self.proxy.hostname, self.proxy.port)
        head = f"CONNECT {HOST}:443 HTTP/1.1\r\nhost: {HOST}:443\r\n"
        if self.proxy.username:
            user = base64.b64encode(f"{self.proxy.username}:{self.proxy.password}".encode()).decode()
            head += f"proxy-authorization: Basic {user}\r\n"
        writer.write(f"{head}\r\n".encode())
        status = (await reader.readuntil(b"\r\n\r\n")).split()[1]
        if status != b"200":
            raise ConnectionRefusedError(f"no tunnel: {status.decode()}")
        await writer.start_tls(self.roots, server_hostname=HOST)
        return reader, writer


async def answer(reader: asyncio.StreamReader) -> tuple[int, str, bool]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = next(
        int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:")
    )
    body = await reader.readexactly(length)
    return int(head.split()[1]), body.decode(), "connection: close" not in head


class Agent:
    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.model = Model()
        self.heard: list[str] = []
        self.resets = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, *fields = head.split("\r\n")
            headers = {k.lower(): v.strip() for k, _, v in (f.partition(":") for f in fields if f)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            method, target, _ = line.split(" ", 2)
            status, said = await self.reply(method, target.partition("?")[0], headers, body)
        except (asyncio.IncompleteReadError, ValueError) as error:
            status, said = 400, {"error": str(error)}
        data = json.dumps(said).encode()
        writer.write(
            f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n"
            "connection: close\r\n\r\n".encode()
            + data
        )
        writer.close()

    async def reply(self, method: str, path: str, headers: dict, body: bytes) -> tuple[int, dict]:
        if path == "/health":
            return 200, {"opened": self.model.opened, "resets": self.resets, "heard": self.heard}
        if path == "/reset":
            self.resets += 1
            self.heard.clear()
            return 200, {}
        if path == "/unresettable":
            return 503, {"why": "busy"}
        if path == "/crash":
            print("the agent falls over", file=sys.stderr, flush=True)
            os._exit(3)
        if method != "POST":
            return 405, {"error": f"{method} is not allowed"}
        asked = json.loads(body)
        self.heard.append(asked["input"])
        if path == "/slow":
            await asyncio.sleep(asked.get("seconds", 3600))
        wanted = [self.given.only] if self.given.only else CONTEXT if self.given.propagate else ()
        passed_on = {name: headers[name] for name in wanted if name in headers}
        statuses, texts = [], []
        for turn in range(asked.get("calls", 2)):
            try:
                status, reply = await self.model.ask(f"{asked['input']} ({turn})", passed_on)
            except (OSError, asyncio.IncompleteReadError) as error:
                status, reply = 0, json.dumps({"error": str(error)})
            statuses.append(status)
            texts.append(json.loads(reply)["choices"][0]["message"]["content"] if status == 200 else reply)
        return 200, {"output": " ".join(texts), "statuses": statuses}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--propagate", action="store_true")
    parser.add_argument("--only", choices=CONTEXT)
    parser.add_argument("--startup-call", action="store_true")
    given = parser.parse_args()
    agent = Agent(given)
    if given.startup_call:
        await agent.model.ask("are you there?", {})
    server = await asyncio.start_server(agent.serve, "127.0.0.1", given.port, backlog=256)
    async with server:
        await server.serve_forever()


asyncio.run(main())
