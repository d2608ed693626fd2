"""The engine's control socket as the page uses it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.workbench import controls as tested
from faultwire.workbench.controls import Controls

HELD = {
    "id": "h1", "session": "s\x1b[31m", "model": "m", "tool": None, "provider": "openai", "kind": "llm",
    "protocol": "openai_chat", "held_s": 1.0, "client_left_s": 9.0,
}  # fmt: skip


class Engine:
    """Answers one line with another, and counts who is connected."""

    def __init__(self, path: Path) -> None:
        self.asked: list[dict] = []
        self.ended = threading.Event()
        self.held = [HELD]
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        self._open: list[socket.socket] = []
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                one, _ = self._socket.accept()
            except OSError:
                return
            self._open.append(one)
            threading.Thread(target=self._serve, args=(one,), daemon=True).start()

    def _serve(self, one: socket.socket) -> None:
        with one, one.makefile("rb") as lines:
            for line in lines:
                self.asked.append(json.loads(line))
                reply = {"id": "b1", "held": self.held, "interventions": []}
                one.sendall(json.dumps(reply).encode() + b"\n")
        self.ended.set()

    def kill(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)  # a thread waits in it, whom closing does not wake
        for one in self._open:
            one.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = Engine(tmp_path / "control.sock")
    yield made
    made._socket.close()


def changed(controls: Controls) -> threading.Event:
    found = threading.Event()
    controls.listener = found.set
    return found


def test_what_is_held_is_inert_and_wakes_the_page(engine: Engine, tmp_path: Path) -> None:
    controls = Controls(tmp_path / "control.sock")
    woken = changed(controls)
    controls.page(1)
    controls.start()
    assert woken.wait(10)
    assert controls.now["engine"] == "running"
    assert "\x1b" not in controls.now["held"][0]["session"]
    controls.close()


def test_an_engine_that_ends_is_shown_with_what_it_held(engine: Engine, tmp_path: Path) -> None:
    controls = Controls(tmp_path / "control.sock")
    woken = changed(controls)
    controls.page(1)
    controls.start()
    assert woken.wait(10)
    woken.clear()
    engine.kill()
    assert woken.wait(10)
    assert (controls.now["engine"], controls.now["lost"]) == ("ended", 1)
    with pytest.raises(UsageError, match="the engine has ended"):
        controls.ask(op="held")
    controls.close()


def test_the_connection_ends_when_no_page_is_left(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tested, "GONE_S", 0.3)
    controls = Controls(tmp_path / "control.sock", "cut")
    controls.start()
    controls.page(1)
    controls.set_break(at="request")
    assert engine.asked[-1]["op"] in ("break", "held")
    asked = next(one for one in engine.asked if one["op"] == "break")
    assert (asked["on_gone"], asked["lease_s"]) == ("cut", tested.LEASE_S)
    assert not engine.ended.is_set()
    controls.page(-1)
    assert engine.ended.wait(10)
    controls.close()


def test_a_page_that_only_reads_keeps_nothing_that_was_set(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tested, "GONE_S", 0.3)
    controls = Controls(tmp_path / "control.sock", "cut")
    controls.start()
    controls.page(1)
    controls.page(1, acts=False)
    controls.set_break(at="request")
    controls.page(-1)
    assert engine.ended.wait(10)
    controls.close()


def test_without_a_page_and_a_breakpoint_the_engine_is_left_alone(engine: Engine, tmp_path: Path) -> None:
    controls = Controls(tmp_path / "control.sock")
    controls.start()
    assert not engine.ended.wait(3 * tested.POLL_S)
    assert engine.asked == []
    controls.close()
