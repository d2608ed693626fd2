"""Counters of a tape in the text format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats).

They are fed with each exchange once its body was read, and hold no more than their labels.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire import clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from faultwire.events import Recorded

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
MOST = 200
"""Distinct values of one label; what comes after them is `other`: the traffic names models and faults."""


class Metric(NamedTuple):
    """A metric's type and what it says."""

    kind: str
    help: str


METRICS: dict[str, Metric] = {
    "faultwire_exchanges_total": Metric("counter", "Exchanges that have ended."),
    "faultwire_faults_fired_total": Metric("counter", "Faults that fired, by fault."),
    "faultwire_exchange_duration_seconds": Metric("histogram", "From the request to the end of the answer."),
    "faultwire_first_byte_seconds": Metric("histogram", "From the request to the first byte of the answer."),
    "faultwire_tokens_total": Metric("counter", "Tokens that providers counted."),
    "faultwire_cost_usd_total": Metric(
        "counter", "What models cost, in US dollars, where the price is known."
    ),
    "faultwire_cost_unknown_total": Metric("counter", "Answers of models whose price is not known."),
    "faultwire_tape_lag_seconds": Metric(
        "gauge", "From the end of the last exchange to its being read here."
    ),
    "faultwire_held": Metric("gauge", "Exchanges that are held at breakpoints."),
    "faultwire_armed": Metric("gauge", "Breakpoints and interventions that are armed."),
    "faultwire_spans_total": Metric("counter", "Spans that were exported, by outcome."),
}
"""Every metric that is given."""
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counts. Any thread may ask; one feeds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, Counter[Labels]] = {name: Counter() for name in METRICS}
        self._buckets: dict[tuple[str, Labels], list[int]] = {}
        self._sums: Counter[tuple[str, Labels]] = Counter()
        self._known: dict[str, set[str]] = {}

    def take(self, recorded: Recorded, row: Mapping[str, Any]) -> None:
        """An exchange that has ended, and its row."""
        ended_s = (recorded.started_ms + recorded.duration_ms) / 1000
        with self._lock:
            self._exchange(recorded, row)
            self._counts["faultwire_tape_lag_seconds"][()] = max(0.0, clock.wall_ms() / 1000 - ended_s)  # type: ignore[assignment]

    def spans(self, count: int, outcome: str) -> None:
        """So many spans were exported, or were not."""
        with self._lock:
            self._counts["faultwire_spans_total"][(("outcome", outcome),)] += count

    def _exchange(self, recorded: Recorded, row: Mapping[str, Any]) -> None:
        kind = ("kind", recorded.kind)
        code = str(recorded.delivered.status) if recorded.delivered else "none"
        provider = ("provider", self._label("provider", recorded.provider or "none"))
        labels = (kind, provider, ("code", code), ("ending", recorded.ending))
        self._counts["faultwire_exchanges_total"][labels] += 1
        for fault in recorded.faults:
            if fault.outcome == "fired":
                name = (("fault", self._label("fault", fault.fault)),)
                self._counts["faultwire_faults_fired_total"][name] += 1
        self._observe("faultwire_exchange_duration_seconds", (kind,), recorded.duration_ms / 1000)
        got = recorded.delivered
        if got is not None and got.chunks:
            self._observe("faultwire_first_byte_seconds", (kind,), got.chunks[0][1] / 1e9)
        self._tokens(row)

    def _tokens(self, row: Mapping[str, Any]) -> None:
        model = ("model", self._label("model", row.get("model") or "none"))
        if not row.get("counted_elsewhere"):
            for name, key in (("input", "tokens_in"), ("output", "tokens_out")):
                if row.get(key):
                    self._counts["faultwire_tokens_total"][(("direction", name), model)] += row[key]
            if row.get("cost_usd"):
                self._counts["faultwire_cost_usd_total"][(model,)] += float(row["cost_usd"])  # type: ignore[assignment]
        if row.get("cost_unknown"):
            self._counts["faultwire_cost_unknown_total"][(model,)] += 1

    def _label(self, name: str, value: str) -> str:
        known = self._known.setdefault(name, set())
        if value in known or len(known) < MOST:
            known.add(value)
            return value
        return "other"

    def _observe(self, name: str, labels: Labels, seconds: float) -> None:
        buckets = self._buckets.setdefault((name, labels), [0] * (len(BUCKETS_S) + 1))
        buckets[next((at for at, limit in enumerate(BUCKETS_S) if seconds <= limit), len(BUCKETS_S))] += 1
        self._sums[name, labels] += seconds  # type: ignore[assignment]

    def text(self, held: int = 0, armed: int = 0) -> str:
        """All of it, as it is scraped."""
        with self._lock:
            self._counts["faultwire_held"][()] = held
            self._counts["faultwire_armed"][()] = armed
            return "".join(f"{line}\n" for name in METRICS for line in self._lines(name))

    def _lines(self, name: str) -> Iterator[str]:
        metric = METRICS[name]
        yield f"# HELP {name} {metric.help}"
        yield f"# TYPE {name} {metric.kind}"
        if metric.kind != "histogram":
            for labels, value in sorted(self._counts[name].items()):
                yield (
                    f"{name}{labelled(labels)} {value:g}"
                    if isinstance(value, float)
                    else (f"{name}{labelled(labels)} {value}")
                )
            return
        for (own, labels), buckets in sorted(self._buckets.items()):
            if own == name:
                yield from histogram(name, labels, buckets, self._sums[name, labels])


def histogram(
    name: str, labels: Labels, buckets: list[int], total: float, limits: Sequence[float] = BUCKETS_S
) -> Iterator[str]:
    """The lines of a histogram, of which `buckets` are not cumulative yet; `limits` in seconds."""
    below = 0
    for limit, count in zip((*map(str, limits), "+Inf"), buckets, strict=True):
        below += count
        yield f"{name}_bucket{labelled((*labels, ('le', limit)))} {below}"
    yield f"{name}_sum{labelled(labels)} {total:.6f}"
    yield f"{name}_count{labelled(labels)} {below}"


def labelled(labels: Labels) -> str:
    """Labels as a sample has them; whatever is in a value stays one line."""
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    inert = "".join(one if one.isprintable() else "?" for one in value[:120])
    return inert.replace("\\", "\\\\").replace('"', '\\"')
