"""A workbench that is started beside a run, in a process of its own."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import httpx
import pytest
from tests.unit.workbench.conftest import deck_at

from faultwire.errors import FaultwireError, UsageError
from faultwire.workbench.client import started
from faultwire.workbench.serve import Listen
from faultwire.workbench.writer import urging


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    deck = deck_at(tmp_path / "t.tape")
    deck.exchange()
    return deck.close()


def test_it_listens_in_a_process_of_its_own_and_ends_with_the_block(tape: Path, tmp_path: Path) -> None:
    gone = tmp_path / "control.sock"
    with started(Listen(), tape, gone, tmp_path, tmp_path) as ready:
        assert (tmp_path / "workbench" / str(ready["port"])).exists()
        url, _, token = ready["link"].partition("#token=")
        with httpx.Client(base_url=url, trust_env=False) as client:
            assert client.post("/api/session", json={"token": token}).status_code == 200
            assert client.get("/api/tape").json()["exchanges"] == 1
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", ready["port"]))
    assert os.listdir(tmp_path / "workbench") == []


def refused(listen: Listen, tape: Path, folder: Path) -> FaultwireError:
    with pytest.raises(FaultwireError) as raised:
        started(listen, tape, folder / "control.sock", folder, folder).__enter__()
    return raised.value


def test_a_port_in_use_is_the_user_s_error_and_a_bad_tape_ours(tape: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        error = refused(Listen(port=taken.getsockname()[1]), tape, tmp_path)
    assert isinstance(error, UsageError)
    assert "cannot be listened on" in error.message
    (tmp_path / "x.tape").write_bytes(b"no tape")
    assert refused(Listen(), tmp_path / "x.tape", tmp_path).exit_code == 3


def test_a_writer_that_has_ended_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        urging(tmp_path / "control.sock")()
