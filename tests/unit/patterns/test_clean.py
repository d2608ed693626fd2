"""Clean messages of 18 kinds stay untouched, on a tape too; values planted into them are found."""

import json

import pytest
from pattern_clean import KINDS, clean, planted

from faultwire.patterns import scan
from faultwire.tape.redact.rules import Rules


def test_five_thousand_clean_messages_of_18_kinds():
    assert len(KINDS) == 18
    messages = clean(5000)
    touched = [(kind, text) for kind, text in messages if scan(text, kinds=["pii"])]
    print(f"clean messages touched {len(touched) / len(messages):.4f}")
    assert len(touched) <= 0.01 * len(messages), touched[:20]


def test_values_planted_into_them_are_found():
    rows = planted(1000)
    missed = []
    for _, value, text in rows:
        place = text.rindex(value)
        if not any(hit.end > place for hit in scan(text, kinds=["pii"])):
            missed.append(text)
    assert len(missed) <= 0.01 * len(rows), missed[:20]


def test_the_redactor_of_a_tape_leaves_dates_near_a_telephone_alone():
    order = {"phone": "+49 30 901820", "created_at": "2025-11-21T10:00:00Z", "delivered": "2025-11-23"}
    text = json.dumps(order)
    covered = [text[hit.start : hit.end] for hit in Rules(pii=True).in_text(text)]
    assert covered == ["+49 30 901820"]


@pytest.mark.parametrize("word", ["phone", "Telefon", "mobile:", "call", "tel.", "電話"])
@pytest.mark.parametrize(
    "moment",
    ["2025-11-21", "21.11.2025", "21/11/2025", "2025-11-21 10:00", "1763719200", "20251121", "4.12.103"],
)
def test_a_label_does_not_make_a_telephone_of_a_time(word: str, moment: str) -> None:
    assert scan(f"{word} {moment}", kinds=["pii"]) == []


@pytest.mark.parametrize("number", ["030 901820", "0171 2345678", "(030) 901820-11", "01 42 68 53 00"])
def test_a_label_makes_a_telephone_of_a_number(number: str) -> None:
    assert [hit.category for hit in scan(f"Telefon: {number}", kinds=["pii"])] == ["contact"]
