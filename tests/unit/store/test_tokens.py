"""Tokens: kept as hashes, found from within their project, and of no use once they have ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from tests.unit.store.test_results import REPORT

from faultwire.errors import UsageError
from faultwire.store import tokens
from faultwire.store.database import open_engine
from faultwire.store.results import Store, StoredRun


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = open_engine(f"sqlite:///{tmp_path}/results.db")
    yield made
    made.dispose()


def made(engine: Engine, **more: Any) -> tuple[str, tokens.Token]:
    about: dict[str, Any] = {"made_by": "test", "days": 1, **more}
    return tokens.make(engine, "shop", "ci", "runner", **about)


def test_a_token_is_found_by_itself_alone_and_its_secret_is_not_kept(engine: Engine, tmp_path: Path) -> None:
    secret, about = made(engine)
    assert tokens.look_up(engine, secret) == about
    assert (about.project, about.role, about.run) == ("shop", "runner", None)
    assert tokens.listed(engine, "shop") == [about]
    assert tokens.listed(engine, "other") == []
    for wrong in (secret[:-1], secret + "0", secret.replace("shop", "other"), "", "..", "x" * 10_000):
        assert tokens.look_up(engine, wrong) is None
    engine.dispose()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert about.id.encode() in kept
    assert secret.rpartition(".")[2].encode() not in kept


def test_one_that_has_ended_or_was_revoked_is_none(engine: Engine) -> None:
    assert tokens.look_up(engine, made(engine, days=1e-9)[0]) is None
    secret, about = made(engine)
    tokens.revoke(engine, "shop", about.id)
    assert tokens.look_up(engine, secret) is None
    first = next(one for one in tokens.listed(engine, "shop") if one.id == about.id).revoked_at
    tokens.revoke(engine, "shop", about.id)  # the first time counts
    assert next(one for one in tokens.listed(engine, "shop") if one.id == about.id).revoked_at == first
    secret, about = made(engine)
    for project, ident in (("other", about.id), ("shop", "none")):
        with pytest.raises(UsageError, match="has no token"):
            tokens.revoke(engine, project, ident)
    assert tokens.look_up(engine, secret) == about


@pytest.mark.parametrize(
    "more", [{"days": 0}, {"days": -1}, {"days": 1e9}, {"days": float("nan")}, {"run": "r9"}]
)
def test_what_cannot_be_is_refused(engine: Engine, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        made(engine, **more)
    assert tokens.listed(engine, "shop") == []


def test_a_link_names_a_run_of_its_own_project(engine: Engine) -> None:
    import json

    about = {"id": "r1", "command": "ci", "status": "finished", "started_at": "t", "version": "1"}
    Store(engine, "shop").add(StoredRun(about, {"contract": json.dumps(REPORT).encode()}))
    assert made(engine, run="r1")[1].run == "r1"
    given: dict[str, Any] = {"made_by": "test", "days": 1, "run": "r1"}
    with pytest.raises(UsageError, match="has no run"):
        tokens.make(engine, "other", "link", "viewer", **given)
