"""A service over a database in a file, asked without a socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from faultwire.service.acts import Acts
from faultwire.service.app import application
from faultwire.service.audit import Audit
from faultwire.service.browsers import Browsers
from faultwire.service.guard import Gate
from faultwire.service.settings import Settings
from faultwire.store.database import open_engine
from faultwire.store.tokens import Role, make
from faultwire.tape.evidence.signed_note import SignerKey

HOST = "team.example"
BASE = f"http://{HOST}"
SCRAPER = "scraper-0123456789-0123456789"


def document(passed: int, total: int, scenario: str = "calm") -> dict[str, Any]:
    """A report's parts that are compared: so many of so many invocations pass."""
    invocations = [
        {"id": f"i{n}", "scenario": scenario, "prompt": f"p{n}", "repeat": 0} for n in range(total)
    ]
    cells = [
        {"invocation": f"i{n}", "invariant": "completes", "scenario": scenario, "severity": "high",
         "verdict": "pass" if n < passed else "fail"}
        for n in range(total)
    ]  # fmt: skip
    return {
        "run": {"id": "r", "started_at": "2026-01-01T00:00:00+00:00", "seed": 1, "ledger": "a"},
        "score": {"number": 100 * passed / total, "gate": "pass"},
        "scenarios": [{"name": scenario, "digest": "d"}],
        "prompts": [{"id": f"p{n}", "text": f"p{n}"} for n in range(total)],
        "invocations": invocations,
        "cells": cells,
    }


def pushed(name: str, passed: int = 30, total: int = 30, **more: Any) -> dict[str, Any]:
    about = {
        "id": name, "command": "ci", "status": "finished",
        "started_at": f"2026-01-01T00:00:{len(name):02}+00:00",
        "score": passed / total, "gate": "pass", "agent_digest": "g", "config_digest": "c",
        "profiles_digest": "p", "version": "0.1", **more,
    }  # fmt: skip
    return {"about": about, "reports": {"contract": document(passed, total)}}


class Team:
    """The application, and tokens by project and role."""

    def __init__(self, folder: Path, settings: Settings, oidc: Any = None) -> None:
        self.engine = open_engine(f"sqlite:///{folder}/results.db")
        self.audit = Audit(folder / "audit", "team", SignerKey.fresh("team"), bytes(32))
        self.browsers = Browsers(tls=False)
        self.gate = gate = Gate(
            self.engine, self.browsers, self.audit, frozenset((HOST,)), frozenset((BASE,))
        )
        acts = Acts(self.engine, settings, self.refused, gate.metrics)
        self.app = application(acts, gate, None, oidc, BASE, SCRAPER)
        self.tokens: dict[tuple[str, str], str] = {}

    def refused(self, *_: Any, **__: Any) -> httpx.Response:
        """No webhook can be reached."""
        raise httpx.ConnectError("refused")

    def token(self, role: Role, project: str = "shop", **about: Any) -> str:
        if (project, role) not in self.tokens or about:
            given = {"made_by": "test", "days": 1, **about}
            secret, _ = make(self.engine, project, role, role, **given)
            if about:
                return secret
            self.tokens[project, role] = secret
        return self.tokens[project, role]

    async def ask(
        self, method: str, path: str, token: str | None = None, body: Any = None, **headers: str
    ) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            named["authorization"] = f"Bearer {token}"
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            named.setdefault("content-type", "application/json")
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
            return await client.request(method, path, content=data, headers=named)

    async def push(self, run: dict[str, Any], project: str = "shop") -> httpx.Response:
        return await self.ask("POST", f"/api/projects/{project}/runs", self.token("runner", project), run)

    def close(self) -> None:
        self.audit.close()
        self.engine.dispose()


@pytest.fixture
def settings() -> Settings:
    return Settings()


@pytest.fixture
def made(tmp_path: Path, settings: Settings) -> Iterator[Team]:
    found = Team(tmp_path, settings)
    yield found
    found.close()
