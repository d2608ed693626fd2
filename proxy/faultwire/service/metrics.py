"""What the service counts of itself, in the text format of Prometheus.

No label holds what a caller chose: paths are the service's own templates, codes its own words. So nothing
names a project, a run or a person, and there are no more series than the service has answers.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.workbench.metrics import Metric, histogram, labelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.workbench.metrics import Labels

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
METHODS = frozenset({"GET", "HEAD", "POST", "DELETE"})
UNROUTED = "none"
"""The path of what was refused before it was known, or is none of ours."""
MOST_CODES = 100
METRICS: Mapping[str, Metric] = {
    "faultwire_service_info": Metric("gauge", "1, with the version that serves."),
    "faultwire_service_requests_total": Metric("counter", "Answers, by path, method and status."),
    "faultwire_service_request_seconds": Metric(
        "histogram", "From a request's head to the end of its answer."
    ),
    "faultwire_service_errors_total": Metric("counter", "Answers that are errors, by our own code."),
    "faultwire_service_in_flight": Metric("gauge", "Requests that are being answered."),
    "faultwire_service_waiting": Metric("gauge", "Of these, those that wait for a free thread: the queue."),
    "faultwire_service_uploads_total": Metric("counter", "Runs that were pushed, by what became of them."),
    "faultwire_service_upload_bytes_total": Metric("counter", "Bytes of runs that were pushed."),
    "faultwire_service_cells_total": Metric("counter", "Cells of runs that were added."),
    "faultwire_service_drops_total": Metric("counter", "Significant drops below a baseline."),
    "faultwire_service_alert_failures_total": Metric("counter", "Alerts that no webhook took."),
    "faultwire_service_audit_failures_total": Metric(
        "counter", "Requests that the audit log could not keep."
    ),
    "faultwire_service_browsers": Metric("gauge", "Browsers that have come in."),
    "faultwire_service_database_connections": Metric("gauge", "Connections to the database, by state."),
    "process_resident_memory_bytes": Metric("gauge", "Resident memory."),
    "process_cpu_seconds_total": Metric("counter", "Processor time, user and system."),
}
"""Every metric that is given."""


@dataclass(frozen=True, slots=True)
class Now:
    """What is read when somebody asks."""

    waiting: int
    browsers: int
    connections: Mapping[str, int]
    memory_bytes: int
    cpu_s: float


class Metrics:
    """Counts. Any thread may feed it or ask."""

    def __init__(self, version: str) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, Counter[Labels]] = {name: Counter() for name in METRICS}
        self._buckets: dict[str, list[int]] = {}
        self._sums: Counter[str] = Counter()
        self._codes: set[str] = set()
        self._set("faultwire_service_info", 1, version=version)
        for name, metric in METRICS.items():
            if metric.kind == "counter" and name.startswith(("faultwire_service_d", "faultwire_service_a")):
                self._counts[name][()] = 0  # a rate needs a beginning

    def begun(self) -> None:
        """A request has come."""
        self.count("faultwire_service_in_flight")

    def ended(self, path: str, method: str, status: int, code: str, seconds: float) -> None:
        """Its answer has gone, or it could not go."""
        named = method if method in METHODS else "other"
        with self._lock:
            self._counts["faultwire_service_in_flight"][()] -= 1
            labels = (("path", path), ("method", named), ("status", str(status)))
            self._counts["faultwire_service_requests_total"][labels] += 1
            if status >= 400:
                self._counts["faultwire_service_errors_total"][(("code", self._code(code)),)] += 1
            buckets = self._buckets.setdefault(path, [0] * (len(BUCKETS_S) + 1))
            buckets[next((at for at, most in enumerate(BUCKETS_S) if seconds <= most), len(BUCKETS_S))] += 1
            self._sums[path] += seconds  # type: ignore[assignment]

    def count(self, name: str, by: int = 1, **labels: str) -> None:
        """Add to a counter of `METRICS`; label values must be words of our own."""
        with self._lock:
            self._counts[name][tuple(labels.items())] += by

    def _set(self, name: str, value: float, **labels: str) -> None:
        self._counts[name][tuple(labels.items())] = value  # type: ignore[assignment]

    def _code(self, code: str) -> str:
        if not code or (code not in self._codes and len(self._codes) >= MOST_CODES):
            return "other"
        self._codes.add(code)
        return code

    def text(self, now: Now) -> str:
        """All of it, as it is scraped."""
        with self._lock:
            self._set("faultwire_service_waiting", now.waiting)
            self._set("faultwire_service_browsers", now.browsers)
            for state, number in now.connections.items():
                self._set("faultwire_service_database_connections", number, state=state)
            self._set("process_resident_memory_bytes", now.memory_bytes)
            self._set("process_cpu_seconds_total", now.cpu_s)
            return "".join(f"{line}\n" for name in METRICS for line in self._lines(name))

    def _lines(self, name: str) -> Iterator[str]:
        yield f"# HELP {name} {METRICS[name].help}"
        yield f"# TYPE {name} {METRICS[name].kind}"
        if METRICS[name].kind == "histogram":
            for path, buckets in sorted(self._buckets.items()):
                yield from histogram(name, (("path", path),), buckets, self._sums[path], BUCKETS_S)
            return
        for labels, value in sorted(self._counts[name].items()):
            yield f"{name}{labelled(labels)} {value}"
