"""A mutant can be made again from its lineage, and none is made that cannot be asked."""

from __future__ import annotations

import pytest

from faultwire.evolution.mutant import LONGEST, Evolved, child, made_again, types

PROMPT = "What is 17 times 23, and how many people live in Paris?"


def test_every_type_but_templates_can_be_chosen():
    assert len(types()) == 23
    assert "custom" not in types()


@pytest.mark.parametrize("name", types())
def test_each_type_makes_a_child_with_its_lineage(name):
    made = next(filter(None, (child(Evolved(0, PROMPT), name, throw, 7) for throw in range(40))), None)
    assert made is not None
    assert (made.prompt, [step.type for step in made.lineage]) == (0, [name])
    assert made.text != PROMPT
    assert len(made.text) <= LONGEST


def test_a_lineage_makes_the_same_text_again_and_another_seed_none_or_another():
    mutant = Evolved(0, PROMPT)
    for at, name in enumerate(("paraphrase", "noise", "tone_shift")):
        mutant = next(filter(None, (child(mutant, name, throw, 7) for throw in range(at, 40))))
    assert made_again(PROMPT, 0, mutant.lineage, 7) == mutant
    assert made_again(PROMPT, 0, mutant.lineage, 8) != mutant
    assert mutant.id != Evolved(1, mutant.text).id


@pytest.mark.parametrize("text", ["", "   ", "a\0b", "x" * (LONGEST + 1), "\ud800"])
def test_what_cannot_be_asked_is_no_child(monkeypatch, text):
    from faultwire.mutations._api import Draft
    from faultwire.mutations.noise import Noise

    monkeypatch.setattr(Noise, "draft", lambda *_: Draft(text, "how"))
    assert child(Evolved(0, PROMPT), "noise", 0, 7) is None
    monkeypatch.setattr(Noise, "draft", lambda *_: Draft("fine", "how"))
    assert child(Evolved(0, PROMPT), "noise", 0, 7) is not None
