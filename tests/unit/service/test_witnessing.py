"""The service cosigns its members' logs: who may ask, and what the protocol's answers become here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.certificate.witnessed_log import LOG, request, text
from tests.unit.service.conftest import BASE, Team

from faultwire.certificate.witness import Witness
from faultwire.service.acts import Acts
from faultwire.service.app import application
from faultwire.service.guard import LARGEST
from faultwire.service.settings import Settings
from faultwire.service.witnessing import routes

PATH = "/add-checkpoint"


@pytest.fixture
def witness(made: Team, tmp_path: Path) -> Iterator[Witness]:
    found = Witness(tmp_path / "witness", "w1", {LOG.name: LOG.verifier})
    made.app = application(Acts(made.engine, Settings()), made.gate, None, None, BASE, None, found)
    yield found
    found.close()


async def test_a_runner_of_any_project_gets_a_cosignature(made: Team, witness: Witness) -> None:
    answer = await made.ask("POST", PATH, made.token("runner", "other"), request(0, 5).encode())
    assert answer.status_code == 200, answer.text
    assert witness.key.cosigned(text(5), answer.text)
    conflict = await made.ask("POST", PATH, made.token("runner"), request(0, 9).encode())
    assert (conflict.status_code, conflict.text) == (409, "5\n")
    assert conflict.headers["content-type"].startswith("text/x.tlog.size")
    forked = await made.ask("POST", PATH, made.token("admin"), request(5, 9, "fork").encode())
    assert forked.status_code == 422
    assert (await made.ask("POST", PATH, made.token("runner"), request(5, 9).encode())).status_code == 200


async def test_who_may_not_push_gets_none(made: Team, witness: Witness) -> None:
    body = request(0, 5).encode()
    assert (await made.ask("POST", PATH, None, body)).status_code == 401
    assert (await made.ask("POST", PATH, made.token("viewer"), body)).status_code == 403
    large = await made.ask("POST", PATH, made.token("runner"), b"x" * (LARGEST + 1))
    assert large.status_code == 413
    assert (await made.ask("POST", PATH, made.token("runner"), b"x")).status_code == 400
    first = await made.ask("POST", PATH, made.token("runner"), body)
    assert first.status_code == 200, "nothing of the refused was cosigned"


async def test_without_a_log_to_witness_there_is_no_witness(made: Team) -> None:
    answer = await made.ask("POST", PATH, made.token("runner"), request(0, 5).encode())
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "service.witness")
    assert [one.path for one in routes(None)] == [PATH]
