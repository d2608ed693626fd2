"""Each reason that a check prints is true of an agent on a real framework where it is printed, and where it
is false of a similar one the sentence that is true stands in its place. The agents' own logs decide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import verdict_plays
from labelled import LIMIT_S
from verdict_claims import Claim
from verdict_left import CHECKS, LEFT, TYPES
from verdict_log import Log
from verdict_plays import CLAIMS, PLAYS, Cell
from verdict_tools import HALF
from verdict_wire import LEGAL

import faultwire

ROOT = Path(__file__).parents[3]
SOURCES = Path(faultwire.__file__).parent / "checks"
SENTENCES = json.loads((ROOT / "tests" / "vectors" / "sentences.json").read_text())
FAMILIES = sorted({name.partition(",")[0] for name in PLAYS})
SHOWS_ALL = "langgraph"
ELSEWHERE = {"the agent did not end well", HALF}
"""Shown by agents of other frameworks: this one repairs the arguments of a call that was cut."""


LEAST = 12
"""Characters by which a part of a template is known."""


def _literals(template: str) -> list[str]:
    """The parts of a template that are always the same: the longest, and others that are long enough."""
    parts = sorted((part.strip() for part in template.split("{}")), key=len)
    return [part for part in parts if len(part) >= LEAST] or parts[-1:]


def _claimed(path: str, template: str) -> bool:
    """Does a claim hold this sentence? Modules with `_` print for several checks."""
    mine = [one for one in CLAIMS if path.startswith("_") or one.check == path.removesuffix(".py")]
    claimed = [words for one in mine for sentence in one.sentences for words in _literals(sentence)]
    return any(one in words or words in one for one in _literals(template) for words in claimed)


def test_every_sentence_of_a_check_has_a_claim_or_a_reason() -> None:
    printed = {key.removeprefix("checks/") for key in SENTENCES if key.startswith("checks/")}
    left = {one for sentences in LEFT.values() for one in sentences}
    assert left <= printed
    assert {one for one in printed - left if not _claimed(*one.split(": ", 1))} == set()
    never = set(LEFT[TYPES])
    assert {one for one in left - never if SENTENCES[f"checks/{one}"][0] is None} == set()


def test_every_check_has_a_claim_or_a_reason() -> None:
    checks = {path.stem for path in SOURCES.glob("[a-z]*.py")}
    assert checks == {one.check for one in CLAIMS} | CHECKS.keys()


def test_every_claim_has_an_opposite() -> None:
    assert {one.id for one in CLAIMS if len(set(one.sentences.values())) < 2} == set()
    assert len({one.id for one in CLAIMS}) == len(CLAIMS)


def test_a_false_sentence_is_found() -> None:
    claim = Claim("contains", {}, {"`a` is in it": "pass", "`a` is not in it": "fail"}, lambda log: None)
    log = Log("", "calm", 'TRUTH {"exit": 0, "answer": "b"}')
    cell = Cell("", claim, "`a` is not in it", "fail", "`a` is not in it", "", log)
    assert not cell.false
    assert cell._replace(explanation="`a` is in it").false
    assert cell._replace(verdict="pass").false
    unfired = "no fault of `x` fired (none); without it the verdict is fail: `a` is not in it"
    assert not cell._replace(verdict="unknown", explanation=unfired).false
    broken = Log("", "down", "")
    assert cell._replace(verdict="unknown", explanation=unfired, log=broken).false


def test_by_day_a_call_that_is_never_answered(tmp_path: Path) -> None:
    prompts = verdict_plays.WIRE_PROMPTS[:1]
    cells = verdict_plays.play(tmp_path, "langgraph, orphan", prompts)
    assert _false(cells) == []
    shown = verdict_plays.seen(cells)
    assert shown["valid_history", "the call `call_1` has no result before the next `user` speaks"] == (1, 0)
    assert shown["valid_history", LEGAL] == (0, 1)


@pytest.mark.timeout(LIMIT_S)
@pytest.mark.nightly
@pytest.mark.parametrize("family", FAMILIES)
def test_every_verdict_on_agents_of_real_frameworks(family: str, tmp_path: Path) -> None:
    cells: list[Cell] = []
    for at, name in enumerate(one for one in PLAYS if one.partition(",")[0] == family):
        work = tmp_path / str(at)
        work.mkdir()
        cells += verdict_plays.play(work, name)
    assert cells
    assert _false(cells) == []
    if family == SHOWS_ALL:
        shown = verdict_plays.seen(cells)
        never = {key for key, both in shown.items() if 0 in both and key[1] not in ELSEWHERE}
        assert never == set()


def _false(cells: list[Cell]) -> list[tuple[str, ...]]:
    return [
        (one.play, one.where, one.claim.id, one.words, one.verdict, one.explanation)
        for one in cells
        if one.false
    ]
