"""Whoever runs the service asks without a token whether it lives, and learns no more than that."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.service.conftest import BASE, Team

from faultwire.errors import UsageError
from faultwire.service import operations
from faultwire.service.acts import Acts
from faultwire.service.app import application
from faultwire.service.serve import scraper_token
from faultwire.service.settings import Settings
from faultwire.store.database import open_engine


async def test_it_is_ready_while_the_database_answers(made: Team, tmp_path: Path) -> None:
    for path in ("/health", "/ready"):
        answer = await made.ask("GET", path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    token = made.token("viewer")
    made.engine.dispose()
    database = tmp_path / "results.db"
    database.rename(tmp_path / "aside.db")
    database.mkdir()  # nothing can be opened there
    lost = await made.ask("GET", "/ready")
    assert (lost.status_code, lost.json()) == (503, {"status": "the database does not answer"})
    assert str(tmp_path) not in lost.text
    asked = await made.ask("GET", "/api/me", token)
    assert (asked.status_code, asked.json()["error"]["code"]) == (503, "store.failed")
    assert str(tmp_path) not in asked.text
    assert (await made.ask("GET", "/health")).status_code == 200
    database.rmdir()
    (tmp_path / "aside.db").rename(database)
    assert (await made.ask("GET", "/ready")).status_code == 200


async def test_without_a_token_for_them_there_are_no_metrics(made: Team, tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/results.db")
    made.app = application(Acts(engine, Settings()), made.gate, None, None, BASE)
    assert (await made.ask("GET", "/metrics", "")).status_code == 404
    assert [one.path for one in operations.routes(made.gate, None)] == ["/health", "/ready", "/metrics"]
    engine.dispose()


@pytest.mark.parametrize(
    ("mode", "text", "words"),
    [
        (0o444, "x" * 32, "has mode 444"),
        (0o440, "short", "holds no token"),
        (0o440, "with a blank in the middle of it", "holds no token"),
        (0o440, "\u00e9" * 32, "holds no token"),
    ],
)
def test_a_token_that_is_none_or_that_everybody_can_read_is_refused(
    tmp_path: Path, mode: int, text: str, words: str
) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(UsageError, match=words):
        scraper_token(path)
    path.chmod(0o440)
    path.write_text("y" * 32 + "\n")
    assert scraper_token(path) == "y" * 32
    with pytest.raises(UsageError, match="cannot read"):
        scraper_token(tmp_path / "none")
