from __future__ import annotations

from faultwire.profile.words import each, listed, names_of


def test_values_are_written_as_in_a_profile() -> None:
    assert listed("llm") == "llm"
    assert listed(("llm", "other")) == "[llm, other]"
    assert listed(value=False) == "false"
    assert "\x1b" not in listed("\x1b[2J")


def test_names_are_joined() -> None:
    assert names_of(("a",), "or") == "`a`"
    assert names_of(("a", "b"), "and") == "`a` and `b`"
    assert names_of(("a", "b", "c"), "or") == "`a`, `b` or `c`"


def test_globs_one_by_one() -> None:
    assert each(None) == ()
    assert each("a") == ("a",)
    assert each(("a", "b")) == ("a", "b")
