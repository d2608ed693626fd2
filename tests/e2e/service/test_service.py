"""A team's service from the command line: runs come in, drops are reported, others stay out."""

from __future__ import annotations

import http.client
import json
import random
import signal
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.e2e.play.conftest import TALKER, Project
from tests.e2e.service.conftest import Login, Service, faultwire, serving, token
from tests.unit.service.conftest import pushed

CONTRACT = {"name": "c", "invariants": [{"type": "completes"}], "chaos_matrix": [{"name": "calm"}]}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "talker.py").write_bytes(TALKER.read_bytes())
    found = Project(folder)
    found.write(contract=CONTRACT)
    return found


def secret(folder: Path, text: str) -> str:
    path = folder / "token"
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def test_a_run_is_pushed_by_a_pipeline_and_seen_by_the_team(project: Project, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/team.db"
    runner, viewer = token(tmp_path, store, "runner"), token(tmp_path, store, "viewer")
    with serving(tmp_path, store) as service:
        where = ("--store", service.url, "--project", "shop", "--store-token", secret(tmp_path, runner))
        done = project.run("ci", "-q", *where)
        assert done.returncode == 0, done.stderr
        status, found = service.ask("GET", "/api/projects/shop/runs", viewer)
        assert (status, [run["gate"] for run in found["runs"]]) == (200, ["pass"])
        run = found["runs"][0]["id"]
        assert run == project.runs[-1].name
        again = project.run("push", "last", *where)
        assert f"{run}: is already in the store" in again.stdout
        status, page = service.ask("GET", f"/projects/shop/runs/{run}/contract.html", viewer)
        assert (status, "faultwire" in page) == (200, True)
        refused = project.run("push", "last", *where[:-1], secret(tmp_path, viewer))
        assert (refused.returncode, "may not push runs of `shop`" in refused.stderr) == (2, True)
        assert runner not in refused.stderr + done.stderr
        assert service.end() == 130
    checked = faultwire(tmp_path, "tape", "verify", str(service.audit))
    assert "evidence AUTHORITATIVE" in checked.stdout
    shown = faultwire(tmp_path, "tape", "show", str(service.audit)).stdout
    assert "POST http://service:0/api/projects/shop/runs" in shown
    kept = b"".join(
        path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.name != "token"
    )
    for one in (runner, viewer):
        assert one.rpartition(".")[2].encode() not in kept


def test_a_significant_drop_is_reported_and_noise_is_not(tmp_path: Path, webhook: Any) -> None:
    url, seen = webhook
    config = tmp_path / "service.yaml"
    config.write_text(json.dumps({"projects": {"shop": {"baseline": {}, "alerts": [{"url": url}]}}}))
    store = f"sqlite:///{tmp_path}/team.db"
    runner = token(tmp_path, store, "runner")
    with serving(tmp_path, store, "--config", str(config)) as service:
        for name, passed in (("r1", 30), ("r02", 28), ("r003", 8)):
            assert service.ask("POST", "/api/projects/shop/runs", runner, pushed(name, passed))[0] == 201
    assert [(one["run"], one["baseline"]) for one in seen] == [("r003", "r02")]


def test_an_account_of_the_provider_comes_in_and_bent_tokens_do_not(tmp_path: Path, login: Login) -> None:
    config = tmp_path / "service.yaml"
    config.write_text(json.dumps({"oidc": {
        "issuer": login.issuer, "client_id": "faultwire",
        "roles": [{"claim": "groups", "value": "qa", "project": "shop", "role": "runner"}],
    }}))  # fmt: skip
    store = f"sqlite:///{tmp_path}/team.db"
    with serving(tmp_path, store, "--config", str(config)) as service:
        with httpx.Client(follow_redirects=True, trust_env=False) as browser:
            page = browser.get(f"{service.url}/login/oidc")
            assert (page.status_code, "Go on" in page.text) == (200, True)
            assert browser.get(f"{service.url}/").url.path == "/projects/shop"
            answer = page.url
        for again in (str(answer), f"{service.url}/login/callback?code=x&state=y"):
            assert httpx.get(again, trust_env=False).status_code == 401
        from cryptography.hazmat.primitives.asymmetric import rsa

        good, forged = login.signed(), login.signed(rsa.generate_private_key(65537, 2048))
        for bad in (
            forged,
            login.signed(exp=1, iat=1),
            login.signed(aud="x"),
            login.signed(iss="https://x.example"),
        ):
            status, _ = service.ask("POST", "/api/exchange", None, {"project": "shop", "id_token": bad})
            assert status == 401
        status, found = service.ask("POST", "/api/exchange", None, {"project": "shop", "id_token": good})
        assert (status, found["role"]) == (201, "runner")
        assert service.ask("POST", "/api/projects/shop/runs", found["token"], pushed("r1"))[0] == 201
        assert service.ask("POST", "/api/exchange", None, {"project": "shop", "id_token": good})[0] == 401
        other = {"project": "other", "id_token": login.signed(jti="2")}
        assert service.ask("POST", "/api/exchange", None, other)[0] == 403
        login.claims = {"groups": ["others"]}
        with httpx.Client(follow_redirects=True, trust_env=False) as browser:
            assert browser.get(f"{service.url}/login/oidc").status_code == 403


MARK = "kept-of-the-other-project"
PROJECTS = [
    "lab%20", "LAB", "shop/../lab", "shop%2f..%2flab", "%6cab", "lab/", "./lab", "lab%00", "lab' OR '1'='1",
    "shop",
    "*", "%25", "", "lab;shop",
]  # fmt: skip
RUNS = ["s3cret%00", "../../lab/runs/s3cret", "%2e%2e/s3cret", "*", "r1' OR 1=1--", "_3cret", "%"]
PATHS = [
    "/api/projects/{p}/runs", "/api/projects/{p}/runs/{r}", "/api/projects/{p}/baseline",
    "/api/projects/{p}/runs/{r}/reports/contract", "/api/projects/{p}/runs/{r}/comparison",
    "/api/projects/{p}/runs/{r}/comments", "/api/projects/{p}/runs/{r}/changing",
    "/api/projects/{p}/runs/{r}/shares", "/api/projects/{p}/tokens", "/projects/{p}",
    "/projects/{p}/runs/{r}",
    "/projects/{p}/runs/{r}/contract.html", "/projects/{p}/runs/{r}/comments", "/api/projects/{p}/tokens/{i}",
    "//api/projects/{p}/runs", "/shared/{mine}", "/shared/{theirs}x",
]  # fmt: skip
BODIES: list[Any] = [
    {"run": "s3cret", "reason": "x", "text": "x", "days": 1, "role": "admin", "name": "x", "project": "lab"},
    {**pushed("s3cret"), "project": "lab"},
]


def crafted(rng: random.Random, mine: str, theirs: str) -> tuple[str, str, str, Any]:
    """A request by a caller of one project for what is another's: method, path, token, body."""

    def mostly(plain: str, others: list[str]) -> str:
        return plain if rng.random() < 0.5 else rng.choice(others)

    ident, word = mine.split(".")[1:]
    about = {"p": mostly("lab", PROJECTS), "r": mostly("s3cret", RUNS), "i": theirs.split(".")[1]}
    path = rng.choice(PATHS).format(**about, mine=mine, theirs=theirs).replace(" ", "%20").replace("'", "%27")
    shown = mostly(mine, [f"lab.{ident}.{word}", f"lab.{about['i']}.{word}", f"{mine}.lab"])
    method = mostly("GET", ["POST", "DELETE", "PUT", "HEAD"])
    body = rng.choice([*BODIES, pushed(f"x{rng.getrandbits(32):08x}")])
    return method, path, shown, body if method in ("POST", "DELETE", "PUT") else None


def crossed(service: Service, mine: str, theirs: str, count: int) -> list[str]:
    """Which of so many crafted requests read something of the other project."""
    rng, found = random.Random(7), []
    for _ in range(count):
        method, path, shown, body = crafted(rng, mine, theirs)
        status, answer = service.ask(method, path, shown, body)
        assert status < 500, (method, path, status, answer)
        if MARK in str(answer):
            found.append(f"{method} {path}: {status}")
    return found


def two_projects(folder: Path, store: str) -> None:
    mine, theirs = token(folder, store, "admin"), token(folder, store, "admin", "lab")
    with serving(folder, store) as service:
        hidden = pushed("s3cret", commit_id=MARK)
        assert service.ask("POST", "/api/projects/lab/runs", theirs, hidden)[0] == 201
        assert service.ask("POST", "/api/projects/lab/runs/s3cret/comments", theirs, {"text": MARK})[0] == 201
        before = [
            service.ask("GET", f"/api/projects/lab/{what}", theirs) for what in ("runs", "baseline", "tokens")
        ]
        assert crossed(service, mine, theirs, 2_000) == []
        after = [
            service.ask("GET", f"/api/projects/lab/{what}", theirs) for what in ("runs", "baseline", "tokens")
        ]
        assert after == before
        comments = service.ask("GET", "/api/projects/lab/runs/s3cret/comments", theirs)[1]["comments"]
        assert [one["text"] for one in comments] == [MARK]
        # The control: the same requests with the other project's own token do read it.
        assert len(crossed(service, theirs, theirs, 200)) > 5


def test_no_request_crosses_from_one_project_to_another(tmp_path: Path) -> None:
    two_projects(tmp_path, f"sqlite:///{tmp_path}/team.db")


@pytest.mark.nightly
def test_no_request_crosses_on_postgresql(tmp_path: Path, postgresql: Any) -> None:
    two_projects(tmp_path, postgresql.url("team"))


@pytest.mark.cold
def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/team.db"
    runner = token(tmp_path, store, "runner")
    acknowledged: list[str] = []
    for start in range(3):
        with serving(tmp_path, store) as service:
            enough = threading.Event()

            def push(
                first: int, service: Service = service, enough: threading.Event = enough,
                most: int = 20 * (start + 1),
            ) -> None:  # fmt: skip
                for number in range(first, first + 60):
                    try:
                        status, _ = service.ask(
                            "POST", "/api/projects/shop/runs", runner, pushed(f"r{number}", 3, 4)
                        )
                    except (OSError, http.client.HTTPException, ValueError):
                        return
                    assert status == 201
                    acknowledged.append(f"r{number}")
                    if len(acknowledged) >= most:
                        enough.set()

            threads = [threading.Thread(target=push, args=(1000 * start + 100 * n,)) for n in range(3)]
            for thread in threads:
                thread.start()
            assert enough.wait(60)
            service.process.send_signal(signal.SIGKILL)
            for thread in threads:
                thread.join()
    with serving(tmp_path, store) as service:
        status, found = service.ask("GET", "/api/projects/shop/runs?most=200", runner)
        assert status == 200
        runs = {run["id"]: run["verdicts"] for run in found["runs"]}
    assert set(acknowledged) <= set(runs)
    assert all(one == {"pass": 3, "fail": 1, "unknown": 0} for one in runs.values())  # whole, or not at all
    for tape in sorted(tmp_path.glob(".faultwire/audit/*.tape"))[:-1]:
        checked = faultwire(tmp_path, "tape", "verify", str(tape))
        assert "evidence AUTHORITATIVE" not in checked.stdout  # nobody closed it


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--listen", "0.0.0.0:0"), "which others can reach, expected `--cert` and `--key`"),
        (("--address", "http://team.example"), "that is not https://"),
        (("--store", "mysql://h/d"), "expected a database"),
        (("--config", "bad.yaml"), "`projects.shop.x`"),
    ],
)
def test_what_would_be_open_or_wrong_is_refused_at_the_start(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    (tmp_path / "bad.yaml").write_text("projects: {shop: {x: 1}}")
    done = faultwire(tmp_path, "serve", "--store", f"sqlite:///{tmp_path}/t.db", *options, expect=2)
    assert words in done.stderr
