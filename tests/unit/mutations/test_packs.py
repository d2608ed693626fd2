"""Packs: used where they are named, versioned, filled with nothing of real persons, and packages' own."""

from __future__ import annotations

import re

import pytest
from tests.unit.mutations.test_registry import Entry

from faultwire.dice import Dice
from faultwire.evolution.mutant import known, types
from faultwire.mutations._packs import Format, Pack, packed
from faultwire.mutations._registry import BUILTIN, PACKS, collect, registry, unpacked, weights
from faultwire.mutations.engine import mutate
from faultwire.mutations.packs_locale import PACKS as LOCALES

PROMPT = "Move 1,234.50 of order 7 from 2026-03-01."
PERSONS = re.compile(r"[\w.]+@(?!example\.com)|\+\d[\d ]{6,}|\b[A-Z]{2}\d{2} ?\d{4}")
"""Addresses of real hosts, telephone numbers, IBANs."""


def drafts(mutation, count=60):
    return [mutation().draft(PROMPT, Dice(1, "m").held("t", "k", n)) for n in range(count)]


@pytest.mark.parametrize("mutation", PACKS, ids=lambda one: one.name)
def test_every_frame_has_its_place_and_all_its_words(mutation):
    pack = mutation.pack
    assert pack.version
    used = set()
    for frame in pack.frames:
        assert frame.count("{prompt}") == 1
        used |= set(re.findall(r"\{(\w+)\}", frame))
    assert used == {"prompt", *pack.words}
    made = {one.text for one in drafts(mutation)}
    assert len(made) > 12
    for text in made:
        assert not re.search(r"\{\w+\}", text)
        assert not PERSONS.search(text)


def test_the_control_sees_data_of_persons():
    assert PERSONS.search("jo@gmail.com")
    assert PERSONS.search("+49 30 901820")
    assert not PERSONS.search("jo@example.com")


def test_packs_are_used_where_they_are_named_and_nowhere_else():
    names = {one.name for one in PACKS}
    assert len(names) == 10
    assert names <= set(registry())
    assert names <= set(known())
    assert not names & {*unpacked(), *types(), *weights(), *(one.name for one in BUILTIN)}
    assert {one.type for one in mutate(PROMPT, ["locale_de", "finance"], 6, seed=1).mutants} == {
        "locale_de",
        "finance",
    }


def test_the_same_seed_gives_the_same_mutants():
    one, two, other = (mutate(PROMPT, ["support"], 5, seed=seed).mutants for seed in (1, 1, 2))
    assert one == two != other


def test_a_package_adds_one_by_its_entry_point():
    made = packed(
        Pack("insurance", "3", "domain", "asked as in insurance", ("Claim {n}: {prompt}",), {"n": ("7",)})
    )
    found = collect((*BUILTIN, *PACKS), [Entry("insurance", made)])
    assert found["insurance"]().draft("why?", Dice(1, "m").held("t", "k", 0)).text == "Claim 7: why?"
    assert "pack insurance 3" in found["insurance"]().draft("why?", Dice(1, "m").held("t", "k", 0)).how


def test_what_is_no_number_is_left_alone():
    german = Format(",", ".", "{d}.{m}.{y}")
    assert german.written("v1.2.3 at 10:30, A-1009, 2026, abc1234567, 192.168.0.1, order 7")[0] == (
        "v1.2.3 at 10:30, A-1009, 2026, abc1234567, 192.168.0.1, order 7"
    )
    assert german.written("1,234.50 on 2026-03-01") == ("1234,50 on 01.03.2026", 2)
    assert german.written("12345.5") == ("12.345,5", 1)


@pytest.mark.parametrize("name", [one.name for one in LOCALES])
def test_a_long_number_without_a_sign_is_an_id_and_stays(name):
    written = next(one for one in LOCALES if one.name == name).pack.format.written
    for text in ("order 12345", "account 900100200300", "00012345 and 7654321"):
        assert written(text) == (text, 0)
    assert written("order 12345, 12,345 euros, 12345.5 euros")[1] == 2
    if name != "locale_ja":  # writes amounts as English does
        assert written("1,234,567 euros") != ("1,234,567 euros", 1)
