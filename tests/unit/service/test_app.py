"""The service over HTTP: who gets in, what each role gets, and what runs become."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.routing import Route
from tests.unit.service.conftest import BASE, Team, pushed

from faultwire import clock
from faultwire.contract.matrix import Matrix
from faultwire.report.document import Subject, document as written
from faultwire.service import api, pages
from faultwire.service.acts import Acts
from faultwire.service.browsers import LASTS_S
from faultwire.service.guard import HEADERS, LARGEST
from faultwire.service.settings import Alert, Project, Rule, Settings
from faultwire.store.tokens import revoke
from faultwire.tape.read.reader import TapeReader

RUN = "/api/projects/shop/runs/r1"
Json = dict[str, Any]


def lines(made: Team) -> list[tuple[str, str, int, str]]:
    """The audit log: caller, path, status, code."""
    with TapeReader.open(made.audit.path) as reader:
        found = [one for session in reader.sessions() for one in reader.exchanges(session.name)]
    return [
        (
            dict(one.request.headers)["x-faultwire-caller"], one.request.path,
            one.delivered.status if one.delivered else 0,
            dict(one.delivered.headers).get("x-faultwire-code", "") if one.delivered else "",
        )
        for one in found
    ]  # fmt: skip


async def test_a_run_is_taken_once_and_read_again(made: Team) -> None:
    done = await made.push(pushed("r1"))
    assert (done.status_code, done.json()["added"]) == (201, True)
    again = await made.push(pushed("r1"))
    assert (again.status_code, again.json()["added"]) == (200, False)
    other = await made.push(pushed("r1", 29))
    assert (other.status_code, other.json()["error"]["code"]) == (409, "store.changed")
    token = made.token("viewer")
    (run,) = (await made.ask("GET", "/api/projects/shop/runs", token)).json()["runs"]
    assert (run["id"], run["verdicts"]) == ("r1", {"pass": 30, "fail": 0, "unknown": 0})
    found = (await made.ask("GET", RUN, token)).json()
    assert found["phases"] == ["contract"]
    report = (await made.ask("GET", f"{RUN}/reports/contract", token)).json()
    assert report["cells"] == pushed("r1")["reports"]["contract"]["cells"]
    assert (await made.ask("GET", "/api/projects/shop/runs/r9", token)).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {}, {"about": {}}, {"about": pushed("r")["about"], "reports": {}}, {**pushed("r"), "more": 1},
        {"about": {**pushed("r")["about"], "id": "../x"}, "reports": pushed("r")["reports"]},
        {"about": {**pushed("r")["about"], "id": "a\n"}, "reports": pushed("r")["reports"]},
        {"about": {**pushed("r")["about"], "commit_id": "a\0b"}, "reports": pushed("r")["reports"]},
        {**pushed("r"), "tapes": {"run.tape": "x"}}, {**pushed("r"), "tapes": {"a\0b": "d" * 64}},
        {"about": {**pushed("r")["about"], "status": "running"}, "reports": pushed("r")["reports"]},
        {"about": {**pushed("r")["about"], "project": "other"}, "reports": pushed("r")["reports"]},
        {"about": pushed("r")["about"], "reports": {"contract": {"cells": "x"}}},
        {"about": pushed("r")["about"], "reports": {"contract": {"cells": [1], "score": {}}}},
        {"about": pushed("r")["about"], "reports": {"../x": pushed("r")["reports"]["contract"]}},
        b"[]", b"{", b'"x"', b"[" * 5000,
    ],
)  # fmt: skip
async def test_what_is_no_run_is_refused_and_nothing_of_it_is_kept(made: Team, body: Any) -> None:
    done = await made.ask("POST", "/api/projects/shop/runs", made.token("runner"), body)
    assert done.status_code == 400, done.text
    assert (await made.ask("GET", "/api/projects/shop/runs", made.token("viewer"))).json() == {"runs": []}


def endpoints(made: Team) -> list[tuple[str, str]]:
    acts = Acts(made.engine, Settings())
    found: list[Route] = [*api.routes(acts, None, None), *pages.routes(acts, made.browsers, None, None, BASE)]
    return [(method, one.path) for one in found for method in sorted(one.methods or ()) if method != "HEAD"]


async def test_each_endpoint_of_a_project_is_closed_to_strangers_to_other_projects_and_to_smaller_roles(
    made: Team,
) -> None:
    await made.push(pushed("r1"))
    least = {
        ("POST", "/api/projects/{project}/runs"): "runner",
        ("POST", "/api/projects/{project}/runs/{run}/shares"): "runner",
        ("POST", "/api/projects/{project}/runs/{run}/blame"): "runner",
        ("POST", "/projects/{project}/runs/{run}/shares"): "runner",
        ("POST", "/api/projects/{project}/baseline"): "admin",
        ("POST", "/projects/{project}/runs/{run}/baseline"): "admin",
        ("GET", "/api/projects/{project}/tokens"): "admin",
        ("POST", "/api/projects/{project}/tokens"): "admin",
        ("DELETE", "/api/projects/{project}/tokens/{ident}"): "admin",
    }
    asked = [(method, path) for method, path in endpoints(made) if "{project}" in path]
    assert len(asked) == 23
    for method, path in asked:
        place = path.format(project="shop", run="r1", phase="contract", ident="x")
        body: Json | None = {} if method != "GET" else None
        strange = await made.ask(method, place, None, body)
        assert strange.status_code in (401, 303), (method, path)
        assert strange.status_code == 401 or strange.headers["location"] == "/login"
        assert (await made.ask(method, place, made.token("admin", "other"), body)).status_code == 403, path
        needed = least.get((method, path), "viewer")
        for role in ("viewer", "runner", "admin"):
            may = ("viewer", "runner", "admin").index(role) >= ("viewer", "runner", "admin").index(needed)
            status = (await made.ask(method, place, made.token(role), body)).status_code  # type: ignore[arg-type]
            assert (status != 403) is may, (method, path, role, status)


async def test_a_path_with_a_nul_is_refused_before_a_database_sees_it(made: Team) -> None:
    token = made.token("viewer")
    for path in ("/api/projects/shop/runs/s3cret%00", "/projects/sh%00op", "/shared/a.b%00.c"):
        answer = await made.ask("GET", path, token)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "service.request")
    plain = await made.ask("GET", "/api/projects/shop/runs/s3cret", token)
    assert plain.status_code == 404  # the control


async def test_a_nul_in_a_cell_s_name_is_kept_in_the_report_alone(made: Team) -> None:
    run = pushed("r1", 1, 1)
    run["reports"]["contract"]["cells"][0]["scenario"] = "a\0b"
    assert (await made.push(run)).status_code == 201
    (found,) = (await made.ask("GET", "/api/projects/shop/runs", made.token("viewer"))).json()["runs"]
    assert list(found["scenarios"]) == ["a\ufffdb"]
    report = (await made.ask("GET", f"{RUN}/reports/contract", made.token("viewer"))).json()
    assert report["cells"][0]["scenario"] == "a\0b"


async def test_a_token_that_is_none_has_ended_or_was_revoked_lets_nobody_in(made: Team) -> None:
    good = made.token("viewer")
    project, ident, secret = good.rsplit(".", 2)
    wrong = [
        "", "x", good[:-1], good + "x", f"other.{ident}.{secret}", f"{project}.{ident}.{'0' * 64}", secret,
        f"{project}.{'0' * 16}.{secret}", f"shop' OR '1'='1.{ident}.{secret}", "." * 3, good.upper(),
        made.token("viewer", days=1e-9),
    ]  # fmt: skip
    for one in wrong:
        done = await made.ask("GET", "/api/me", None, authorization=f"Bearer {one}")
        assert done.status_code == 401, one
    assert (await made.ask("GET", "/api/me", good)).json() == {
        "name": "token:viewer",
        "roles": {"shop": "viewer"},
    }
    revoke(made.engine, "shop", ident)
    assert (await made.ask("GET", "/api/me", good)).status_code == 401


async def test_another_name_or_another_origin_is_refused(made: Team) -> None:
    token = made.token("viewer")
    assert (await made.ask("GET", "/api/me", token, host="evil.example")).status_code == 421
    body = {"text": "x"}
    await made.push(pushed("r1"))
    done = await made.ask("POST", f"{RUN}/comments", token, body, origin="https://evil.example")
    assert (done.status_code, done.json()["error"]["code"]) == (403, "service.origin")
    assert (await made.ask("POST", f"{RUN}/comments", token, body, origin=BASE)).status_code == 201


async def test_a_body_that_is_too_long_is_not_read(made: Team) -> None:
    await made.push(pushed("r1"))
    done = await made.ask("POST", f"{RUN}/comments", made.token("viewer"), b"x" * (LARGEST + 1))
    assert done.status_code == 413


async def test_every_answer_has_the_headers(made: Team) -> None:
    for path in ("/login", "/api/me", "/none", "/style.css", "/health"):
        done = await made.ask("GET", path, None)
        assert HEADERS.items() <= dict(done.headers).items(), path


# ------------------------------------------------------------ browsers


async def come_in(made: Team, token: str) -> tuple[str, str]:
    """The cookie of a browser, and the word of its pages."""
    form = f"token={token}".encode()
    done = await made.ask("POST", "/login", None, form, content_type="application/x-www-form-urlencoded")
    assert done.status_code == 200
    cookie = done.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    value = cookie.partition(";")[0]
    browser = made.browsers.of(value)
    assert browser is not None
    return value, browser.word


async def test_a_browser_comes_in_by_a_token_and_adds_by_its_page_alone(made: Team) -> None:
    await made.push(pushed("r1"))
    cookie, word = await come_in(made, made.token("admin"))
    page = await made.ask("GET", "/projects/shop/runs/r1", None, cookie=cookie)
    assert f'value="{word}"' in page.text
    form = {"content_type": "application/x-www-form-urlencoded", "cookie": cookie}
    place = "/projects/shop/runs/r1/comments"
    for bad in (b"text=x", b"text=x&csrf=", b"text=x&csrf=y"):
        done = await made.ask("POST", place, None, bad, **form)
        assert (done.status_code, done.json()["error"]["code"]) == (403, "service.csrf")
    assert "none yet" in (await made.ask("GET", "/projects/shop/runs/r1", None, cookie=cookie)).text
    text = f"text=%3Cscript%3E1%3C/script%3E%E2%80%AE%0D%0Atwo&csrf={word}".encode()
    assert (await made.ask("POST", place, None, text, **form)).status_code == 303
    page = await made.ask("GET", "/projects/shop/runs/r1", None, cookie=cookie)
    assert "&lt;script&gt;1&lt;/script&gt;" in page.text
    assert "<script" not in page.text
    assert "\u202e" not in page.text
    for path in ("/", "/projects/shop", "/projects/shop/runs/r1/contract.html"):
        assert (await made.ask("GET", path, None, cookie=cookie)).status_code in (200, 303, 422), path
    assert (await made.ask("POST", "/logout", None, f"csrf={word}".encode(), **form)).status_code == 303
    assert (await made.ask("GET", "/projects/shop", None, cookie=cookie)).headers["location"] == "/login"


async def test_a_browser_is_sent_away_when_its_time_is_over(
    made: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    cookie, _ = await come_in(made, made.token("viewer"))
    now = clock.monotonic()
    for later, status in ((LASTS_S - 60, 200), (LASTS_S + 60, 303)):
        monkeypatch.setattr(clock, "monotonic", lambda later=later: now + later)
        assert (await made.ask("GET", "/projects/shop", None, cookie=cookie)).status_code == status


def whole_but_for_its_duration() -> Json:
    about = Subject("r1", "contract", "agent", 42, 1, "2026-01-01", 0.0, "0" * 64, phase="contract")
    made: Json = json.loads(json.dumps(written(about, (), (), (), Matrix(()), (), redact=str)))
    del made["run"]["duration_s"]
    return made


@pytest.mark.parametrize("report", [{"cells": [], "score": {}}, whole_but_for_its_duration()])
async def test_a_report_that_lacks_parts_is_named_as_one(made: Team, report: Json) -> None:
    run = {**pushed("r1"), "reports": {"contract": report}}
    assert (await made.push(run)).status_code == 201
    done = await made.ask("GET", "/projects/shop/runs/r1/contract.html", made.token("viewer"))
    assert (done.status_code, done.json()["error"]["code"]) == (422, "service.report")


async def test_a_wrong_token_opens_nothing_and_is_named(made: Team) -> None:
    done = await made.ask(
        "POST", "/login", None, b"token=x", content_type="application/x-www-form-urlencoded"
    )
    assert (done.status_code, "set-cookie" in done.headers) == (401, False)
    assert lines(made)[-1] == ("", "/login", 401, "service.token")


async def test_a_link_shows_its_run_until_it_is_revoked(made: Team) -> None:
    for name in ("r1", "r02"):
        await made.push(pushed(name))
    link = (await made.ask("POST", f"{RUN}/shares", made.token("runner"), {"days": 1})).json()
    opened = await made.ask("GET", link["path"], None)
    cookie = opened.headers["set-cookie"].partition(";")[0]
    page = await made.ask("GET", "/projects/shop/runs/r1", None, cookie=cookie)
    assert (page.status_code, "<form" in page.text.replace('action="/logout"', "")) == (200, True)
    assert 'comments">' not in page.text.replace('id="comments">', "")
    for path in (
        "/projects/shop",
        "/projects/shop/runs/r02",
        "/api/projects/shop/runs",
        "/api/projects/shop/baseline",
    ):
        assert (await made.ask("GET", path, None, cookie=cookie)).status_code == 403, path
    secret = link["path"].rpartition("/")[2]
    assert (await made.ask("GET", "/api/me", secret)).status_code == 401  # it is no token
    revoke(made.engine, "shop", link["id"])
    assert (await made.ask("GET", link["path"], None)).status_code == 404
    assert all(secret.rpartition(".")[2] not in path for _, path, _, _ in lines(made))
    assert (f"link:{link['id']}", "/shared/", 200, "") in lines(made)
    assert ("", "/shared/", 404, "service.link") in lines(made)
    assert (f"link:{link['id']}", "/projects/shop", 403, "service.role") in lines(made)
    for days in (0, 31, "7", True, None):
        asked = await made.ask("POST", f"{RUN}/shares", made.token("runner"), {"days": days})
        assert asked.status_code == 400, days


# ------------------------------------------------------------ the audit log


async def test_what_changes_something_and_what_is_refused_stands_in_the_audit_log(made: Team) -> None:
    await made.push(pushed("r1"))
    await made.ask("GET", "/api/me", made.token("viewer"))
    await made.ask("POST", f"{RUN}/comments", made.token("viewer"), {"text": "s3cret remark"})
    await made.ask("POST", "/api/projects/shop/baseline", made.token("viewer"), {"run": "r1", "reason": "x"})
    await made.ask("GET", "/api/me", "wrong")
    assert lines(made) == [
        ("token:runner", "/api/projects/shop/runs", 201, ""),
        ("token:viewer", f"{RUN}/comments", 201, ""),
        ("token:viewer", "/api/projects/shop/baseline", 403, "service.role"),
        ("", "/api/me", 401, "service.token"),
    ]
    assert b"s3cret" not in made.audit.path.read_bytes()


async def test_nothing_is_answered_that_the_log_cannot_keep(made: Team) -> None:
    await made.push(pushed("r1"))
    made.audit.path.unlink()
    done = await made.ask("POST", f"{RUN}/comments", made.token("viewer"), {"text": "x"})
    assert (done.status_code, done.json()["error"]["code"]) == (503, "service.audit")


# ------------------------------------------------------------ baselines and alerts

WATCHED = Settings(
    projects={"shop": Project(baseline=Rule(command="ci"), alerts=(Alert(url="http://127.0.0.1:1/x"),))}
)


@pytest.mark.parametrize("settings", [WATCHED])
async def test_a_rule_promotes_and_only_a_significant_drop_is_reported(made: Team) -> None:
    first = (await made.push(pushed("r1"))).json()
    assert first["promoted"].startswith("the project's rule: gate `pass`, command `ci`")
    same = (await made.push(pushed("r02", 29))).json()
    assert (same["drops"], same["problems"]) == ([], [])
    assert same["promoted"] is not None
    worse = (await made.push(pushed("r003", 10))).json()
    assert worse["drops"] == ["contract, scenario `calm`: 10 of 30 passed, 29 of 30 before (p = 3.8e-06)"]
    assert worse["promoted"] is None
    assert worse["problems"] == ["the alert to 127.0.0.1 was not taken: ConnectError"]
    kept = (await made.ask("GET", "/api/projects/shop/baseline", made.token("viewer"))).json()["baseline"]
    assert (kept["run"], kept["number"], kept["promoted_by"]) == ("r02", 2, "token:runner")
    found = (await made.ask("GET", "/api/projects/shop/runs/r003/comparison", made.token("viewer"))).json()
    assert [drop["text"] for drop in found["drops"]] == worse["drops"]
    cookie, _ = await come_in(made, made.token("admin"))
    for name, words in (("r003", "Significantly worse than r02"), ("r02", "This run is the baseline"),
                        ("r1", "No significant drop below r02")):  # fmt: skip
        page = (await made.ask("GET", f"/projects/shop/runs/{name}", None, cookie=cookie)).text
        assert words in page
        assert ("Significantly worse" in page) is (name == "r003")


async def test_cells_that_change_are_those_of_one_agent_only(made: Team) -> None:
    for name, passed, agent in (("r1", 30, "g"), ("r02", 29, "g"), ("r003", 0, "another")):
        await made.push(pushed(name, passed, agent_digest=agent))
    token = made.token("viewer")
    found = (await made.ask("GET", f"{RUN}/changing", token)).json()["cells"]
    assert [(one["invocation"], one["passed"], one["judged"]) for one in found] == [("i29", 1, 2)]
    other = await made.ask("GET", "/api/projects/shop/runs/r003/changing", token)
    assert other.json() == {"cells": []}
