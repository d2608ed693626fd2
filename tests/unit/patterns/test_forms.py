"""Personal data as people write it, the two modes, and the kinds that must be asked for."""

# ruff: noqa: RUF001 - other ways of writing digits are the point

import pytest

from faultwire.patterns import scan

WRITTEN = [
    ("DE", "Kennzeichen: B-AB 1234", "licence-plate"),
    ("FR", "plaque d'immatriculation AB-123-CD", "licence-plate"),
    ("ES", "matrícula 1234 BCD", "licence-plate"),
    ("NL", "kenteken 12-ABC-3", "licence-plate"),
    ("DE", "Personalausweis L01X00T47", "de-id-card"),
    ("ES", "pasaporte AAA123456", "passport"),
    ("KR", "여권 M123A4567", "passport"),
    ("ES", "nie x1234567l", "es-nie"),
    ("ES", "dni 12345678z", "es-dni"),
    ("GB", "nino ab 12 34 56 c", "uk-nino"),
    ("DE", "USt-IdNr.: DE 136 695 976", "de-vat"),
    ("DE", "VAT ID: de 136-695.976", "de-vat"),
    ("TR", "plaka 34 KLM 208", "tr-plate"),
    ("AU", "ACN 004 085 616", "au-acn"),
    ("SG", "UEN 201912345D", "sg-uen"),
    ("KR", "사업자등록번호 124-81-00998", "kr-brn"),
    ("DE", "Amtsgericht München, HRB 12345", "de-register"),
    ("US", "write to jane [at] firm.org", "email-spelled-out"),
    ("US", "mail jane.doe(at)firm[dot]org", "email-spelled-out"),
]

PLAIN = [
    ("card ４１１１ １１１１ １１１１ １１１１", "４１１１ １１１１ １１１１ １１１１", "card"),
    ("card 4111\u200b1111\u200b1111\u200b1111", "4111\u200b1111\u200b1111\u200b1111", "card"),
    ("card 4111\u00a01111\u00a01111\u00a01111", "4111\u00a01111\u00a01111\u00a01111", "card"),
    ("SSN 536\u201122\u20118726", "536\u201122\u20118726", "us-ssn"),
    ("write to jane\u200b@firm.org", "jane\u200b@firm.org", "email"),
]


@pytest.mark.parametrize(("country", "text", "name"), WRITTEN)
def test_as_people_write_it(country: str, text: str, name: str) -> None:
    assert name in {hit.id for hit in scan(text, kinds=["pii"], locales=[country])}


@pytest.mark.parametrize(("country", "text", "name"), WRITTEN)
def test_without_its_words_a_bare_form_is_nobody(country: str, text: str, name: str) -> None:
    if name != "email-spelled-out":
        value = text.removeprefix("Amtsgericht München, ").split(" ", 1)[1]
        bare = value.removeprefix("d'immatriculation ").removeprefix("12345")
        found = {hit.id for hit in scan(f"item {bare} shipped", kinds=["pii"])}
        assert name not in found or name in {"es-dni", "es-nie"}


@pytest.mark.parametrize(("text", "value", "name"), PLAIN)
def test_other_ways_of_writing_the_same(text: str, value: str, name: str) -> None:
    hits = [(hit.id, text[hit.start : hit.end]) for hit in scan(text, kinds=["pii"])]
    assert hits == [(name, value)]


@pytest.mark.parametrize(
    "text", ["４１１１ １１１１ １１１１ １１１２", "１２\u200b３４", "Grüße, “12” … – 34"]
)
def test_other_ways_of_writing_nothing(text: str) -> None:
    assert scan(text, kinds=["pii"]) == []


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("44051401359", "pl-pesel"),
        ("021000021", "us-routing"),
        ("79927398713000", None),
        ("123456789012345", None),
    ],
)
def test_recall_takes_checked_numbers_without_their_words(value: str, name: str | None) -> None:
    text = f"the value {value} was sent"
    countries = ["PL"] if name == "pl-pesel" else ["US"]
    assert scan(text, kinds=["pii"], locales=countries) == []
    found = [hit.id for hit in scan(text, kinds=["pii"], locales=countries, recall=True)]
    assert found == ([name] if name else [])


def test_a_card_behind_a_slash_is_found_and_a_date_path_is_not():
    assert [hit.id for hit in scan("GET /cards/4111111111111111", kinds=["pii"])] == ["card"]
    assert scan("GET /logs/2025/4111111111111111", kinds=["pii"]) == []


def test_dates_and_urls_only_where_asked_for():
    text = "on 2025-11-21T10:00:00Z see https://www.firm.org/a?b=1 and 3 March 1999"
    assert scan(text) == []
    assert [text[hit.start : hit.end] for hit in scan(text, kinds=["dates"])] == [
        "2025-11-21T10:00:00Z",
        "3 March 1999",
    ]
    assert [text[hit.start : hit.end] for hit in scan(text, kinds=["urls"])] == ["https://www.firm.org/a?b=1"]
