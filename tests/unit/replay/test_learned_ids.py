"""Which values of two texts could be ids, as far as the texts tell."""

from __future__ import annotations

import pytest

from faultwire.replay.learned_ids import Pair, alike, id_pairs, ids_in

ULIDS = ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ORD-12345678", "ORD-90210771"),
        ("ord_3fa94c01", "ord_deadbee5"),
        ("48213", "59321"),
        ("9999", "10000"),
        ULIDS,
        ("1541815603606036480", "1777150623882019211"),
        ("INV-2026-000184", "INV-2026-000202"),
        ("x7Kp2mQz", "Jq81Lw0d"),
    ],
)
def test_values_that_could_be_ids_of_one_kind(old: str, new: str) -> None:
    assert alike(old, new)
    assert alike(new, old)
    assert [(one.recorded, one.live) for one in id_pairs(f"made {old}.", f"made {new}.") or ()] == [
        (old, new)
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ORD-12345678", "INV-12345678"),
        ("ORD-12345678", "ORD_12345678"),
        ("ORD-1234", "ORD-123456"),
        ("shipped", "delayed"),
        ("gpt-4o-mini", "gpt-4o-maxi"),
        ("123", "456"),
        ("20261123", "20261124"),
        ("2026-11-23", "2026-11-24"),
        ("48213", "a82130"),
    ],
)
def test_values_that_could_not(old: str, new: str) -> None:
    assert not alike(old, new)
    assert id_pairs(f"is {old}", f"is {new}") is None


@pytest.mark.parametrize(
    "text",
    [
        '{{"total": {}}}',
        '{{"order_amount": "{}"}}',
        '{{\\"unitPrice\\": {}}}',
        "it costs ${}",
        "{} €",
        "{}.50",
        "0.{}",
        "{}% off",
        "temperature={}",
    ],
)
def test_numbers_that_stand_where_amounts_do_are_no_ids(text: str) -> None:
    assert id_pairs(text.format("4999"), text.format("5999")) is None


@pytest.mark.parametrize("text", ['{{"order_id": {}}}', '{{"messageId": {}}}', '{{"account_number": "{}"}}'])
def test_a_number_whose_name_says_id_is_strong(text: str) -> None:
    assert id_pairs(text.format("48213"), text.format("59321")) == [Pair("48213", "59321", shaped=False)]


def test_a_bare_number_is_weak_unless_it_is_long() -> None:
    assert id_pairs(48213, 59321) == [Pair("48213", "59321", shaped=False, weak=True)]
    assert id_pairs(48213, 59321, "id") == [Pair("48213", "59321", shaped=False)]
    assert id_pairs(48213, 59321, "price") is None
    assert id_pairs("LH1234", "LH5678") == [Pair("LH1234", "LH5678", shaped=False, weak=True)]
    (snowflake,) = id_pairs(1541815603606036480, 1777150623882019211) or ()
    assert not snowflake.weak


def test_texts_that_differ_in_anything_else_are_not_the_same() -> None:
    assert id_pairs("made ORD-12345678", "lost ORD-87654321") is None
    assert id_pairs("made ORD-12345678", "made ORD-87654321!") is None
    assert id_pairs(True, False) is None
    assert id_pairs(1234, "1234") is None
    assert id_pairs(1.2345, 1.2346) is None


def test_values_with_a_shape_need_no_more() -> None:
    old, new = (f"call_{letter * 24} at ORD-{letter * 8}" for letter in "12")
    pairs = id_pairs(old, new) or []
    assert [(one.shaped, one.weak) for one in pairs] == [(True, False), (False, False)]


def test_ids_are_found_behind_escapes() -> None:
    assert ids_in('{"a":"x\\nORD-12345678 and 12"}') == {"ORD-12345678"}
