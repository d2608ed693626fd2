"""The statuses and types of a witness's answers."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from tests.unit.certificate.witnessed_log import LOG, OTHER, request, text

from faultwire.certificate.cosignature import MAX_BODY
from faultwire.certificate.witness import Witness
from faultwire.certificate.witness_app import application


def admitted(asked: Request) -> Response | None:
    return PlainTextResponse("no\n", 403) if "origin" in asked.headers else None


def send(witness: Witness, body: str, path: str = "/add-checkpoint", **headers: str) -> httpx.Response:
    async def sent() -> httpx.Response:
        transport = httpx.ASGITransport(application(witness, admitted))
        async with httpx.AsyncClient(transport=transport, base_url="http://witness") as client:
            return await client.post(path, content=body.encode(), headers=headers)

    return asyncio.run(sent())


def test_answers_have_the_statuses_and_types_of_the_specification(tmp_path: Path) -> None:
    with closing(Witness(tmp_path, "w1", {LOG.name: LOG.verifier})) as made:
        first = send(made, request(0, 5))
        assert first.status_code == 200
        assert made.key.cosigned(text(5), first.text)
        conflict = send(made, request(0, 9))
        assert (conflict.status_code, conflict.text) == (409, "5\n")
        assert conflict.headers["content-type"].startswith("text/x.tlog.size")
        assert send(made, request(5, 9, "fork")).status_code == 422
        assert send(made, request(5, 9, signer=OTHER)).status_code == 403
        assert send(made, request(5, 9, origin="logs.example/none")).status_code == 404
        assert send(made, "x" * (MAX_BODY + 1)).status_code == 413
        assert send(made, "x").status_code == 400
        refused = send(made, request(5, 9), origin="http://a.page")
        assert (refused.status_code, refused.text) == (403, "no\n")
        assert send(made, request(5, 9)).status_code == 200


@pytest.mark.parametrize("path", ["/", "/add-checkpoint/x"])
def test_there_is_nothing_else(path: str, tmp_path: Path) -> None:
    with closing(Witness(tmp_path, "w1", {LOG.name: LOG.verifier})) as made:
        assert send(made, request(0, 5), path).status_code == 404
