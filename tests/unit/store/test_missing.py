"""What is missing between runs and tapes is named, and nothing that is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.store.test_push import made

from faultwire.store.missing import Found, Missing, compare
from faultwire.store.objects import Objects
from faultwire.store.results import Store, StoredRun
from faultwire.store.tapes import push

ABOUT = {"command": "run", "status": "finished", "started_at": "2026-01-01T00:00:00+00:00", "version": "1"}


def run(name: str, **tapes: str) -> StoredRun:
    named = {f"{tape}.tape": digest for tape, digest in tapes.items()}
    return StoredRun({"id": name, **ABOUT}, {"contract": b'{"cells": []}'}, named)


class Places:
    """A database and a folder for tapes."""

    def __init__(self, folder: Path) -> None:
        (folder / "tapes").mkdir()
        self.folder = folder
        self.store = Store.open(f"sqlite:///{folder}/team.db", "shop")
        self.objects = Objects(str(folder / "tapes"))

    def missing(self) -> Found:
        return compare(self.store._engine, self.objects, "shop")


@pytest.fixture
def places(tmp_path: Path) -> Iterator[Places]:
    found = Places(tmp_path)
    yield found
    found.store.close()


def test_nothing_is_missing_where_both_are_there(places: Places, tmp_path: Path) -> None:
    (tape,) = made(tmp_path, 1)
    digest = push(places.objects, tape, "shop").digest
    push(places.objects, tape, "other")
    places.store.add(run("r1", run=digest))
    assert places.missing() == Found(1, 1, 0, ())


def test_a_run_without_its_tape_and_a_tape_without_its_run_are_named(places: Places, tmp_path: Path) -> None:
    first, second = made(tmp_path, 2)
    digests = [push(places.objects, one, "shop").digest for one in (first, second)]
    places.store.add(run("r1", run=digests[0]))
    places.store.add(run("r2", run="e" * 64, worker=digests[0]))
    found = places.missing()
    assert found.missing == (Missing("tape", "e" * 64, "r2", "run.tape"), Missing("run", digests[1]))


def test_a_tape_that_lacks_pieces_is_named_with_how_many(places: Places, tmp_path: Path) -> None:
    (tape,) = made(tmp_path, 1)
    digest = push(places.objects, tape, "shop").digest
    places.store.add(run("r1", run=digest))
    (piece, *_) = [name for name, _ in places.objects.list("blobs/")]
    data = places.objects.get(piece) or b""
    places.objects.delete(piece)
    assert places.missing().missing == (Missing("pieces", digest, "r1", "run.tape", 1),)
    places.objects.put(piece, data)
    assert places.missing().missing == ()
    manifest = f"tapes/shop/{digest}.json"
    places.objects.put(manifest, b"{")
    assert places.missing().missing == (Missing("pieces", digest, "r1", "run.tape", 1),)


def test_of_a_tape_that_was_made_anew_the_last_one_counts(places: Places, tmp_path: Path) -> None:
    (tape,) = made(tmp_path, 1)
    digest = push(places.objects, tape, "shop").digest
    assert places.store.add(run("r1", run="e" * 64))
    assert [one.kind for one in places.missing().missing] == ["tape", "run"]
    assert not places.store.add(run("r1", run=digest)), "the run itself is the same"
    assert places.missing().missing == ()
    assert not places.store.add(run("r1", run=digest))


def test_a_run_whose_tapes_are_not_known_is_counted_apart(places: Places) -> None:
    places.store.add(run("r1"))
    assert places.missing() == Found(1, 0, 1, ())
