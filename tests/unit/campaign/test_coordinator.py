"""Every cell counts once, whatever an engine loses, runs twice or sends late; without leases it does not."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from faultwire.campaign.budget import Limits, Spending
from faultwire.campaign.cell import CellTask, Surroundings
from faultwire.campaign.coordinator import BudgetSpentError, Coordinator, How
from faultwire.campaign.engine import Command, Ended
from faultwire.campaign.leases import MOST_LOST, Leases
from faultwire.campaign.results import Results
from faultwire.campaign.sealed_box import seal
from faultwire.campaign.worker import MISMATCH, Request
from faultwire.errors import FaultwireError, UsageError

HERE = Surroundings("1.0", "c", "a", "p")
PROFILE = {"name": "calm", "description": "", "tools": {}, "agents": {}, "entries": []}
CELLS = {
    cell.id(HERE): cell
    for number in range(1, 31)
    for cell in [CellTask("contract", "calm", PROFILE, "p", ("?",), ("?",), None, number, 7)]
}
HOW = How(Command(("python",), "."), 2, 0, 10.0)
TAPE = b"tape"


def answered(text: str, cost: float = 0.0) -> bytes:
    request = Request.parse(text)
    about = {"label": "agent", "network": False, "session": "s", "agent": None, "voids": [], "notes": [],
             "remarks": [], "cost_usd": cost, "tokens": int(1000 * cost), "uncounted": 0}  # fmt: skip
    box = seal(json.dumps([{"cell": cell, **about} for cell in request.cells]).encode(), request.public)
    found = {"box": b64encode(box).decode(), "tape": sha256(TAPE).hexdigest(), "seal": "note"}
    return json.dumps(found).encode() + b"\n" + TAPE


@dataclass
class Memory:
    """An engine in memory. What becomes of a batch: `ok`, `lost`, `twice` (a second answer comes later),
    `late` (it is said to be lost, and answers all the same), `silent` (never heard of again)."""

    fates: deque[str] = field(default_factory=deque)
    slots: int = 3
    cost: float = 0.0
    played: Counter[str] = field(default_factory=Counter)
    most_at_once: int = 0
    _ready: deque[Ended] = field(default_factory=deque)
    _later: deque[Ended] = field(default_factory=deque)
    _under_way: set[str] = field(default_factory=set)

    def ask(self, command: Command, text: str) -> Sequence[tuple[str, Ended]]:
        return [("here", Ended("", 0, b'{"checked": true}\n'))]

    def submit(self, batch: str, command: Command, text: str) -> None:
        fate = self.fates.popleft() if self.fates else "ok"
        answer = Ended(batch, 0, answered(text, self.cost))
        self.played.update(list(Request.parse(text).cells))
        self._under_way.add(batch)
        self.most_at_once = max(self.most_at_once, len(self._under_way))
        if fate in ("ok", "twice"):
            self._ready.append(answer)
        if fate in ("lost", "late"):
            self._ready.append(Ended(batch, lost="killed"))
        if fate in ("twice", "late"):
            self._later.append(replace(answer, batch=f"{batch}-again"))

    def wait(self, seconds: float) -> Sequence[Ended]:
        if self._ready:
            self._under_way.discard(self._ready[0].batch)
            return [self._ready.popleft(), *([self._later.popleft()] if self._later else [])]
        return []

    def stop(self, batch: str) -> None:
        pass

    def drop(self, batch: str) -> None:
        self._under_way.discard(batch)

    def close(self) -> None:
        pass


OPEN: list[Results] = []


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def coordinator(
    folder: Path, engine: Memory, limits: Limits | None = None, lease_s: float = 60.0
) -> Coordinator:
    OPEN.append(Results(folder, "c"))
    how = replace(HOW, lease_s=lease_s)
    return Coordinator(engine, OPEN[-1], HERE, how, Spending(limits or Limits()))


FATES = st.lists(st.sampled_from(["ok", "lost", "twice", "late"]), max_size=12)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(fates=FATES)
def test_every_cell_arrives_once_whatever_happens(tmp_path_factory: Any, fates: list[str]) -> None:
    engine, arrived = Memory(deque(fates)), list[str]()
    made = coordinator(tmp_path_factory.mktemp("c"), engine)
    made.play(CELLS, {}, arrived.append)
    made.results.close()
    assert sorted(arrived) == sorted(CELLS)
    lines = (made.results.path / "results.jsonl").read_bytes().splitlines()
    assert sorted(json.loads(line)["cell"] for line in lines) == sorted(CELLS)
    assert made.counts.lost <= sum(fate in ("lost", "late") for fate in fates[: made.counts.batches])


class Counting(Leases):
    """Counts the results that are taken."""

    taken = 0

    def settle(self, cell: str) -> bool:
        found = super().settle(cell)
        self.taken += found
        return found


class Unleased(Counting):
    """The control: every result is taken for the one that counts."""

    def settle(self, cell: str) -> bool:
        super().settle(cell)
        self.taken += 1
        return True


@pytest.mark.parametrize(("kind", "doubled"), [(Counting, False), (Unleased, True)])
def test_without_leases_cells_double(tmp_path: Path, kind: type[Counting], doubled: bool) -> None:
    made = coordinator(tmp_path, Memory(deque(["late", "twice", "late", "ok"])))
    leases = made.leases = kind()
    made.play(CELLS, {}, lambda _cell: None)
    assert (leases.taken > len(CELLS)) is doubled
    assert leases.taken >= len(CELLS)
    assert (made.counts.doubled > 0) is not doubled  # what came again was dropped, or nobody noticed


@dataclass(frozen=True)
class Leased(How):
    """Leases of these lengths, and then of a minute: on a slow machine no other one ends."""

    leases: Iterator[float] = field(default_factory=lambda: iter(()))

    def lease(self, cells: int) -> float:
        return next(self.leases, 60.0)


def test_a_batch_without_an_answer_is_given_to_another_when_its_lease_ends(tmp_path: Path) -> None:
    engine, arrived = Memory(deque(["silent"])), list[str]()
    made = coordinator(tmp_path, engine)
    made.how = Leased(HOW.command, 2, 0, 10.0, leases=iter([0.0]))
    made.play(CELLS, {}, arrived.append)
    assert sorted(arrived) == sorted(CELLS)
    assert made.counts.expired >= 1


def test_a_cell_that_kills_every_worker_is_given_up_and_the_others_are_played(tmp_path: Path) -> None:
    poison = next(iter(CELLS))

    class Deadly(Memory):
        def submit(self, batch: str, command: Command, text: str) -> None:
            if poison in Request.parse(text).cells:
                self.fates.appendleft("lost")
            super().submit(batch, command, text)

    engine, arrived = Deadly(), list[str]()
    made = coordinator(tmp_path, engine)
    made.play(CELLS, {}, arrived.append)
    assert set(arrived) == set(CELLS) - {poison}
    assert list(made.given_up) == [poison]
    assert "10 workers were lost" in made.given_up[poison]


def test_no_more_batches_are_under_way_than_there_are_slots(tmp_path: Path) -> None:
    engine = Memory()
    coordinator(tmp_path, engine).play(CELLS, {}, lambda _cell: None)
    assert engine.most_at_once == engine.slots


def test_what_is_there_already_is_not_played_again(tmp_path: Path) -> None:
    first = coordinator(tmp_path, Memory())
    half = dict(list(CELLS.items())[:15])
    first.play(half, {}, lambda _cell: None)
    first.results.close()
    engine, arrived = Memory(), list[str]()
    again = coordinator(tmp_path, engine)
    again.play(CELLS, {}, arrived.append)
    assert sorted(arrived) == sorted(CELLS)
    assert set(engine.played) == set(CELLS) - set(half)
    assert again.counts.earlier == 15


def test_cells_ahead_are_played_only_by_workers_that_would_be_idle(tmp_path: Path) -> None:
    every = list(CELLS.items())
    now, ahead = dict(every[:2]), dict(every[2:10])
    engine, arrived = Memory(), list[str]()
    made = coordinator(tmp_path, engine)
    made.play(now, ahead, arrived.append)
    assert sorted(arrived) == sorted(now)
    played = engine.played.total()
    made.play(ahead, {}, arrived.append)
    assert sorted(arrived) == sorted([*now, *ahead])
    assert played > 2
    assert max(engine.played.values()) == 1


def test_a_budget_of_runs_holds_over_all_workers(tmp_path: Path) -> None:
    engine, arrived = Memory(), list[str]()
    with pytest.raises(BudgetSpentError) as raised:
        coordinator(tmp_path, engine, Limits(runs=11)).play(CELLS, {}, arrived.append)
    assert raised.value.limit == "runs"
    assert engine.played.total() == len(arrived) == 11


def test_a_budget_of_money_is_not_gone_over(tmp_path: Path) -> None:
    engine, arrived = Memory(cost=0.1), list[str]()
    with pytest.raises(BudgetSpentError) as raised:
        coordinator(tmp_path, engine, Limits(cost_usd=1.0)).play(CELLS, {}, arrived.append)
    assert raised.value.limit == "cost"
    assert 8 <= engine.played.total() <= 10


def test_a_budget_of_tokens_holds_over_all_workers(tmp_path: Path) -> None:
    engine, arrived = Memory(cost=0.1), list[str]()
    made = coordinator(tmp_path, engine, Limits(tokens=950))
    with pytest.raises(BudgetSpentError) as raised:
        made.play(CELLS, {}, arrived.append)
    assert (raised.value.limit, engine.played.total(), made.spending.tokens.taken) == ("tokens", 9, 900)


@pytest.mark.parametrize(
    ("output", "kind", "said"),
    [
        (b'{"error": {"code": "%s", "message": "this worker has faultwire `0`", "exit_code": 2}}\n'
         % MISMATCH.encode(), UsageError, "the worker at here: this worker has faultwire"),
        (b'{"error": {"code": "x", "message": "boom", "exit_code": 3}}\n', FaultwireError, "boom"),
        (b"", FaultwireError, "gave no answer"),
        (b"[]\n", FaultwireError, "gave no answer"),
    ],
)  # fmt: skip
def test_a_worker_that_is_not_fit_is_refused_before_the_first_cell(
    tmp_path: Path, output: bytes, kind: type[FaultwireError], said: str
) -> None:
    class Unfit(Memory):
        def ask(self, command: Command, text: str) -> Sequence[tuple[str, Ended]]:
            assert Request.parse(text).cells == {}
            return [("here", Ended("", 3, output, "Traceback\nboom"))]

    made = coordinator(tmp_path, Unfit())
    with pytest.raises(kind, match=said):
        made.check_workers()


def test_a_worker_that_refuses_a_batch_ends_the_campaign_and_nothing_of_it_counts(tmp_path: Path) -> None:
    class Mixed(Memory):
        def wait(self, seconds: float) -> Sequence[Ended]:
            text = {"code": MISMATCH, "message": "this worker has the profiles `x`", "exit_code": 2}
            return [
                Ended(one.batch, 2, json.dumps({"error": text}).encode()) for one in super().wait(seconds)
            ]

    made = coordinator(tmp_path, Mixed())
    with pytest.raises(UsageError, match="the profiles") as raised:
        made.play(CELLS, {}, lambda _cell: None)
    assert raised.value.code == MISMATCH
    assert made.results.cells == {}


@pytest.mark.parametrize(("code", "lost"), [("engine.lost", 1), ("engine.other", 0)])
def test_a_batch_whose_proxy_is_gone_is_played_again_and_no_other_error_is_passed_over(
    tmp_path: Path, code: str, lost: int
) -> None:
    class Broken(Memory):
        errors = 0

        def wait(self, seconds: float) -> Sequence[Ended]:
            found = super().wait(seconds)
            if self.errors:
                return found
            self.errors += 1
            text = {"error": {"code": code, "message": "the engine ended with code `-9`", "exit_code": 3}}
            return [replace(one, code=3, output=json.dumps(text).encode()) for one in found]

    made, arrived = coordinator(tmp_path, Broken()), list[str]()
    if not lost:
        with pytest.raises(FaultwireError, match="the engine ended"):
            made.play(CELLS, {}, arrived.append)
        return
    made.play(CELLS, {}, arrived.append)
    assert sorted(arrived) == sorted(CELLS)
    assert made.counts.lost == lost


def test_an_engine_that_was_away_takes_no_blame_to_the_cells(tmp_path: Path) -> None:
    class Away(Memory):
        losses = 0

        def wait(self, seconds: float) -> Sequence[Ended]:
            found = super().wait(seconds)
            if self.losses >= 3 * MOST_LOST:
                return found
            self.losses += 1
            return [Ended(one.batch, lost="the scheduler is gone", away=True) for one in found]

    made, arrived = coordinator(tmp_path, Away(slots=1)), list[str]()
    made.play(CELLS, {}, arrived.append)
    assert sorted(arrived) == sorted(CELLS)
    assert made.given_up == {}
    assert made.counts.lost == 3 * MOST_LOST
    assert made.counts.batches < 3 * MOST_LOST + 9  # nothing was divided


def test_what_ends_without_an_answer_while_a_campaign_ends_is_no_error(tmp_path: Path) -> None:
    class Ending(Memory):
        stopped = False

        def stop(self, batch: str) -> None:
            self.stopped = True
            self._ready.append(Ended(batch, 130, b"", "Aborted!"))

        def wait(self, seconds: float) -> Sequence[Ended]:
            if not self.stopped:
                raise KeyboardInterrupt
            return super().wait(seconds)

    made = coordinator(tmp_path, Ending(deque(["silent", "silent", "silent"])))
    with pytest.raises(KeyboardInterrupt):
        made.play(CELLS, {}, lambda _cell: None)
    assert made.leases.batches == 0


def test_a_tape_that_was_changed_on_its_way_is_no_result(tmp_path: Path) -> None:
    class Bent(Memory):
        def wait(self, seconds: float) -> Sequence[Ended]:
            return [replace(one, output=one.output + b"x") for one in super().wait(seconds)]

    made = coordinator(tmp_path, Bent())
    with pytest.raises(FaultwireError, match="another tape"):
        made.play(CELLS, {}, lambda _cell: None)
    assert made.results.cells == {}


def test_a_lease_is_as_long_as_its_cells_may_take() -> None:
    assert HOW.lease(4) == 120 + 10 * 2
    assert replace(HOW, retries=2).lease(5) == 120 + 10 * 3 * 3
    assert replace(HOW, lease_s=5).lease(100) == 5
