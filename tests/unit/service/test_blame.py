"""What blame found stands beside the regression that it is of: its words where they are true, else others."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from tests.unit.blame.test_document import made as blamed
from tests.unit.service.conftest import Team, pushed

from faultwire.errors import UsageError
from faultwire.service.blame import by_session, checked
from faultwire.store.blamed import Blame

CAUSE = "#3 makes the failure: status on its call 3 ***"
PLACE = "/api/projects/shop/runs/r02/blame"
PAGE = "/projects/shop/runs/r02"
Json = dict[str, Any]


def result(
    folder: Path, run: str = "r02", session: str = "i29", causes: frozenset[int] = frozenset({1})
) -> Json:
    """A result of blame for one invocation of a run."""
    found = blamed(Path(mkdtemp(dir=folder)), causes)
    return {**found, "run": {**found["run"], "tape": f".faultwire/runs/{run}/run.tape", "session": session}}


async def regressed(made: Team) -> None:
    """`r1` is the baseline, and of `r02` 22 invocations fail that had passed."""
    await made.push(pushed("r1"))
    await made.ask(
        "POST", "/api/projects/shop/baseline", made.token("admin"), {"run": "r1", "reason": "first"}
    )
    drops = (await made.push(pushed("r02", 8))).json()["drops"]
    assert drops


async def page(made: Team) -> str:
    return (await made.ask("GET", PAGE, made.token("viewer"))).text


async def test_it_is_shown_beside_the_cell_that_fails_now_and_passed_before(
    made: Team, tmp_path: Path
) -> None:
    await regressed(made)
    before = await page(made)
    assert "Significantly worse than r1" in before
    assert "faultwire push r02 --blame FILE" in before  # until it is known
    assert CAUSE not in before
    found = result(tmp_path)
    done = await made.ask("POST", PLACE, made.token("runner"), found)
    assert (done.status_code, done.json()) == (201, {"run": "r02", "added": True})
    again = await made.ask("POST", PLACE, made.token("runner"), found)
    assert (again.status_code, again.json()["added"]) == (200, False)
    after = await page(made)
    cell = after.partition('<span class="mono">i29</span>')[2].partition("</ul></li>")[0]
    assert CAUSE in cell
    assert "pushed by token:runner" in cell
    assert "faultwire push r02 --blame FILE" not in after
    other = after.partition('<span class="mono">i28</span>')[2].partition("</li>")[0]
    assert CAUSE not in other, "another invocation that fails was not examined"
    assert CAUSE not in (await made.ask("GET", "/projects/shop/runs/r1", made.token("viewer"))).text
    kept = (await made.ask("GET", PLACE, made.token("viewer"))).json()["blame"]
    assert [one["document"]["blamed"] for one in kept] == [[1]]


async def test_nothing_is_blamed_where_no_part_is(made: Team, tmp_path: Path) -> None:
    await regressed(made)
    found = result(tmp_path)
    none = {**found, "blamed": [], "parts": [{**one, "verdict": "none"} for one in found["parts"]]}
    assert (await made.ask("POST", PLACE, made.token("runner"), none)).status_code == 201
    shown = await page(made)
    assert "none of the 3 parts makes the failure on its own or is needed for it" in shown
    assert "makes the failure:" not in shown


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        ("not_reproduced", "not explained: it failed in"),
        ("no_difference", "not explained by its faults"),
        ("budget", "did not decide everything"),
        ("interrupted", "interrupted after"),
    ],
)
async def test_a_search_that_did_not_end_well_is_shown_as_what_it_is(
    made: Team, tmp_path: Path, ended: str, words: str
) -> None:
    await regressed(made)
    assert words not in await page(made)
    found = result(tmp_path)
    assert (await made.ask("POST", PLACE, made.token("runner"), {**found, "ended": ended})).status_code == 201
    assert words in await page(made)
    assert words not in by_session([Blame("x", found, "me", "t")])["i29"][0]["words"]


async def test_one_of_an_invocation_that_did_not_regress_stands_below(made: Team, tmp_path: Path) -> None:
    await regressed(made)
    await made.ask("POST", PLACE, made.token("runner"), result(tmp_path, session="elsewhere"))
    shown = await page(made)
    assert shown.count(CAUSE) == 1
    assert CAUSE in shown.partition('id="blame"')[2]


async def test_what_is_no_result_or_of_another_run_is_refused_and_not_kept(
    made: Team, tmp_path: Path
) -> None:
    await regressed(made)
    good = result(tmp_path)
    bad: list[Any] = [
        {}, {**good, "blamed": [3]}, {**good, "blamed": [-1]}, {**good, "ended": "won"}, {**good, "more": 1},
        result(tmp_path, run="r1"),
        {**good, "run": {**good["run"], "tape": "r02"}}, {**good, "parts": []}, b"[]",
    ]  # fmt: skip
    for one in bad:
        done = await made.ask("POST", PLACE, made.token("runner"), one)
        assert done.status_code == 400, done.text
    none = await made.ask(
        "POST", "/api/projects/shop/runs/r9/blame", made.token("runner"), result(tmp_path, "r9")
    )
    assert none.status_code == 404
    assert (await made.ask("GET", PLACE, made.token("viewer"))).json() == {"blame": []}


async def test_words_of_an_agent_are_inert_on_the_page(made: Team, tmp_path: Path) -> None:
    await regressed(made)
    found = result(tmp_path)
    found["parts"][1]["label"] = "<script>alert(1)</script>\u202e"
    found["run"]["oracle"] = "<img src=x>"
    assert (await made.ask("POST", PLACE, made.token("runner"), found)).status_code == 201
    shown = await page(made)
    assert "<script" not in shown
    assert "<img src=x" not in shown
    assert "\u202e" not in shown
    assert "&lt;script&gt;" in shown


def test_a_tape_of_a_worker_is_the_run_s_too(tmp_path: Path) -> None:
    found = result(tmp_path)
    of_worker = {**found, "run": {**found["run"], "tape": "/x/runs/r02/tapes/w1.tape"}}
    assert checked(of_worker, "r02")["run"]["session"] == "i29"
    with pytest.raises(UsageError, match="expected a tape of the run `r01`"):
        checked(of_worker, "r01")
