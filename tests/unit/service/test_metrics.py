"""What the service counts of itself: every answer once, no word of a caller, and a dashboard of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.unit.service.conftest import SCRAPER, Team, pushed

from faultwire.service.guard import LARGEST
from faultwire.service.metrics import METRICS, MOST_CODES, Metrics, Now
from faultwire.service.settings import Alert, Project, Rule, Settings

DASHBOARD = Path(__file__).parents[3] / "docs" / "howto" / "grafana_service.json"
SAMPLE = re.compile(r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\})? (-?[0-9.e+-]+)')
SETTINGS = Settings(
    projects={"shop": Project(baseline=Rule(), alerts=(Alert(url="https://hooks.example/T0/swordfish"),))}
)


def read(text: str) -> dict[str, float]:
    """Every sample, read as Prometheus reads it."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            match = SAMPLE.fullmatch(line)
            assert match is not None, line
            found[f"{match[1]}{{{match[2] or ''}}}"] = float(match[3])
    return found


async def scraped(made: Team) -> tuple[str, dict[str, float]]:
    answer = await made.ask("GET", "/metrics", SCRAPER)
    assert answer.status_code == 200
    return answer.text, read(answer.text)


async def test_only_the_token_for_it_reads_them(made: Team) -> None:
    for token in (None, made.token("admin"), SCRAPER[:-1], SCRAPER + "x", ""):
        assert (await made.ask("GET", "/metrics", token)).status_code == 401
    await scraped(made)
    assert (await made.ask("GET", "/api/me", SCRAPER)).status_code == 401  # and it opens nothing else
    assert (await made.ask("GET", "/metrics", SCRAPER, host="evil.example")).status_code == 421


@pytest.mark.parametrize("settings", [SETTINGS])
async def test_requests_uploads_cells_drops_and_failures_are_counted_once(made: Team) -> None:
    for name, passed in (("r1", 30), ("r02", 8)):
        assert (await made.push(pushed(name, passed))).status_code == 201
    assert (await made.push(pushed("r1"))).status_code == 200
    assert (await made.push({})).status_code == 400
    _, found = await scraped(made)
    requests = 'faultwire_service_requests_total{path="/api/projects/{project}/runs",method="POST",status='
    assert {one: found[f'{requests}"{one}"}}'] for one in (201, 200, 400)} == {201: 2, 200: 1, 400: 1}
    uploads = "faultwire_service_uploads_total"
    assert {one: found[f'{uploads}{{outcome="{one}"}}'] for one in ("added", "known", "refused")} == {
        "added": 2, "known": 1, "refused": 1,
    }  # fmt: skip
    assert found["faultwire_service_cells_total{}"] == 60
    sent = [pushed("r1"), pushed("r02", 8), pushed("r1"), {}]
    size = sum(len(json.dumps(one)) for one in sent)
    assert found["faultwire_service_upload_bytes_total{}"] == size
    assert found["faultwire_service_drops_total{}"] >= 1
    assert found["faultwire_service_alert_failures_total{}"] == 1
    assert found['faultwire_service_errors_total{code="service.run"}'] == 1
    assert found["faultwire_service_in_flight{}"] == 1  # this one
    assert found["process_resident_memory_bytes{}"] > 1_000_000


@pytest.mark.parametrize("settings", [SETTINGS])
async def test_nothing_names_a_project_a_run_a_person_or_a_secret(made: Team) -> None:
    await made.push(pushed("r1-hidden-run"))
    for path in (
        "/projects/shop",
        "/projects/shop/runs/r1-hidden-run",
        "/x/lab-hidden",
        "/projects/lab-hidden",
    ):
        await made.ask("GET", path, made.token("viewer"))
    await made.ask("BREW", "/projects/shop", made.token("viewer"))
    text, found = await scraped(made)
    secrets = [made.token(role).rpartition(".")[2] for role in ("viewer", "runner")]
    for word in ("shop", "hidden", "viewer", "swordfish", "hooks.example", "BREW", SCRAPER, *secrets):
        assert word not in text
    assert any(
        one.startswith("faultwire_service_requests_total") and 'method="other"' in one for one in found
    )
    assert text.count('path="/projects/{project}/runs/{run}"') > 0  # the control: the template is there


async def test_whatever_is_asked_makes_no_more_series(made: Team) -> None:
    token = made.token("viewer")
    for number in range(5):
        await made.ask("GET", f"/projects/p{number}", token)
        await made.ask("GET", f"/none/{number}", token)
    before = len((await scraped(made))[1])
    for number in range(5, 60):
        await made.ask("GET", f"/projects/p{number}", token)
        await made.ask("GET", f"/none/{number}", token)
        await made.ask("GET", f"/none/{number}", f"p{number}.x.y")
    after = (await scraped(made))[1]
    assert len(after) <= before + 20  # the refusals of tokens, and the scrape itself
    metrics = Metrics("1")
    for number in range(MOST_CODES + 50):
        metrics.ended("/x", "GET", 400, f"code{number}", 0.1)
    text = metrics.text(Now(0, 0, {}, 0, 0.0))
    assert text.count("faultwire_service_errors_total{") == MOST_CODES + 1


async def test_a_request_that_breaks_is_over_and_counted(made: Team) -> None:
    big = b"{" + b" " * LARGEST + b"}"
    assert (await made.ask("POST", "/api/exchange", None, big)).status_code == 413
    _, found = await scraped(made)
    assert found["faultwire_service_in_flight{}"] == 1
    assert found['faultwire_service_errors_total{code="service.size"}'] == 1


def test_buckets_are_cumulative_and_end_with_the_count() -> None:
    metrics = Metrics("1")
    for seconds in (0.001, 0.02, 0.3, 90.0):
        metrics.ended("/x", "GET", 200, "", seconds)
    found = read(metrics.text(Now(0, 0, {}, 0, 0.0)))
    buckets = [v for k, v in found.items() if k.startswith("faultwire_service_request_seconds_bucket")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == found['faultwire_service_request_seconds_count{path="/x"}'] == 4
    assert found['faultwire_service_request_seconds_bucket{path="/x",le="0.025"}'] == 2


def test_the_dashboard_asks_for_metrics_that_are_given_and_shows_all_of_them() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    asked = " ".join(one["expr"] for panel in dashboard["panels"] for one in panel["targets"])
    used = set(re.findall(r"\b(?:faultwire|process)_[a-z_]+", asked))
    ends = ("_bucket", "_sum", "_count")
    given = set(METRICS) | {
        f"{n}{end}" for n, one in METRICS.items() if one.kind == "histogram" for end in ends
    }
    assert used - given == set()
    assert set(METRICS) - {re.sub("_bucket$", "", name) for name in used} == set()
    labels = set(re.findall(r"(?:by \(|\{)\s*([a-z]+(?:, [a-z]+)*)", asked))
    known = {"path", "method", "status", "code", "outcome", "state", "le", "version"}
    assert {one for names in labels for one in names.split(", ")} <= known
