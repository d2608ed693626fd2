"""Personal data: recall and precision on identifiers made from the published rules."""

from random import Random

import pytest
from pattern_schemes import SCHEMES

from faultwire.patterns import catalog, scan

EACH = 150


def test_the_schemes_cover_the_families():
    known = {entry.id for entry in catalog() if entry.kind == "pii"}
    assert set(SCHEMES) <= known
    assert len(SCHEMES) >= 60


def test_recall_and_precision_with_the_locale_given():
    random = Random(8)
    right = found = flagged = 0
    weak = []
    for name, (country, _, make) in SCHEMES.items():
        hits = wrong = 0
        for _ in range(EACH):
            good, bad = make(random)
            hits += name in {hit.id for hit in scan(good, kinds=["pii"], locales=[country])}
            wrong += name in {hit.id for hit in scan(bad, kinds=["pii"], locales=[country])}
        right += EACH
        found += hits
        flagged += wrong
        if hits < EACH * 0.98 or wrong > EACH * 0.01:
            weak.append((name, hits / EACH, wrong / EACH))
    recall, precision = found / right, found / (found + flagged)
    print(f"recall {recall:.4f} precision {precision:.4f} over {len(SCHEMES)} schemes")
    assert not weak, weak
    assert recall >= 0.98
    assert precision >= 0.99


@pytest.mark.parametrize(
    "text", ["call 030 123", "v1.2.3.4", "12:30:45", "2024-01-02", "1234567890", "0x1f", "a" * 5000]
)
def test_everyday_numbers_are_nobody(text):
    assert scan(text, kinds=["pii"]) == []


def test_a_context_word_decides_between_overlapping_readings():
    assert [hit.id for hit in scan("PESEL 44051401359", kinds=["pii"])] == ["pl-pesel"]
    assert [hit.id for hit in scan("codice fiscale RSSMRA85T10A562S", kinds=["pii"])] == ["it-cf"]


def test_offsets_are_characters_of_the_original():
    text = "Grüße 🙂 an jane@firm.org, IBAN DE89 3704 0044 0532 0130 00"
    assert [text[hit.start : hit.end] for hit in scan(text, kinds=["pii"])] == [
        "jane@firm.org",
        "DE89 3704 0044 0532 0130 00",
    ]


def test_values_are_masked():
    for hit in scan("jane.doe@firm.org and 4111 1111 1111 1111"):
        assert "jane.doe" not in hit.masked
        assert "1111" not in hit.masked


@pytest.mark.parametrize("between", [" ", ", ", "\n", "><", " " * 40, " " * 70])
def test_neighbours_do_not_hide_each_other(between: str) -> None:
    text = between.join(["jane.doe@firm.org", "bob.roe@firm.org", "max@other.example.net"])
    assert [text[hit.start : hit.end] for hit in scan(text, kinds=["pii"])] == text.split(between)
