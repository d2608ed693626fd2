import pytest

from faultwire.errors import ConfigError
from faultwire.mutations._registry import BUILTIN
from faultwire.mutations.engine import mutate

PROMPT = "What is the capital of France, please?"
TYPES = [mutation.name for mutation in BUILTIN]
TEMPLATES = {"shout": "HEY! {prompt}", "braces": "{0} {x} {{}} {prompt} {prompt}"}


def texts(seed=42, types=TYPES, count=50, prompt=PROMPT):
    return [m.text for m in mutate(prompt, types, count, seed=seed, templates=TEMPLATES).mutants]


@pytest.mark.parametrize("name", [name for name in TYPES if name != "custom"])
def test_fifty_different_ones_of_one_type(name):
    found = mutate(PROMPT, [name], 50, seed=42)
    assert (len(found.mutants), found.notes) == (50, ())
    assert len({m.text for m in found.mutants}) == len({m.id for m in found.mutants}) == 50
    assert all(m.text != PROMPT and m.original == PROMPT and m.how for m in found.mutants)
    if found.mutants[0].request is not None:
        assert len({repr(m.request) for m in found.mutants}) == 50


@pytest.mark.parametrize("count", [1, 5, 24, 25, 50, 200])
def test_exact_counts_shared_by_all_types(count):
    found = mutate(PROMPT, TYPES, count, seed=1, templates=TEMPLATES)
    assert len(found.mutants) == count
    most = -(-count // len(TYPES))
    if count <= 48:  # two templates are all that `custom` has
        assert max([m.type for m in found.mutants].count(name) for name in TYPES) <= most
    assert len({m.text for m in found.mutants}) == count


def test_the_same_seed_gives_the_same_and_another_seed_others():
    assert texts() == texts()
    shared = set(texts(1)) & set(texts(2))
    assert len(shared) < 10


def test_another_type_beside_it_changes_nothing():
    alone = texts(types=["noise"], count=5)
    assert texts(types=["noise", "tone_shift"], count=10)[:5] == alone


def test_what_one_type_cannot_give_others_make_up_for():
    found = mutate(PROMPT, ["custom", "noise"], 20, seed=1, templates=TEMPLATES)
    assert [m.type for m in found.mutants].count("custom") == 2
    assert len(found.mutants) == 20
    assert found.notes[0].startswith("`custom` is exhausted after ")


def test_what_cannot_apply_is_reported():
    alone = mutate(PROMPT, ["custom"], 3, seed=1)
    assert alone.mutants == ()
    assert alone.notes == (
        "`custom` cannot be applied: there is no custom template",
        "0 of 3 mutants could be made",
    )
    blank = mutate(" \n", ["noise", "paraphrase"], 4, seed=1)
    assert blank.mutants == ()
    assert blank.notes[0] == "`noise` cannot be applied: the prompt is blank"


def test_weights_are_the_users_where_given():
    found = mutate(PROMPT, ["noise", "paraphrase"], 2, seed=1, weights={"noise": 9.0})
    assert [m.weight for m in found.mutants] == [9.0, 1.0]


@pytest.mark.parametrize("types", [[], ["nose"]])
def test_no_and_unknown_types_are_refused(types):
    with pytest.raises(ConfigError) as error:
        mutate(PROMPT, types, 3, seed=1)
    assert "expected" in error.value.message


@pytest.mark.parametrize(
    "prompt", ["\ud800 x", "{prompt} {0} {secret}", "a", "🫠", "\x00\x1b[2J\r\n", "1 2 3", "x" * 20_000]
)
def test_hostile_prompts_are_mutated_as_they_are(prompt):
    found = mutate(prompt, TYPES, 48, seed=3, templates=TEMPLATES)
    assert len(found.mutants) == 48
    assert all(isinstance(m.text, str) and m.text != prompt for m in found.mutants)
