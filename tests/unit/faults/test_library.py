"""Every family says where it comes from and what shows it; packages add their own."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint
from typing import get_args

import pytest

from faultwire.errors import FaultError
from faultwire.faults.attack import _library
from faultwire.faults.attack._library import SHOTS, AttackFamily, Payload, Shows, collect, registry

THEIRS = AttackFamily("theirs", 3, "2026-01", "Us", (), (), (), (Payload("theirs/a", "do {canary}"),))
NAMELESS = THEIRS._replace(payloads=(Payload("theirs/a", "", shows="argument"),))


def entry(name="theirs", attribute="THEIRS"):
    return EntryPoint(name, f"{__name__}:{attribute}", _library.GROUP)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or type(sys)(__name__))
    for name, value in (("THEIRS", THEIRS), ("NAMELESS", NAMELESS)):
        monkeypatch.setattr(sys.modules[__name__], name, value, raising=False)


@pytest.mark.parametrize("family", registry().values(), ids=registry())
def test_each_names_source_date_version_and_what_shows_it(family):
    assert re.fullmatch(r"20\d\d-\d\d", family.date)
    assert len(family.source) > 10
    assert family.version >= 1
    for one in family.owasp_llm:
        assert re.fullmatch(r"LLM(0\d|10):2025", one)
    for one in family.owasp_agentic:
        assert re.fullmatch(r"ASI(0\d|10):2026", one)
    for one in family.atlas:
        assert re.fullmatch(r"AML\.T\d{4}(\.\d{3})?", one)
    assert all((family.owasp_llm, family.owasp_agentic, family.atlas))
    for payload in family.payloads:
        assert payload.shows in get_args(Shows)
        assert (payload.shows == "word") == (payload.word is not None)


def test_many_shots_are_many():
    for payload in registry()["many_shot"].payloads:
        assert len(re.findall(r"A\d{3}", payload.text)) >= SHOTS


def test_a_package_adds_a_family():
    found = collect([entry()])["theirs"]
    assert (found.version, found.payloads) == (3, THEIRS.payloads)


@pytest.mark.parametrize(
    ("name", "attribute", "why"),
    [
        ("other", "THEIRS", "is called `theirs`"),
        ("theirs", "NAMELESS", "has payloads without a text"),
        ("theirs", "GONE", "failed to load"),
        ("theirs", "pytest", "is no `AttackFamily`"),
    ],
)
def test_one_that_is_wrong_is_an_error_with_its_package(name, attribute, why):
    with pytest.raises(FaultError, match=why) as caught:
        collect([entry(name, attribute)])
    assert caught.value.code == "attack.plugin"


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(FaultError, match="a name of its own"):
        collect([entry(), entry()])


def test_the_page_has_the_table_of_the_code():
    from pathlib import Path

    page = (Path(__file__).parents[3] / "docs" / "howto" / "attack.md").read_text()
    assert f"-->\n{_library.table()}\n<!-- end -->" in page
