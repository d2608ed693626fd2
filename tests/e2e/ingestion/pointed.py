"""Runs tests that talk to a service inside of their process, by httpx, against one at a URL.

pointed.py URL ARGUMENT...      the arguments are pytest's
"""

import sys

import httpx
import pytest

URL = httpx.URL(sys.argv[1])


class Pointed(httpx.AsyncBaseTransport):
    """In place of the one that calls an application."""

    def __init__(self, app):
        self.app = app

    async def handle_async_request(self, request):
        request.url = request.url.copy_with(scheme=URL.scheme, host=URL.host, port=URL.port)
        request.headers["host"] = f"{URL.host}:{URL.port}"
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.request(
                request.method, request.url, headers=request.headers, content=await request.aread()
            )
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


httpx.ASGITransport = Pointed
sys.exit(pytest.main(sys.argv[2:]))
