"""A search is the same on workers, whatever an engine loses, runs twice or sends late."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.bench import explore as bench
from tests.unit.explore.planted import Eager, maker, search

from faultwire.campaign import trial_player
from faultwire.campaign.cell import Surroundings
from faultwire.campaign.engine import Command, Ended
from faultwire.campaign.sealed_box import seal
from faultwire.campaign.trial_player import Search, TrialPlayer, Workers, workers
from faultwire.campaign.trial_request import TrialRequest, check, result_of
from faultwire.campaign.worker import MISMATCH
from faultwire.errors import UsageError
from faultwire.explore.made import Ask, Made
from faultwire.trials.series import Budget

HERE = Surroundings("1.0", "c", "a", "p")
AGENT = bench.generated(920_003)
BUDGET = Budget(120)


@dataclass
class Memory:
    """An engine in memory, whose batches end in any order. It loses a share of them, and sends one twice."""

    make: Callable[[Ask], Made]
    slots: int
    chance: random.Random = field(default_factory=lambda: random.Random(3))
    lost: float = 0.0
    doubled: float = 0.0
    played: Counter[str] = field(default_factory=Counter)
    refuses: str = ""
    _ready: list[Ended] = field(default_factory=list)

    def ask(self, command: Command, text: str) -> Sequence[tuple[str, Ended]]:
        assert TrialRequest.parse(text).runs == {}
        return [("here", Ended("", 0, self.refusal() or b'{"checked": true}\n'))]

    def refusal(self) -> bytes:
        error = {"code": MISMATCH, "message": self.refuses, "exit_code": 2}
        return json.dumps({"error": error}).encode() if self.refuses else b""

    def submit(self, batch: str, command: Command, text: str) -> None:
        request = TrialRequest.parse(text)
        check(request, HERE)
        self.played.update(list(request.runs))
        results = [result_of(name, self.make(ask)) for name, ask in request.runs.items()]
        box = seal(json.dumps(results).encode(), request.public)
        answer = Ended(batch, 0, json.dumps({"box": b64encode(box).decode()}).encode() + b"\n")
        if self.chance.random() < self.doubled:
            self._ready.append(replace(answer, batch=f"{batch}-again"))
        self._ready.append(Ended(batch, lost="killed") if self.chance.random() < self.lost else answer)

    def wait(self, seconds: float) -> Sequence[Ended]:
        at = self.chance.randrange(len(self._ready))
        return [self._ready.pop(at)]

    def stop(self, batch: str) -> None:
        pass

    def drop(self, batch: str) -> None:
        pass

    def close(self) -> None:
        pass


def on(tmp_path: Path, engine: Memory, monkeypatch: pytest.MonkeyPatch, about: str = "about") -> Any:
    monkeypatch.setattr(trial_player, "open_engine", lambda _place: engine)
    return workers(Workers("memory"), Search(about, HERE, {"command": ["agent"]}, 60.0), tmp_path)


@contextmanager
def nothing_left(folder: Path) -> Iterator[None]:
    yield
    assert list((folder / "campaigns").iterdir()) == []


@pytest.mark.parametrize("trouble", [{}, {"lost": 0.3}, {"doubled": 0.5}, {"lost": 0.2, "doubled": 0.4}])
@pytest.mark.parametrize("slots", [1, 2, 4])
def test_the_finds_the_claim_and_the_runs_are_those_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slots: int, trouble: dict[str, float]
) -> None:
    alone, _ = search(tmp_path / "alone", Eager(maker(AGENT), 1, random.Random(1)), BUDGET)
    assert alone.finds
    engine = Memory(maker(AGENT), slots, **trouble)  # type: ignore[arg-type]
    with nothing_left(tmp_path), on(tmp_path, engine, monkeypatch) as player:
        found, executor = search(tmp_path / "state", player, BUDGET)
    assert found == alone
    assert len(engine.played) == executor.runs == len(player.looked_at)
    if not trouble:
        assert max(engine.played.values()) == 1
        assert player.notes() == ()
    else:
        assert player.notes()


def test_a_run_that_loses_every_worker_could_not_be_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with on(tmp_path, Memory(maker(AGENT), 1, lost=1.0), monkeypatch) as player:
        found, _ = search(tmp_path / "state", player, BUDGET)
    assert found.ended == "undecided"
    assert "10 workers were lost while they played it" in found.reason


def test_a_search_that_was_ended_goes_on_with_what_its_workers_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with runs that were made ahead, and that it had not looked at."""

    class KilledError(Exception):
        pass

    class Killed(TrialPlayer):
        def play(self, wanted: Ask, ahead: Sequence[Ask], arrived: Callable[[Ask, Made], None]) -> Made:
            if len(self.looked_at) == 5:
                raise KilledError
            return super().play(wanted, ahead, arrived)

    first = Memory(maker(AGENT), 3)
    monkeypatch.setattr(trial_player, "TrialPlayer", Killed)
    with pytest.raises(KilledError), on(tmp_path, first, monkeypatch) as player:
        search(tmp_path / "state", player, BUDGET)
    assert len(first.played) > 5
    monkeypatch.undo()
    again = Memory(maker(AGENT), 3)
    with nothing_left(tmp_path), on(tmp_path, again, monkeypatch) as player:
        found, _ = search(tmp_path / "state", player, BUDGET)
    assert player.notes() == (), "all that was made was looked at, by one start or the other"
    assert not set(first.played) & set(again.played)
    alone, _ = search(tmp_path / "alone", Eager(maker(AGENT), 1, random.Random(1)), BUDGET)
    assert found == alone


def test_after_ctrl_c_what_was_made_ahead_is_kept_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting(Memory):
        def wait(self, seconds: float) -> Sequence[Ended]:
            if len(self.played) > 5:
                self.played.clear()
                raise KeyboardInterrupt
            return super().wait(seconds)

        def stop(self, batch: str) -> None:
            """It answers, as all that is ready."""

    engine = Interrupting(maker(AGENT), 4)
    with on(tmp_path, engine, monkeypatch) as player:
        found, executor = search(tmp_path / "state", player, BUDGET)
    assert found.ended == "interrupted"
    (note,) = player.notes()
    assert note.startswith("played ahead and not looked at: ")
    assert list((tmp_path / "campaigns").iterdir()), "the same command goes on with them"
    again = Memory(maker(AGENT), 4)
    with nothing_left(tmp_path), on(tmp_path, again, monkeypatch) as player:
        found, executor = search(tmp_path / "state", player, BUDGET)
    assert (found.ended, player.notes()) == ("done", ())
    assert len(again.played) < executor.runs


def test_a_worker_that_would_make_other_runs_is_refused_before_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Memory(maker(AGENT), 2, refuses="this worker has the profiles `x`, expected `y`")
    with (
        pytest.raises(UsageError, match="the worker at here: this worker has the profiles"),
        on(tmp_path, engine, monkeypatch),
    ):
        pytest.fail("a search began")
    assert not engine.played


def test_one_that_comes_later_and_differs_ends_the_search_and_nothing_of_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Mixed(Memory):
        def wait(self, seconds: float) -> Sequence[Ended]:
            found = super().wait(seconds)
            if len(self.played) < 5:
                return found
            self.refuses = "this worker has faultwire `0.1`"
            return [replace(one, code=2, output=self.refusal()) for one in found]

    with (
        pytest.raises(UsageError, match="a worker: this worker has faultwire"),
        on(tmp_path, Mixed(maker(AGENT), 1), monkeypatch) as player,
    ):
        search(tmp_path / "state", player, BUDGET)
    lines = (tmp_path / "state").read_bytes().splitlines()
    assert 1 < len(lines) <= 5, "the head, and runs of before"


def test_a_search_that_is_at_work_elsewhere_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Memory(maker(AGENT), 1)
    with on(tmp_path, engine, monkeypatch):
        with pytest.raises(UsageError, match="at work in another process"), on(tmp_path, engine, monkeypatch):
            pytest.fail("it was taken twice")
        with on(tmp_path, engine, monkeypatch, about="other"):
            pass
