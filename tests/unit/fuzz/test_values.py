"""Damage: each change does what it is named for, at a place, and nothing else."""

from __future__ import annotations

import json

import pytest

from faultwire.dice import Dice
from faultwire.fuzz.values import CHANGES, LONGEST, damaged, inner, parsed, places, room, shown, written

DOCUMENT = {"id": 7, "name": "tea", "tags": ["a", "b"], "price": 3.5, "who": {"city": "Paris"}, "ok": True}
TEXT = json.dumps(DOCUMENT)


def dice(n):
    return Dice(1, "test").held("x", "y", n)


def made(change, text=TEXT, count=60):
    return [found for found in (damaged(text, change, dice(n)) for n in range(count)) if found]


def repeats(pairs):
    """Does a key stand twice, here or in a member?"""
    keys = [key for key, _ in pairs]
    inner = any(isinstance(value, dict) and value.get("repeated") for _, value in pairs)
    return {**dict(pairs), "repeated": inner or len(keys) != len(set(keys))}


def leaves(value):
    return {shown(place) for place in places(value)}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_changes_the_text_and_can_be_sent(change):
    found = made(change)
    assert found
    for one in found:
        assert one.text != TEXT
        assert len(one.text) <= LONGEST
        assert one.text.encode().decode() == one.text


def test_the_same_dice_give_the_same_text():
    assert [made(change) for change in CHANGES] == [made(change) for change in CHANGES]


@pytest.mark.parametrize("change", ["wrong_type", "null", "empty", "unicode", "long", "other_value"])
def test_a_change_of_a_value_leaves_the_rest(change):
    for one in made(change):
        if "$." not in one.how:
            continue
        try:
            document = json.loads(one.text)
        except ValueError:
            assert "\\ud800" in one.text
            continue
        place = one.how.rpartition("$.")[2].split(".")[0].split("[")[0]
        assert document.keys() == DOCUMENT.keys()
        assert {key for key in DOCUMENT if document[key] != DOCUMENT[key]} <= {place}


def test_missing_leaves_out_one_and_extra_adds_one():
    for one in made("missing"):
        assert leaves(json.loads(one.text)) < leaves(DOCUMENT) or "tags" in one.how
    for one in made("extra"):
        assert len(leaves(json.loads(one.text))) > len(leaves(DOCUMENT))


def test_a_key_stands_twice():
    for one in made("duplicate_key"):
        assert json.loads(one.text, object_pairs_hook=repeats)["repeated"]


def test_numbers_become_extreme_and_only_numbers_do():
    texts = {one.text for change in ("huge_number", "tiny_number") for one in made(change, count=200)}
    assert any("1e999" in one for one in texts)
    assert any("9" * 400 in one for one in texts)
    assert any("NaN" in one for one in texts)
    assert all('"tea"' in one and "true" in one for one in texts)


def test_deep_is_deep_and_truncated_is_a_beginning():
    assert any("[" * 3000 in one.text for one in made("deep"))
    assert all(TEXT.startswith(one.text) for one in made("truncated"))


def test_encodings_are_wrong_in_four_ways():
    texts = [one.text for one in made("encoding")]
    assert any(one.startswith("\ufeff") for one in texts)
    assert any("\0" in one for one in texts)
    assert any(one.startswith('"') for one in texts)


def test_every_place_has_its_turn_and_none_a_second_one_before():
    for change in ("null", "missing", "huge_number", "extra", "unicode"):
        count = room(TEXT)[change]
        for start in (0, count, 3 * count):
            found = [damaged(TEXT, change, dice(n)) for n in range(start, start + count)]
            assert len({one.how for one in found if one}) == len(list(filter(None, found)))
    assert {one.how for one in made("null", count=room(TEXT)["null"])} == {
        f"null at {place}" for place in leaves(DOCUMENT)
    }


def test_room_counts_places_and_one_for_a_change_of_the_whole_text():
    found = room(TEXT)
    assert (found["huge_number"], found["missing"], found["encoding"]) == (2, 9, 1)
    assert room("sunny")["huge_number"] == 0


def test_a_document_inside_of_a_text_is_changed_there_and_stays_a_text():
    text = json.dumps({"name": "find", "arguments": '{"order": 7}', "note": "plain"})
    for change in ("wrong_type", "null", "missing", "not_json"):
        found = [one for one in (inner(text, change, dice(n)) for n in range(12)) if one]
        assert found
        for one in found:
            document = json.loads(one.text)
            assert (document["name"], document["note"]) == ("find", "plain")
            assert isinstance(document["arguments"], str)
            assert document["arguments"] != '{"order": 7}'
            assert one.how.endswith("inside of $.arguments")
    assert inner('{"note": "plain"}', "null", dice(0)) is None


def test_a_text_that_is_no_json_is_changed_as_a_text():
    assert parsed("sunny, 20 degrees") == "sunny, 20 degrees"
    assert written(parsed("sunny")) == "sunny"
    assert made("truncated", "sunny, 20 degrees")
    assert made("long", "sunny")[0].text.startswith("sunnysunny")
    assert damaged("", "missing", dice(0)) is None


@pytest.mark.parametrize(
    "text", ["[" * 3000, '{"a": 1e999}', '{"a": ' + "9" * 400 + "}", "\ue000", '"a"', "NaN", ""]
)
def test_hostile_texts_raise_nothing(text):
    for change in CHANGES:
        made(change, text, 12)
