"""A user's rules.

`faultwire.tape.redact.rules`, and where they reach: `faultwire.tape.redact.user_matches`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from faultwire.errors import ConfigError
from faultwire.tape.redact.edit import MARK
from faultwire.tape.redact.headers import Head
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.rules import Rules, read_rules

EMPLOYEE = {"id": "employee", "regex": "EMP-[0-9]{6}"}


def rules(**section: Any) -> Rules:
    found = read_rules(section)
    assert found is not None
    return found


@pytest.mark.parametrize("section", [None, {}, {"pii": False}, {"headers": [], "paths": []}])
def test_what_asks_for_nothing_is_no_rule(section: object) -> None:
    assert read_rules(section) is None


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ([], "`redact` is list, expected a mapping"),
        ({"pi": True}, "`redact` has an unknown field `pi`, expected `pii`, `headers`, `paths`, `patterns`"),
        ({"pii": "yes"}, "`redact.pii` is str, expected `true` or `false`"),
        ({"headers": "x-*"}, "`redact.headers` is no list of texts"),
        ({"headers": [1]}, "`redact.headers` is no list of texts"),
        ({"paths": ["user"]}, "`redact.paths[0]`: found no `$` at the start of a path"),
        ({"paths": ["$"]}, "`redact.paths[0]` is all of the body, expected a path into it"),
        ({"paths": ["$.a"] * 257}, "`redact.paths` has 257 entries, expected at most 256"),
    ],
)
def test_mistakes_are_named(section: object, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_rules(section)
    assert caught.value.message == said


@pytest.mark.parametrize("regex", ["(a", "(?=a)b", "(a)\\1", "x*"])
def test_patterns_are_linear_and_never_match_nothing(regex: str) -> None:
    with pytest.raises(ConfigError):
        read_rules({"patterns": [{"id": "bad", "regex": regex}]})


def test_headers_go_by_glob_and_by_pattern() -> None:
    redactor = Redactor(b"k", rules(headers=["X-Tenant-*"], patterns=[EMPLOYEE]))
    counts: dict[str, int] = {}
    sent = (
        ("X-Tenant-Id", "acme"),
        ("x-note", "asked by EMP-123456 today"),
        ("content-type", "application/json"),
        ("Authorization", "Bearer abc"),
        ("x-tenant", "stays"),
    )
    head = redactor.head(sent, counts)
    assert isinstance(head, Head)
    told = dict(head.headers)
    assert told["X-Tenant-Id"].startswith(MARK)
    assert told["x-note"].startswith(f"asked by {MARK}")
    assert told["x-note"].endswith(" today")
    assert (told["content-type"], told["x-tenant"]) == ("application/json", "stays")
    assert told["Authorization"].startswith(f"Bearer {MARK}")
    assert counts == {"rule.header": 1, "rule.employee": 1, "header": 1}


def test_a_header_that_states_how_to_read_the_body_stays() -> None:
    redactor = Redactor(b"k", rules(headers=["*"]))
    assert redactor.head((("content-type", "application/json"),), {}).kind == "application/json"


def test_personal_data_in_headers_stays_where_only_bodies_are_meant() -> None:
    sent = (("from", "jane@firm.org"), ("x-real-ip", "93.184.216.34"))
    assert Redactor(b"k", rules(pii=True)).head(sent, {}).headers == sent


def test_paths_and_errors_are_looked_through() -> None:
    redactor = Redactor(b"k", rules(pii=True, patterns=[EMPLOYEE]))
    assert redactor.path("/v1/jane@firm.org/x", {}).startswith(f"/v1/{MARK}")
    told = redactor.path("/v1/x?mail=jane%40firm.org&who=EMP-123456&n=1", {})
    assert "jane" not in told
    assert "EMP-" not in told
    assert told.endswith("&n=1")
    assert "EMP-" not in redactor.error("no such user EMP-123456", {})
    assert redactor.path("/v1/\udcff/x", {}) == "/v1/\udcff/x"


def test_equal_values_stay_equal_across_places() -> None:
    redactor = Redactor(b"k", rules(patterns=[EMPLOYEE]))
    one = redactor.error("EMP-123456", {})
    ((_, other),) = redactor.head((("x-who", "EMP-123456"),), {}).headers
    assert one == other


@pytest.mark.parametrize(
    ("regex", "expected"),
    [
        ("to jane", [(0, 7, "rule.own"), (7, 20, "rule.own")]),
        ("firm.org now", [(3, 20, "pii.email"), (20, 24, "pii.email")]),
        ("to .* now", [(0, 24, "rule.own")]),
        ("doe", [(3, 20, "pii.email")]),
        ("org", [(3, 20, "pii.email")]),
        ("jane", [(3, 20, "pii.email")]),
        ("jane.doe@firm.org now", [(3, 24, "rule.own")]),
        (" now", [(3, 20, "pii.email"), (20, 24, "rule.own")]),
        ("to ", [(0, 3, "rule.own"), (3, 20, "pii.email")]),
    ],
)
def test_a_match_and_personal_data_that_overlap_go_under_the_class_of_the_first(
    regex: str, expected: list[tuple[int, int, str]]
) -> None:
    made = rules(pii=True, patterns=[{"id": "own", "regex": regex}])
    text = "to jane.doe@firm.org now"
    for hits in (made.in_text(text), made.in_bytes(text)):
        assert [(hit.start, hit.end, hit.what) for hit in hits] == expected


@pytest.mark.parametrize("text", ["abc123xyz", "abc123xyz" * 3, "abc1 123xyz abc123xyz"])
def test_of_two_patterns_that_overlap_both_are_covered_to_their_ends(text: str) -> None:
    regexes = ("abc[0-9]+", "[0-9]+xyz")
    made = rules(patterns=[{"id": f"own-{n}", "regex": regex} for n, regex in enumerate(regexes)])
    covered = {at for regex in regexes for found in re.finditer(regex, text) for at in range(*found.span())}
    for hits in (made.in_text(text), made.in_bytes(text)):
        assert {at for hit in hits for at in range(hit.start, hit.end)} == covered
    assert not re.search("xyz|abc", Redactor(b"k", made).error(text, {}))


def test_personal_data_has_a_class_of_its_own() -> None:
    hits = rules(pii=True).in_text("write to jane.doe@firm.org now")
    assert [(hit.start, hit.end, hit.what.partition(".")[0]) for hit in hits] == [(9, 26, "pii")]


def test_rules_that_have_no_patterns_look_into_no_text() -> None:
    for made in (Rules(), rules(headers=["x-*"]), rules(paths=["$.a"])):
        assert not made.looks
        assert made.in_text("jane.doe@firm.org") == made.in_bytes("jane.doe@firm.org") == []
        assert made.in_header("jane.doe@firm.org") == []
    assert rules(pii=True).in_header("jane.doe@firm.org") == []


def test_names_of_fields_without_end_are_not_all_remembered() -> None:
    made = rules(headers=["x-tenant-*"])
    for number in range(5000):
        assert made.covers(f"X-Tenant-{number}")
        assert not made.covers(f"x-other-{number}")
    assert len(made._known) == 4096
    assert made.covers(" x-tenant-0 ")
    assert not made.covers("x-other-0")


def test_a_list_has_a_bound_and_no_blank_text() -> None:
    assert rules(headers=["x"] * 256).covers("x")
    for section in ({"headers": ["x"] * 257}, {"headers": [" "]}, {"paths": ["$.a"] * 257}):
        with pytest.raises(ConfigError):
            read_rules(section)
