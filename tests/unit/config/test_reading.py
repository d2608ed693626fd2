"""`faultwire.config.reading`: problems and warnings of one file."""

from __future__ import annotations

import pytest

from faultwire.config.model import AdvancedSettings
from faultwire.config.reading import Reading, listed, text, texts
from faultwire.errors import ConfigError, ProfileError
from faultwire.profile.yaml import Node, read


@pytest.fixture
def reading(tmp_path):
    return Reading(tmp_path / "f.yaml")


def said(reading):
    with pytest.raises(ConfigError) as caught:
        reading.settle()
    return [one.message for one in (caught.value, *caught.value.also)]


def test_of_several_warnings_at_one_place_the_first_is_reported_and_all_in_order(reading):
    reading.warn((3, 1), "third")
    reading.warn((1, 2), "first")
    reading.warn((1, 2), "other")
    assert [line.partition("f.yaml:")[2] for line in reading.warnings] == ["1:2: first", "3:1: third"]


def test_what_follows_from_a_missing_variable_is_not_reported(reading):
    node = Node("${A}", 2, 3)
    reading.add(node, "variable", "no variable")
    reading.add(node, "bad_value", "no URL")
    reading.add(Node("x", 2, 9), "bad_value", "other")
    assert said(reading) == ["no variable", "other"]


def test_no_message_holds_a_secret(reading):
    key = "sk-proj-" + "a1B2c3D4" * 6
    reading.add((1, 1), "bad_value", f"found `{key}`", f"not {key}")
    reading.warn((1, 1), f"found `{key}`")
    with pytest.raises(ConfigError) as caught:
        reading.settle()
    assert caught.value.message == "found `[secret]`"
    assert caught.value.hint == "not [secret]"
    assert reading.warnings[0].endswith("found `[secret]`")


def test_errors_of_another_file_keep_their_place(reading):
    from faultwire.errors import Location

    other = ProfileError(
        "bad", code="profile.bad_value", where=Location("p.yaml", 1, 2), also=[ProfileError("x")]
    )
    reading.within(Node("p", 5, 6), "the profile `p`", other)
    assert said(reading) == ["in the profile `p`: p.yaml:1:2: bad", "x"]


def test_a_section_of_flakestorms(reading):
    node = read("{seed: null, retries: 1, old: 1, sead: 2}", "f")
    found = reading.flakestorm(AdvancedSettings, node, "advanced", notes={"old": "write `new`"})
    assert found == AdvancedSettings(retries=1)
    assert [line.partition(": ")[2] for line in reading.warnings] == [
        "`old` is ignored in `advanced`: write `new`",
        "`sead` is not a key of `advanced` and is ignored; did you mean `seed`?",
    ]


def test_texts_and_lists(reading):
    assert text(None, "x", reading, default="d") == "d"
    assert text(Node("a", 1, 1), "x", reading) == "a"
    assert texts(Node("a", 1, 1), "x", reading) == ("a",)
    assert texts(Node([Node("a", 1, 1), Node(3, 1, 4)], 1, 1), "x", reading) == ("a",)
    assert listed(Node("a", 2, 1), "y", reading) == []
    assert said(reading) == ["found `3` for `x`, expected text", "found `a` for `y`, expected a list"]


def test_a_number_that_is_too_long_gets_no_advice_about_quotes_that_it_has_not(config):
    for seed, hint in (("'7'", "take the quotes off"), ("9" * 26, None)):
        with pytest.raises(ConfigError) as caught:
            config(f"advanced: {{seed: {seed}}}")
        assert caught.value.hint == hint
        assert "for `advanced.seed`, expected an integer" in caught.value.message
