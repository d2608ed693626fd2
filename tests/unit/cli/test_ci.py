"""Which phases `ci` plays, and what it says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.cli.ci import NOT_SET, SET_BY, _listed, made
from faultwire.config.load import parse
from faultwire.config.model import Config

HEAD = "version: '2.0'\nagent: {type: command, command: [python3, '{prompt}']}\ngolden_prompts: [Which?]\n"
CONTRACT = "contract: {invariants: [{type: completes}], chaos_matrix: [{name: calm}]}\n"
OWN = "invariants: [{type: completes}]\n"
MUTATIONS = "mutations: {count: 2, types: [noise]}\n"
CHAOS = "chaos: {llm_faults: [{mode: rate_limit}]}\n"


def config(*sections: str) -> Config:
    return parse((HEAD + "".join(sections)).encode(), Path("faultwire.yaml"))


@pytest.mark.parametrize(
    ("sections", "said"),
    [
        ((CONTRACT,), "contract (by `contract`: 1 invocation)"),
        (
            (CONTRACT, MUTATIONS),
            "mutation (by `mutations`: 3 invocations), contract (by `contract`: 1 invocation)",
        ),
        ((CONTRACT, CHAOS), "chaos (by `chaos`: 2 invocations), contract (by `contract`: 1 invocation)"),
        ((OWN, MUTATIONS), "mutation (by `mutations`: 3 invocations)"),
    ],
)
def test_a_phase_is_played_for_its_section(sections: tuple[str, ...], said: str) -> None:
    built = config(*sections)
    assert _listed(built, tuple(made(built))) == said


def test_invariants_of_the_files_own_are_about_golden_prompts_and_their_mutants() -> None:
    built = config(OWN)
    (part,) = made(built)
    assert [phase.name for phase in part.phases] == ["mutation"]
    assert _listed(built, (part,)).startswith("mutation (by `invariants`: ")


def test_every_phase_has_a_section_and_a_reason_to_be_left_out() -> None:
    assert set(SET_BY) == set(NOT_SET)
