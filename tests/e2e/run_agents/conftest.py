"""Real engines, and agents of every type in processes of their own."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from faultwire.agents.make import prepared
from faultwire.agents.settings import AgentSettings
from faultwire.contract.cells import Prompt, Scenario
from faultwire.profile.load import parse
from faultwire.profile.model import Profile
from faultwire.runner.cells import planned
from faultwire.runner.launch import LaunchSettings, start_run
from faultwire.runner.run import play
from faultwire.runner.started_run import Run

HERE = Path(__file__).parent
SERVER = HERE / "server_agent.py"


@pytest.fixture(autouse=True)
def nobodys_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without anybody's proxy settings."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name in ("TRACEPARENT", "BAGGAGE", "SSL_CERT_FILE"):
            monkeypatch.delenv(name)


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Bench:
    """A run with the mock provider, and agents that live until its end."""

    def __init__(self, run: Run, folder: Path, stack: ExitStack) -> None:
        self.run = run
        self.folder = folder
        self._stack = stack
        self.port = 0
        self._shared = 0

    def agent(self, settings: AgentSettings) -> Any:
        share = partial(self.run.share, f"server{self._shared or ''}")
        self._shared += 1
        made = prepared(settings, share, folder=self.run.folder.path, base=self.folder)
        return self._stack.enter_context(made)

    def served(self, *flags: str, path: str = "/ask", **more: Any) -> Any:
        """The server agent, started by us."""
        from faultwire.agents.settings import HttpSettings

        self.port = free_port()
        at = f"http://127.0.0.1:{self.port}"
        start = {
            "command": (sys.executable, str(SERVER), str(self.port), *flags),
            "ready_url": f"{at}/health",
        }
        usual = {"endpoint": at + path, "start": start, "propagates": "--propagate" in flags}
        return self.agent(HttpSettings.model_validate(usual | more))

    def play(self, agent: Any, scenarios: list[Scenario], prompts: list[Prompt], **more: Any) -> Any:
        return play(planned(scenarios, prompts), agent, self.run, seed=7, **more)


@contextmanager
def bench(folder: Path, **settings: Any) -> Iterator[Bench]:
    with ExitStack() as stack:
        made = LaunchSettings("run", mock=True, base=folder / ".faultwire", **settings)
        run = stack.enter_context(start_run(made))
        yield Bench(run, folder, stack)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path) as made:
        yield made


CALM = Scenario("calm", Profile(name="calm"))


def scenario(name: str, text: str) -> Scenario:
    return Scenario(name, parse(f"name: {name}\nfaults:\n{text}", f"{name}.yaml"))


def asked(history: Any) -> list[str]:
    """The bodies of a history's requests."""
    return [exchange.request.body.decode() for exchange in history.exchanges if exchange.request.body]
