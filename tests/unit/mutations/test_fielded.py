"""Mutants of prompts that an agent's request is made of line by line (faultwire.mutations._fielded)."""

import re
from collections import Counter

import pytest
from tests.unit.mutations.test_model import Choice, Model

from faultwire.agents._template import Template
from faultwire.mutations._fielded import LOST, Fielded, lacks
from faultwire.mutations._kept import Kept
from faultwire.mutations._lines import Form, structured
from faultwire.mutations._network import NETWORK
from faultwire.mutations._registry import registry
from faultwire.mutations.engine import mutate, mutate_by
from faultwire.mutations.model import ModelMaker, Writer, writes

PROMPT = "productName: a desk lamp for people who read at night\ntone: friendly\nnote: nobody reads this"
FORM = Form({"productName", "tone"})
TEMPLATE = Template('{"product": "{productName}", "tone": "{tone}"}')
TEXTS = [name for name in registry() if name not in {one.name for one in NETWORK} and name != "custom"]


def sent(text):
    """The request that a prompt makes. Raises AgentError where it makes none."""
    return TEMPLATE.filled(structured(text))


@pytest.mark.parametrize("type_", TEXTS)
def test_every_type_changes_values_and_keeps_keys(type_):
    made = mutate(PROMPT, [type_], 8, seed=4, form=FORM)
    assert len(made.mutants) == 8
    assert made.notes == ()
    requests = {sent(mutant.text) for mutant in made.mutants}
    assert sent(PROMPT) not in requests
    assert len(requests) == 8  # no two are alike on the wire
    assert {structured(mutant.text)["note"] for mutant in made.mutants} == {"nobody reads this"}
    assert {re.search(r", in `(.+)`$", mutant.how)[1] for mutant in made.mutants} == {"productName", "tone"}


def test_without_a_form_keys_break_as_they_do_in_any_text():
    """The control: mutants of the whole prompt make requests that cannot be sent."""
    made = mutate(PROMPT, ["noise", "context_manipulation", "encoding_attacks"], 30, seed=4)
    broken = [mutant for mutant in made.mutants if FORM.missing(mutant.text) is not None]
    assert broken


def test_few_mutants_of_many_types_still_cover_every_field():
    made = mutate(PROMPT, TEXTS, len(TEXTS), seed=4, form=FORM)
    fields = Counter(re.search(r", in `(.+)`$", mutant.how)[1] for mutant in made.mutants)
    assert len(made.mutants) == len(TEXTS)
    assert set(fields) == {"productName", "tone"}


def test_what_cannot_stand_in_its_line_is_made_up_for_by_others():
    prompt, form = "tone = friendly", Form({"tone"})  # a colon in its value would end the key
    made = mutate(prompt, ["custom", "tone_shift"], 6, seed=4, templates={"a": "Now: {prompt}"}, form=form)
    assert [mutant.type for mutant in made.mutants] == ["tone_shift"] * 6
    assert all(":" not in mutant.text for mutant in made.mutants)
    assert len(made.notes) == 1
    assert "`custom`: 1 texts would not have been read as the value of their line" in made.notes[0]


def test_where_no_type_can_the_run_reports_that():
    made = mutate("friendly", ["noise"], 3, seed=4, form=FORM)
    assert made.mutants == ()
    assert made.notes == (
        f"`noise` cannot be applied: {lacks('productName')}",
        "0 of 3 mutants could be made",
    )


def test_changes_of_the_request_carry_the_prompt_as_it_is():
    made = mutate(PROMPT, ["http_header_injection", "noise"], 4, seed=4, form=FORM)
    changed = [mutant for mutant in made.mutants if mutant.request is not None]
    assert len(changed) == 2
    assert {mutant.original for mutant in changed} == {PROMPT}


def by_model(answer, count, form=FORM, prompt=PROMPT):
    model = Model(answer)
    writer = Writer(Choice(), Kept(None), 42, model)
    made = mutate_by(
        prompt,
        ["paraphrase"],
        count,
        seed=1,
        form=form,
        maker=lambda m, text: ModelMaker(text, m, writer, {}) if writes(m.name) else None,
    )
    return made, model


def test_a_model_writes_values_field_by_field():
    made, _ = by_model(lambda number: f"value {number},\nas written", 6)
    assert len({sent(mutant.text) for mutant in made.mutants}) == 6
    assert Counter(m.how.rpartition("in ")[2] for m in made.mutants) == {"`productName`": 3, "`tone`": 3}
    assert all("\n" not in structured(m.text)["productName"] for m in made.mutants)


def test_a_model_that_only_breaks_lines_is_not_asked_for_ever():
    made, model = by_model(lambda number: f"is: {number}", 2, Form({"tone"}), "tone = friendly")
    assert made.mutants == ()
    assert "would not have been read as the value of their line" in made.notes[0]
    assert len(model.asked) <= LOST + 2


def test_a_prompt_without_fields_makes_nothing():
    maker = Fielded("no lines", FORM, "noise", lambda text: pytest.fail(text))
    assert (maker.take(3, set()), maker.note) == ([], f"`noise` cannot be applied: {lacks('productName')}")
