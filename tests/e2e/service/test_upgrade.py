"""Upgrades: data of the first schema is there afterwards; an older service goes on beside a newer one until
it ends, and says then how to go on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import zstandard
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from tests.e2e.service.conftest import FAULTWIRE, Service, _ready, faultwire, serving, token
from tests.unit.service.conftest import document, pushed

import faultwire as package
from faultwire.store.database import DRIVERS

RUNS = "/api/projects/shop/runs"
NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{head}"


def upgrade() -> None:
    op.add_column("runs", sa.Column("branch", sa.String(200)))
    op.create_table("branches", sa.Column("name", sa.String(200), primary_key=True))
"""


def steps() -> Config:
    made = Config()
    made.set_main_option("script_location", str(resources.files("faultwire.store") / "migrations"))
    return made


def of_the_first_schema(url: str) -> None:
    """A database as the first faultwire with a store left it: one run of 30 cells."""
    parsed = sa.make_url(url)
    engine = sa.create_engine(parsed.set(drivername=DRIVERS[parsed.drivername]))
    settings, about = steps(), pushed("r1")["about"]
    with engine.begin() as connection:
        settings.attributes["connection"] = connection
        command.upgrade(settings, "0001")
        if engine.dialect.name == "postgresql":
            connection.execute(sa.text("SELECT set_config('faultwire.project', 'shop', true)"))
        connection.execute(sa.text("INSERT INTO projects (name) VALUES ('shop')"))
        row = {"project": "shop", "content": "c" * 64, **about}
        names = ", ".join(row)
        values = ", ".join(f":{name}" for name in row)
        connection.execute(sa.text(f"INSERT INTO runs ({names}) VALUES ({values})"), row)
        report = zstandard.compress(json.dumps(document(30, 30)).encode())
        phase = {"report": report, "score": 1.0}
        connection.execute(
            sa.text("INSERT INTO phases VALUES ('shop', 'r1', 'contract', :score, :report)"), phase
        )
        keys = ("invocation", "invariant", "scenario", "severity", "verdict")
        named = ", ".join(f":{key}" for key in keys)
        insert = sa.text(f"INSERT INTO cells VALUES ('shop', 'r1', 'contract', :number, {named})")
        for number, cell in enumerate(document(30, 30)["cells"]):
            connection.execute(insert, {"number": number, **{key: cell[key] for key in keys}})
    engine.dispose()


def upgraded(folder: Path, store: str) -> None:
    of_the_first_schema(store)
    viewer, runner = token(folder, store, "viewer"), token(folder, store, "runner")
    with serving(folder, store) as service:
        status, found = service.ask("GET", RUNS, viewer)
        assert (status, [(run["id"], run["verdicts"]["pass"]) for run in found["runs"]]) == (
            200,
            [("r1", 30)],
        )
        report = service.ask("GET", f"{RUNS}/r1/reports/contract", viewer)[1]
        assert report == document(30, 30)
        assert service.ask("POST", RUNS, runner, pushed("r02", 8))[0] == 201
        assert service.ask("POST", f"{RUNS}/r1/comments", viewer, {"text": "was here before"})[0] == 201
        assert service.ask("GET", f"{RUNS}/r1/blame", viewer) == (200, {"blame": []})


def test_what_the_first_schema_held_is_there_in_the_newest(tmp_path: Path) -> None:
    upgraded(tmp_path, f"sqlite:///{tmp_path}/team.db")


@pytest.mark.nightly
def test_what_the_first_schema_held_is_there_in_the_newest_of_postgresql(
    tmp_path: Path, postgresql: Any
) -> None:
    postgresql.run("createdb", "-U", "admin", "-O", "team", "first")
    upgraded(tmp_path, postgresql.url("team", "first"))


def newer(folder: Path) -> Path:
    """This faultwire with one more step of its schema: what to put on the path of Python."""
    source = Path(package.__file__).parent
    made = folder / "newer" / "faultwire"
    (made / "store").mkdir(parents=True)
    for entry in (*source.iterdir(), *(source / "store").iterdir()):
        target = made / entry.relative_to(source)
        if entry.name not in ("migrations", "store"):
            target.symlink_to(entry)
    shutil.copytree(source / "store" / "migrations", made / "store" / "migrations")
    head = ScriptDirectory.from_config(steps()).get_current_head()
    (made / "store" / "migrations" / "versions" / "v9999_next.py").write_text(NEXT.format(head=head))
    return made.parent


@contextmanager
def newer_serving(folder: Path, store: str) -> Iterator[Service]:
    """`faultwire serve` of the newer one."""
    env = {**os.environ, "PYTHONPATH": str(newer(folder))}
    words = [sys.executable, "-m", "faultwire", "serve", "--store", store, "--format", "json"]
    process = subprocess.Popen(words, cwd=folder, env=env, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Service(process, _ready(process.stdout), folder)
    finally:
        process.kill()
        process.wait(timeout=60)
        process.stdout.close()


def rolled(folder: Path, store: str) -> None:
    runner = token(folder, store, "runner")
    with serving(folder, store) as old:
        assert old.ask("POST", RUNS, runner, pushed("r1"))[0] == 201
        with newer_serving(folder, store) as new:
            assert new.ask("POST", RUNS, runner, pushed("r02"))[0] == 201
            # Both at once: each sees what the other takes.
            assert [run["id"] for run in old.ask("GET", RUNS, runner)[1]["runs"]] == ["r1", "r02"]
            assert old.ask("POST", RUNS, runner, pushed("r003"))[0] == 201
            assert [run["id"] for run in new.ask("GET", RUNS, runner)[1]["runs"]] == ["r1", "r02", "r003"]
            assert old.end() == 130
            refused = subprocess.run(
                [FAULTWIRE, "serve", "--store", store],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert refused.returncode == 2
            assert "found the schema `9999` in the store" in refused.stderr
            assert "`pip install --upgrade faultwire`" in refused.stderr
            tokens = ("token", "list", "--store", store, "--project", "shop")
            assert "found the schema `9999`" in faultwire(folder, *tokens, expect=2).stderr
            assert new.ask("GET", RUNS, runner)[0] == 200, "and the newer one has not noticed"


def test_an_older_service_goes_on_beside_a_newer_one_and_does_not_start_again(tmp_path: Path) -> None:
    rolled(tmp_path, f"sqlite:///{tmp_path}/team.db")


@pytest.mark.nightly
def test_the_same_on_postgresql(tmp_path: Path, postgresql: Any) -> None:
    postgresql.run("createdb", "-U", "admin", "-O", "team", "rolled")
    rolled(tmp_path, postgresql.url("team", "rolled"))
