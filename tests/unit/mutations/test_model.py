"""The model engine (faultwire.mutations.model) with models that are functions."""

import re
from dataclasses import dataclass

import pytest

from faultwire.errors import ConfigError, FaultwireError
from faultwire.mutations._kept import Kept
from faultwire.mutations.engine import mutate_by
from faultwire.mutations.model import AT_ONCE, ROUNDS, ModelMaker, Writer, writes

PROMPT = "What is the capital of France?"


@dataclass
class Choice:
    provider: str = "openai"
    name: str = "m"
    api_key: str | None = "sk-proj-verysecretverysecretverysecret1"
    base_url: str | None = None
    temperature: float = 0.8


class Down(Exception):
    pass


class Model:
    """Answers variant N with `answer(N)`, and remembers what it was asked."""

    errors = (Down,)

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def __call__(self, choice):
        return self

    def ask(self, text, temperature, seed):
        number = int(re.search(r"Variant: (\d+)", text)[1])
        self.asked.append((number, temperature, seed))
        return self.answer(number)


def made(model, count, types=("noise",), kept=None, seed=42):
    writer = Writer(Choice(), kept or Kept(None), seed, model)
    return mutate_by(
        PROMPT,
        types,
        count,
        seed=1,
        maker=lambda m, text: ModelMaker(text, m, writer, {}) if writes(m.name) else None,
    )


def texts(found):
    return [mutant.text for mutant in found.mutants]


def test_exact_counts_at_temperature_0_with_a_seed_of_its_own_each():
    model = Model(lambda n: f"text {n}")
    assert texts(made(model, 10)) == [f"text {n}" for n in range(1, 11)]
    assert sorted(model.asked) == [(n, 0.0, 42 + n) for n in range(1, 11)]


def test_without_a_seed_the_configured_temperature_is_asked():
    model = Model(lambda n: f"text {n}")
    made(model, 1, seed=None)
    assert model.asked == [(1, 0.8, None)]


def test_rounds_refill_what_repeats_is_blank_or_is_the_prompt():
    answers = {1: "a", 2: "a", 3: "", 4: PROMPT, 5: "b", 6: '"a"', 7: "c"}
    found = made(Model(lambda n: answers.get(n, "d")), 4)
    assert texts(found) == ["a", "b", "c", "d"]
    assert found.notes == ()


def test_a_model_that_repeats_itself_is_exhausted_and_others_make_up_for_it():
    model = Model(lambda n: "always this")
    found = made(model, 6, types=("noise", "http_header_injection"))
    assert [m.type for m in found.mutants] == ["noise"] + ["http_header_injection"] * 5
    assert found.notes == ("`noise` is exhausted after 11 answers of openai (m)",)
    assert len(model.asked) == 3 + ROUNDS * 2, "rounds are bounded"


def test_some_refusals_are_a_note_and_nothing_but_refusals_an_error():
    some = made(Model(lambda n: None if n % 2 else f"text {n}"), 3)
    assert texts(some) == ["text 2", "text 4", "text 6"]
    assert some.notes == ("openai (m) declined 3 of 6 variants of `noise`",)
    with pytest.raises(
        FaultwireError, match=r"openai \(m\) declined to write `noise` 8 times of 8"
    ) as caught:
        made(Model(lambda n: "I'm sorry, but I can't help with that."), 2)
    assert caught.value.code == "mutations.model_declined"


def test_a_failure_names_the_provider_and_no_secret():
    def fail(number):
        raise Down(f"401 bad key {Choice().api_key}, also AKIAIOSFODNN7EXAMPLE\x1b[2J " + "x" * 999)

    with pytest.raises(FaultwireError) as caught:
        made(Model(fail), 1)
    said = caught.value.render()
    assert "openai (m) failed to write a mutation: Down: 401 bad key [key]" in said
    assert "verysecret" not in said
    assert "\x1b" not in said
    assert len(said) < 900
    assert caught.value.__cause__ is None


def test_after_a_failure_nothing_more_is_asked():
    def fail(number):
        raise Down("no such model")

    model = Model(fail)
    with pytest.raises(FaultwireError):
        made(model, 50)
    assert 1 <= len(model.asked) <= AT_ONCE


def test_other_errors_are_not_swallowed():
    def fail(number):
        raise ConfigError("found no key")

    with pytest.raises(ConfigError):
        made(Model(fail), 1)


def test_what_was_kept_is_not_asked_again_refusals_too(tmp_path):
    first = Model(lambda n: None if n == 1 else f"text {n}")
    found = made(first, 3, kept=Kept(tmp_path))
    second = Model(lambda n: "never asked")
    assert made(second, 3, kept=Kept(tmp_path)) == found
    assert second.asked == []
    more = Model(lambda n: f"more {n}")
    assert texts(made(more, 4, kept=Kept(tmp_path)))[:3] == texts(found)
    assert [number for number, *_ in more.asked] == [5]
    other = Model(lambda n: f"other {n}")
    made(other, 1, kept=Kept(tmp_path), seed=7)
    assert len(other.asked) == 1, "another seed is another question"


def test_blank_prompts_are_not_sent():
    model = Model(lambda n: "text")
    writer = Writer(Choice(), Kept(None), 1, model)
    found = mutate_by(" ", ["noise"], 2, seed=1, maker=lambda m, text: ModelMaker(text, m, writer, {}))
    assert found.mutants == ()
    assert model.asked == []
