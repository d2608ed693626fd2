"""The page of every fault under the SDKs of OpenAI and Anthropic is as new as the faults and SDKs that are
installed, explains each difference, and some cells of it are run again."""

from __future__ import annotations

import fidelity
import outcomes
import pytest
from fidelity_table import ELSEWHERE, FAMILIES, FAULTS, IN_A_LOOP, OPENAI, OWN, REAL, SDKS, WHY

from faultwire.faults._registry import BUILTIN

SAMPLE = ("openai 3 (Python)", "anthropic 2 (Python)")
SAMPLED = ("status", "stream_error")


def page() -> fidelity.Cells:
    return fidelity.read(fidelity.DOC.read_text())


def test_every_fault_of_an_answer_is_injected() -> None:
    of_answers = {fault.name for fault in BUILTIN if fault.__module__.split(".")[2] in FAMILIES}
    assert {*FAULTS, *IN_A_LOOP} == of_answers - ELSEWHERE
    assert of_answers >= ELSEWHERE
    assert set(REAL) <= set(FAULTS)


def test_the_page_has_every_fault_and_sdk_and_no_other() -> None:
    cells = page()
    assert list(cells) == [*FAULTS, *IN_A_LOOP]
    for fault, row in cells.items():
        assert tuple(row) == SDKS, fault
        assert all(row.values()), fault
    assert set(SDKS) <= set(outcomes.ROWS)
    assert fidelity.document(cells) == fidelity.DOC.read_text(), "it is as the command writes it"


def test_every_fault_is_covered_by_a_case() -> None:
    missed = {fault for fault, row in page().items() if set("".join(row.values())) <= set("– /")}
    assert not missed


def test_every_difference_is_explained_and_nothing_else_is() -> None:
    found = {difference.fault for difference in fidelity.differences(page())}
    assert found == set(WHY)
    assert "not explained" not in fidelity.DOC.read_text()
    assert all(why for why in OWN.values())


def test_a_difference_is_seen() -> None:
    cells = page()
    right = cells["rate_limit"][OPENAI[0]]
    cells["rate_limit"][OPENAI[0]] = right.replace("RateLimitError", "Surprise", 1)
    added = set(fidelity.differences(cells)) - set(fidelity.differences(page()))
    assert [(one.fault, one.sdk, one.way) for one in added] == [("rate_limit", OPENAI[0], "whole")]


def test_a_page_that_is_read_and_written_again_is_the_same() -> None:
    cells = {fault: dict.fromkeys(SDKS, "`A`, 3 attempts / an answer, finish `x`") for fault in FAULTS}
    cells |= {fault: dict.fromkeys(SDKS, "an answer") for fault in IN_A_LOOP}
    assert fidelity.read(fidelity.document(cells)) == cells


@pytest.mark.parametrize("sdk", [SAMPLE[0], pytest.param(SAMPLE[1], marks=pytest.mark.nightly)])
@pytest.mark.parametrize("fault", SAMPLED)
def test_the_statements_of_the_page_still_hold(sdk: str, fault: str) -> None:
    assert fidelity.run(sdk, fault) == page()[fault][sdk]


@pytest.mark.nightly
@pytest.mark.parametrize("sdk", SDKS)
def test_all_statements_of_the_page_still_hold(sdk: str) -> None:
    said = page()
    for fault in (*FAULTS, *IN_A_LOOP):
        assert fidelity.run(sdk, fault) == said[fault][sdk], fault
