"""Batch after batch in one worker: one proxy for all, and the checks and sessions of a worker for each."""

from __future__ import annotations

import json
import os
import signal
from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.play.test_on import write

from faultwire.campaign import series as series_module
from faultwire.campaign.cell import CellTask
from faultwire.campaign.sealed_box import BoxKey
from faultwire.campaign.series import Series
from faultwire.campaign.worker import MISMATCH, Request, answer, surroundings
from faultwire.config.load import load
from faultwire.contract.cells import Invocation
from faultwire.errors import UsageError
from faultwire.runner.folder import STATE
from faultwire.runner.phases import Phase
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.verify import evidence_class, verify
from faultwire.tape.files.collect import collect
from faultwire.tape.read.reader import TapeReader

PHASE = Phase("contract", (), (), (), ())


@dataclass
class Asking:
    """Batches of a project's cells, by the numbers of their repeats, and what came of them."""

    project: Any
    key: BoxKey
    tapes: dict[Path, set[str]]

    def request(self, repeats: Iterable[int]) -> Request:
        config = load(Path("faultwire.yaml"))
        here = surroundings(config)
        assert config.contract is not None
        plan = [
            Invocation(scenario, prompt, repeat, "contract")
            for scenario in config.contract.scenarios
            for prompt in config.prompts
            for repeat in repeats
        ]
        tasks = [CellTask.of(PHASE, one, 7) for one in plan]
        return Request(here, {task.id(here): task for task in tasks}, 3, 0, self.key.public)

    def play(self, series: Series, repeats: Iterable[int]) -> list[dict[str, Any]]:
        """Play a batch; the results. Its tape is kept."""
        request = self.request(repeats)
        found, tape = series.answer(request, load(Path("faultwire.yaml")))
        results: list[dict[str, Any]] = json.loads(self.key.open(b64decode(found["box"])))
        assert {one["cell"] for one in results} == set(request.cells)
        self.keep(tape, found["seal"], {task.invocation.id for task in request.cells.values()})
        return results

    def keep(self, tape: bytes, seal: str, sessions: set[str]) -> Path:
        path = Path(f"batch{len(self.tapes)}.tape")
        path.write_bytes(tape)
        Path(f"{path}.seal").write_text(seal)
        self.tapes[path] = sessions
        return path

    def ledger(self, name: str) -> str:
        """The hash of the fault decisions of all batches."""
        collect(self.tapes, Path(name), "p/t", None)
        with TapeReader.open(name) as reader:
            return reader.ledger_hash()


@pytest.fixture
def asking(project: Any, monkeypatch: pytest.MonkeyPatch) -> Asking:
    monkeypatch.chdir(project.folder)
    write(project, 1)
    return Asking(project, BoxKey(project.folder / "box.key"), {})


def engine_of(series: Series) -> int:
    assert series._started is not None
    return series._started[0].engine.pid


def test_two_batches_on_one_proxy_have_the_ledger_and_evidence_of_one_batch(asking: Asking) -> None:
    with Series(STATE) as series:
        asking.play(series, (1, 2))
        first = engine_of(series)
        request = asking.request((3,))
        write(asking.project, 2)  # another configuration than the one that these are cells of
        with pytest.raises(UsageError, match="the configuration") as raised:
            series.answer(request, load(Path("faultwire.yaml")))
        assert raised.value.code == MISMATCH
        write(asking.project, 1)
        results = asking.play(series, (3, 4))
        assert engine_of(series) == first
    assert [one["voids"] for one in results] == [[]] * 8
    assert psutil.Process().children(recursive=True) == []
    assert list((STATE / "trials" / "runs").iterdir()) == []
    keys = KeyRing(STATE / "keys").trusted()
    for tape, sessions in asking.tapes.items():
        report = verify(tape, keys, demanded=True)
        assert evidence_class(report) == ("AUTHORITATIVE", []), report.findings
        with TapeReader.open(tape) as reader:
            assert sessions <= {info.name for info in reader.sessions()}
    split = asking.ledger("split.tape")

    asking.tapes.clear()
    whole = asking.request((1, 2, 3, 4))
    found, tape = answer(whole, load(Path("faultwire.yaml")), STATE)
    asking.keep(tape, found["seal"], {task.invocation.id for task in whole.cells.values()})
    assert asking.ledger("whole.tape") == split


@pytest.mark.cold
@pytest.mark.nightly
def test_a_cell_that_comes_again_and_one_after_a_lost_proxy_have_another(
    asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Series(STATE) as series:
        asking.play(series, (1,))
        assert series._started is not None
        engines = [engine_of(series)]
        asking.play(series, (1, 2))  # its first result was lost on the way
        engines.append(engine_of(series))
        os.kill(engines[-1], signal.SIGKILL)
        series._started[0].engine._process.wait()
        results = asking.play(series, (3,))
        assert [one["voids"] for one in results] == [[]] * 4
        engines.append(engine_of(series))
        monkeypatch.setattr(series_module, "KEPT", 7)
        asking.play(series, (4,))
        engines.append(engine_of(series))
    assert len(set(engines)) == 4
