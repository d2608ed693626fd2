"""Who gets nothing from the workbench. Each attack has a control: the same with one defence switched off."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.workbench.serving import Bench, serving
from tests.unit.workbench.conftest import deck_at

from faultwire.mitm.network import peer_user
from faultwire.workbench.access import CSRF, Access
from faultwire.workbench.app import application
from faultwire.workbench.assets import HEADERS

Patch = pytest.MonkeyPatch


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    deck = deck_at(tmp_path / "t.tape")
    deck.exchange()
    deck.cut()
    with serving(deck.close()) as made:
        yield made


def refused(response: Any) -> str:
    assert response.status_code in (401, 403, 421), response.text
    error = response.json()["error"]
    assert error["message"]
    assert error["hint"]
    return str(error["code"])


def switched_off(patch: Patch, rule: str) -> None:
    patch.setattr(Access, rule, lambda *_: None)


# ---------------------------------------------------------------- a program that speaks HTTP


def test_with_a_session_everything_is_answered(bench: Bench) -> None:
    with bench.inside() as client:
        for path in ("tape", "exchanges", "ledger", "exchanges/0", "exchanges/1/events", "exchanges/1/view"):
            assert client.get(f"/api/{path}").status_code == 200, path
        assert client.post("/api/verification").json()["ok"] is True


def test_without_a_cookie_nothing_is_answered(bench: Bench, monkeypatch: Patch) -> None:
    with bench.client() as client:
        assert refused(client.get("/api/exchanges")) == "ui.no_session"
        assert refused(client.get("/api/live")) == "ui.no_session"
        assert refused(client.post("/api/verification")) == "ui.no_session"
        switched_off(monkeypatch, "_unknown")
        assert client.get("/api/exchanges").status_code == 200


def test_a_name_that_was_rebound_is_refused(bench: Bench, monkeypatch: Patch) -> None:
    with bench.inside() as client:
        given = {"host": f"evil.test:{bench.port}", "origin": f"http://evil.test:{bench.port}"}
        assert refused(client.get("/api/exchanges", headers=given)) == "ui.host"
        assert refused(client.get("/", headers=given)) == "ui.host"
        switched_off(monkeypatch, "_wrong_host")
        assert client.get("/api/exchanges", headers=given).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.test", "null", "http://127.0.0.1:9"])
def test_a_page_of_another_origin_is_refused(bench: Bench, monkeypatch: Patch, origin: str) -> None:
    with bench.inside() as client:
        given = {"origin": origin, "sec-fetch-site": "same-site"}
        assert refused(client.get("/api/exchanges", headers=given)) == "ui.origin"
        assert refused(client.post("/api/verification", headers=given)) == "ui.origin"
        switched_off(monkeypatch, "_foreign")
        assert client.get("/api/exchanges", headers=given).status_code == 200


def test_a_used_link_is_refused(bench: Bench) -> None:
    token = {"token": bench.access.link}
    with bench.inside(), bench.client() as thief:
        assert (
            refused(thief.post("/api/session", json=token, headers={"origin": bench.url})) == "ui.token_used"
        )
        assert refused(thief.get("/api/exchanges")) == "ui.no_session"
        bench.access._used = False  # the control: a link that may be used again
        assert thief.post("/api/session", json=token, headers={"origin": bench.url}).status_code == 200
        assert thief.get("/api/exchanges").status_code == 200


def test_a_write_without_the_page_s_word_is_refused(bench: Bench, monkeypatch: Patch) -> None:
    with bench.inside() as client:
        assert refused(client.post("/api/verification", headers={CSRF: "guess"})) == "ui.csrf"
        assert refused(client.delete("/api/session", headers={CSRF: ""})) == "ui.csrf"
        switched_off(monkeypatch, "_forged")
        assert client.post("/api/verification", headers={CSRF: "guess"}).status_code == 200


WRITES = (
    ("POST", "shares"), ("POST", "verification"), ("POST", "breaks"), ("POST", "interventions"),
    ("DELETE", "interventions/i1"), ("POST", "held/h1"),
)  # fmt: skip


def test_who_got_a_shared_link_reads_and_writes_nothing(bench: Bench, monkeypatch: Patch) -> None:
    with bench.inside() as owner, bench.client() as reader:
        token = owner.post("/api/shares").json()["token"]
        done = reader.post("/api/session", json={"token": token}, headers={"origin": bench.url})
        assert done.json()["read_only"] is True
        reader.headers.update({CSRF: done.json()["csrf"], "origin": bench.url})
        for path in ("tape", "exchanges", "ledger", "exchanges/0", "control", "session"):
            assert reader.get(f"/api/{path}").status_code == 200, path
        for method, path in WRITES:
            assert refused(reader.request(method, f"/api/{path}", json={})) == "ui.read_only", path
        assert bench.subject.verification is None
        switched_off(monkeypatch, "_writing")
        for method, path in WRITES:
            assert reader.request(method, f"/api/{path}", json={}).status_code in (200, 400), path
        assert bench.subject.verification is not None


def test_every_write_of_the_page_is_among_those_that_a_reader_is_refused(bench: Bench) -> None:
    routes = application(bench.subject, bench.access)._app.routes
    found = {
        (method, route.path.removeprefix("/api/"))
        for route in routes
        for method in route.methods - {"GET", "HEAD"}
        if route.path != "/api/session"
    }
    assert {(method, path.split("/")[0]) for method, path in found} == {
        (method, path.split("/")[0]) for method, path in WRITES
    }


def test_a_process_of_another_user_is_refused_even_with_the_cookie(bench: Bench, monkeypatch: Patch) -> None:
    with bench.inside() as client:
        assert client.get("/api/tape").status_code == 200  # the control: our own process
        monkeypatch.setattr(peer_user, "user_of", lambda *_: os.getuid() + 1)
        assert refused(client.get("/api/tape")) == "ui.user"


def test_the_cookie_is_kept_from_scripts_and_other_sites(bench: Bench) -> None:
    with bench.client() as client:
        done = client.post("/api/session", json={"token": bench.access.link}, headers={"origin": bench.url})
        cookie = done.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert bench.access.link not in cookie


def test_every_answer_has_the_headers_refusals_too(bench: Bench) -> None:
    with bench.inside() as client, bench.client() as nobody:
        for one in (
            client.get("/"),
            client.get("/main.js"),
            client.get("/api/tape"),
            nobody.get("/api/tape"),
        ):
            assert {name: one.headers[name] for name in HEADERS} == HEADERS


def test_a_program_s_token_is_taken_where_there_is_one(bench: Bench, tmp_path: Path) -> None:
    given = {"authorization": "Bearer of-this-test"}
    with serving(tmp_path / "t.tape", program="of-this-test") as served, served.client() as client:
        assert client.get("/api/exchanges", headers=given).json()["rows"][0]["number"] == 1
        assert refused(client.get("/api/exchanges", headers={"authorization": "Bearer x"})) == "ui.no_session"
    with bench.client() as client:
        assert refused(client.get("/api/exchanges", headers=given)) == "ui.no_session"


@pytest.mark.parametrize("path", ["/../access.py", "/%2e%2e/access.py", "/assets/main.js", "/api/../main.py"])
def test_no_path_leads_out_of_our_files(bench: Bench, path: str) -> None:
    with socket.create_connection(("127.0.0.1", bench.port)) as raw:
        raw.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{bench.port}\r\nConnection: close\r\n\r\n".encode()
        )
        assert raw.makefile("rb").readline().split()[1] in (b"401", b"404")


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"token": 1}', b"[" * 20_000, b'{"token":"' + b"x" * 20_000]
)
def test_a_body_that_is_no_token_is_refused_and_the_link_still_works(bench: Bench, body: bytes) -> None:
    with bench.client() as client:
        done = client.post("/api/session", content=body, headers={"origin": bench.url})
        assert done.status_code in (400, 403, 413)
    with bench.inside() as inside:
        assert inside.get("/api/tape").status_code == 200


# ---------------------------------------------------------------- a real browser


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """Another server on this machine, with an empty page."""

    class Empty(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Empty)
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


WRITE = """url => fetch(url, {method: 'POST', credentials: 'include', mode: 'no-cors'})
  .then(() => 'read', () => 'not read')"""


def test_a_page_that_was_shared_shows_all_and_offers_nothing(chromium: Any, page: Any, bench: Bench) -> None:
    page.goto(bench.link)
    page.wait_for_selector("body[data-ready]")
    assert page.locator("#reads").is_hidden()
    page.keyboard.press("s")
    page.wait_for_selector("#shared[open]")
    link = page.locator("#shared-link").inner_text()
    with chromium.new_context() as elsewhere:
        shared = elsewhere.new_page()
        shared.goto(link)
        shared.wait_for_selector("body[data-ready]")
        assert shared.url == f"{bench.url}/"
        assert shared.locator("#reads").inner_text() == "read only"
        assert shared.locator("#list [role=row]").count() == page.locator("#list [role=row]").count() > 0
        for button in ("share", "verify", "control"):
            assert shared.locator(f"#{button}").is_hidden()
        shared.keyboard.press("s")
        assert shared.locator("#shared").is_hidden()
        again = elsewhere.new_page()
        again.goto(link)
        again.wait_for_selector("body[data-ready]")  # in the browser that opened it, as a reload


def test_another_page_of_the_same_browser_changes_nothing(
    page: Any, bench: Bench, elsewhere: str, monkeypatch: Patch
) -> None:
    """The browser sends our cookie along: both are the same site, for ports do not count."""
    page.goto(bench.link)
    page.wait_for_selector("body[data-ready]")
    page.goto(elsewhere)
    assert page.evaluate(WRITE, f"{bench.url}/api/verification") == "not read"
    assert bench.subject.verification is None
    switched_off(monkeypatch, "_foreign")
    switched_off(monkeypatch, "_forged")
    page.evaluate(WRITE, f"{bench.url}/api/verification")
    assert bench.subject.verification is not None


def test_a_browser_is_not_deceived_by_a_rebound_name(page: Any, bench: Bench, monkeypatch: Patch) -> None:
    url = f"http://evil.test:{bench.port}/"
    assert page.goto(url).status == 421
    assert "ui.host" in page.content()
    switched_off(monkeypatch, "_wrong_host")
    assert page.goto(url).status == 200


def test_the_token_leaves_the_address_and_a_thief_is_refused(chromium: Any, page: Any, bench: Bench) -> None:
    page.goto(bench.link)
    page.wait_for_selector("body[data-ready]")
    assert page.url == f"{bench.url}/"
    page.reload()
    page.wait_for_selector("body[data-ready]")
    with chromium.new_context() as other:
        thief = other.new_page()
        thief.goto(bench.link)
        thief.wait_for_selector("#closed:not([hidden])")
        assert "used before" in thief.locator("#closed").inner_text()
        assert thief.locator("#main").is_hidden()
