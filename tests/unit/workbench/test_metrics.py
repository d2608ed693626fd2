"""What is given to Prometheus, and that the dashboard asks for nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.unit.workbench.conftest import CUT, Deck, answered, asked

from faultwire.workbench.index import TapeIndex
from faultwire.workbench.metrics import METRICS, MOST, Metrics, labelled

DASHBOARD = Path(__file__).parents[3] / "docs" / "howto" / "grafana.json"
LINE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\})? (-?[0-9.e+-]+)')


def scraped(tape: Path, metrics: Metrics | None = None) -> dict[str, float]:
    """Every sample, read as Prometheus reads it."""
    metrics = metrics or Metrics()
    index = TapeIndex(tape)
    index.sinks.append(metrics.take)
    index.start()
    assert index.wait(30)
    while any(not row["read"] for row in index.rows):
        assert index._thread.is_alive()
    index.close()
    found = {}
    for line in metrics.text(held=2, armed=1).splitlines():
        if not line.startswith("#"):
            match = LINE.fullmatch(line)
            assert match is not None, line
            found[f"{match[1]}{{{match[2] or ''}}}"] = float(match[3])
    return found


@pytest.fixture
def tape(deck: Deck) -> Path:
    deck.exchange()
    deck.exchange(asked("again"), b'{"error":{"message":"busy"}}', status=503, key="k1")
    deck.exchange(asked("again"), answered(tokens=11), attempt=1, key="k1")
    deck.exchange(asked("cut"), faults=(CUT,))
    return deck.close()


def test_exchanges_tokens_and_faults_are_counted_once(tape: Path) -> None:
    found = scraped(tape)
    labels = 'kind="llm",provider="openai"'
    assert found[f'faultwire_exchanges_total{{{labels},code="200",ending="complete"}}'] == 3
    assert found[f'faultwire_exchanges_total{{{labels},code="503",ending="complete"}}'] == 1
    assert found['faultwire_tokens_total{direction="input",model="gpt-4o-mini"}'] == 7 + 11 + 7
    assert found['faultwire_faults_fired_total{fault="cut_stream"}'] == 1
    assert found['faultwire_cost_usd_total{model="gpt-4o-mini"}'] > 0
    assert (found["faultwire_held{}"], found["faultwire_armed{}"]) == (2, 1)
    assert found["faultwire_tape_lag_seconds{}"] >= 0


def test_buckets_are_cumulative_and_end_with_the_count(tape: Path) -> None:
    found = scraped(tape)
    buckets = [v for k, v in found.items() if k.startswith("faultwire_exchange_duration_seconds_bucket")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == found['faultwire_exchange_duration_seconds_count{kind="llm"}'] == 4


def test_names_of_models_cannot_fill_the_memory_nor_break_a_line(tmp_path: Path) -> None:
    metrics = Metrics()
    names = {metrics._label("model", f"m{number}") for number in range(MOST + 50)}
    assert len(names) == MOST + 1
    assert "other" in names
    line = labelled((("model", 'a"b\\c\nd\x1b[31m'),))
    assert line == '{model="a\\"b\\\\c?d?[31m"}'


def test_the_dashboard_asks_for_metrics_that_are_given() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    asked_for = " ".join(one["expr"] for panel in dashboard["panels"] for one in panel["targets"])
    used = set(re.findall(r"faultwire_[a-z_]+", asked_for))
    given = set(METRICS) | {
        f"{name}{end}"
        for name, one in METRICS.items()
        if one.kind == "histogram"
        for end in ("_bucket", "_sum", "_count")
    }
    assert used <= given
    assert set(METRICS) - {re.sub("_bucket$", "", name) for name in used} == set()  # and shows all of them
