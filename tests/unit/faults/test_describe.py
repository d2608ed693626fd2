"""What faults say about themselves, and the page that is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.faults._describe import Setting, sections, settings
from faultwire.faults._markdown import markdown
from faultwire.faults._registry import BUILTIN, find
from faultwire.profile.entry_model import On, Trigger
from faultwire.profile.load import parse

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "faults.md"


def test_the_page_is_current():
    assert PAGE.read_text() == markdown(), "run `python -m faultwire.faults > docs/reference/faults.md`"


@pytest.mark.parametrize("fault", BUILTIN, ids=lambda fault: fault.name)
def test_every_example_is_a_profile_of_that_fault(fault):
    profile = parse(sections(fault)["Example"], "example.yaml")
    assert [entry.fault.name for entry in profile.entries] == [fault.name]


def test_settings_say_type_bounds_and_default():
    assert settings(find("cut_stream")) == (
        Setting("after_events", "an integer from 0 to 1000000", "null", "how many arrive"),
        Setting("inside", "`tool_arguments` or `text`", "null", "or: in the middle of what"),
    )
    (at,) = settings(find("reset"))
    assert (
        at.expected == "`before_headers`, `after_headers` or {after_bytes: an integer from 1 to 1000000000}"
    )
    assert {s.name: s.default for s in settings(find("status"))}["code"] is None


def test_the_same_words_serve_matching_and_triggers():
    expected = {s.name: s.expected for s in (*settings(On), *settings(Trigger))}
    assert expected["kind"] == "`llm`, `tool`, `agent`, `other` or a list of them"
    assert expected["host"] == "text or a list of texts"
    assert expected["status"] == "an integer or a list of integers"
    assert expected["header"] == "a mapping of names to text"
    assert expected["stream"] == "`true` or `false`"
    assert expected["probability"] == "a number from 0 to 1"
    assert expected["first"] == "an integer from 1 up"
    assert expected["attempts"] == "`all`, `first` or an integer from 1 up"


def test_sections_end_where_the_next_begins():
    class Documented:
        """One line.

        What it does:
            Two
            lines.

        Example:
            a:
              - b
        """

    assert sections(Documented) == {"What it does": "Two\nlines.", "Example": "a:\n  - b"}
