"""The page on profiles says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from faultwire.profile.entry_model import On, Trigger
from faultwire.profile.load import inline, parse

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "profiles.md").read_text()


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL))
def test_every_profile_on_the_page_loads(text):
    assert parse(text, "profile.yaml").entries


def test_every_fault_on_a_command_line_is_understood():
    faults = re.findall(r"--fault '(.*?)'", PAGE)
    assert faults
    for text in faults:
        assert inline(text).entries


PAGES = [*sorted((Path(__file__).parents[3] / "docs").rglob("*.md")), Path(__file__).parents[3] / "README.md"]
PROFILES = [
    pytest.param(text, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, text in enumerate(re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL))
    if re.match(r"(#.*\n)*(name|description|tools|agents|faults|chaos):", text)
    and re.search(r"^(faults|chaos):", text, re.MULTILINE)
]


def test_there_are_profiles_on_other_pages():
    assert len(PROFILES) > 5


@pytest.mark.parametrize("text", PROFILES)
def test_every_profile_of_the_documentation_is_valid(text):
    assert parse(text, "page.yaml").entries


def test_a_list_of_kinds_is_promised_and_read():
    assert "`kind: [llm, other]`" in section("`on`")
    assert parse("faults: [{reset: , on: {kind: [llm, other]}}]", "p").entries[0].on.kinds == ("llm", "other")


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(("title", "model"), [("`on`", On), ("`trigger`", Trigger)])
def test_every_key_is_on_the_page(title, model):
    told = {
        name
        for cell in re.findall(r"^\| (`.*?) \|", section(title), re.MULTILINE)
        for name in re.findall(r"`(\w+)`", cell)
    }
    assert told == set(model.model_fields)
