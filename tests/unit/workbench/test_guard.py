import os
from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse

from faultwire.mitm.network import peer_user
from faultwire.workbench.access import Access
from faultwire.workbench.assets import HEADERS
from faultwire.workbench.guard import Guarded

HOST = "127.0.0.1:8000"


@pytest.fixture
def guarded() -> Guarded:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse("seen")(scope, receive, send)

    return Guarded(app, Access(frozenset({HOST}), 8000, program="p"), frozenset({"/"}))


async def asked(guarded: Guarded, path: str, headers: Any, client: str = "192.0.2.1") -> httpx.Response:
    transport = httpx.ASGITransport(guarded, client=(client, 40_000))
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as made:
        return await made.get(path, headers=headers)


async def test_what_is_open_is_answered_and_the_rest_is_not(guarded: Guarded) -> None:
    assert (await asked(guarded, "/", {})).text == "seen"
    done = await asked(guarded, "/api/tape", {})
    assert (done.status_code, done.json()["error"]["code"]) == (401, "ui.no_session")
    assert (await asked(guarded, "/api/tape", {"authorization": "Bearer p"})).text == "seen"


async def test_every_answer_has_the_headers(guarded: Guarded) -> None:
    for path in ("/", "/api/tape"):
        done = await asked(guarded, path, {})
        assert {name: done.headers[name] for name in HEADERS} == HEADERS


@pytest.mark.parametrize("order", [1, -1])
async def test_a_header_that_comes_twice_counts_as_none(guarded: Guarded, order: int) -> None:
    """Whichever of the two is the good one."""
    twice = [("authorization", "Bearer p"), ("authorization", "Bearer x")]
    assert (await asked(guarded, "/api/tape", twice[::order])).status_code == 401
    assert (await asked(guarded, "/", [("host", HOST), ("host", "evil.test")][::order])).status_code == 421


@pytest.mark.parametrize(
    ("client", "user", "status"),
    [("127.0.0.1", 1, 403), ("127.0.0.1", 0, 200), ("127.0.0.1", None, 200), ("192.0.2.1", 1, 200)],
)
async def test_on_loopback_the_peer_s_user_counts(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch, client: str, user: int | None, status: int
) -> None:
    other = None if user is None else os.getuid() + 1 if user else os.getuid()
    monkeypatch.setattr(peer_user, "user_of", lambda *_: other)
    assert (await asked(guarded, "/", {}, client)).status_code == status


async def test_refusals_are_remembered_and_inert(guarded: Guarded) -> None:
    await asked(guarded, "/api/%1b[31m", {})
    assert guarded.refusals[-1] == "GET /api/\\x1b[31m: ui.no_session"
