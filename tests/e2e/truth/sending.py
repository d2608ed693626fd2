"""Sends what it is told with a plain HTTP client, no SDK: `sending.py CLIENT GROUPS CODE`.

GROUPS is JSON: a list of groups, one after the other, each a list of requests that are sent at once. It ends
with CODE, whatever came.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any


async def with_httpx(groups: list[list[dict[str, Any]]]) -> None:
    import httpx

    async def send(client: httpx.AsyncClient, one: dict[str, Any]) -> None:
        try:
            await client.post(one["url"], content=one["body"], headers=one["headers"])
        except httpx.HTTPError as error:
            print(type(error).__name__)

    async with httpx.AsyncClient(timeout=60) as client:
        for group in groups:
            await asyncio.gather(*(send(client, one) for one in group))


async def with_aiohttp(groups: list[list[dict[str, Any]]]) -> None:
    import aiohttp

    async def send(session: aiohttp.ClientSession, one: dict[str, Any]) -> None:
        try:
            async with session.post(one["url"], data=one["body"], headers=one["headers"]) as got:
                await got.read()
        except aiohttp.ClientError as error:
            print(type(error).__name__)

    async with aiohttp.ClientSession(trust_env=True) as session:
        for group in groups:
            await asyncio.gather(*(send(session, one) for one in group))


asyncio.run({"httpx": with_httpx, "aiohttp": with_aiohttp}[sys.argv[1]](json.loads(sys.argv[2])))
os._exit(int(sys.argv[3]))
