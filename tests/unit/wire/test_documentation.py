"""faultwire.wire.documentation: the tables of docs/reference/protocols.md are what protocols say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.errors import FaultwireError
from faultwire.wire.documentation import filled, tables
from faultwire.wire.openai.chat import OpenAIChat
from faultwire.wire.registry import BUILTIN
from faultwire.wire.types import Page

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "protocols.md"
KNOWN = [source() for source in BUILTIN]


class New(OpenAIChat):
    name = "new"
    page = Page("`POST /new`", "`new`", "all", "some", "errors", "no")


def test_the_page_is_what_the_protocols_say() -> None:
    assert filled(PAGE.read_text(), KNOWN) == PAGE.read_text()


def test_each_has_its_rows() -> None:
    assert all(protocol.page is not None for protocol in KNOWN)
    for table in tables(KNOWN).values():
        assert [line.split("`")[1] for line in table.splitlines()[2:]] == [one.name for one in KNOWN]


def test_another_protocol_changes_the_page() -> None:
    page = filled(PAGE.read_text(), [*KNOWN, New()])
    assert page != PAGE.read_text()
    assert "| `new` | `POST /new` | `new` |\n" in page
    assert "| `new` | all | some | errors | no |\n" in page
    assert filled(page, KNOWN) == PAGE.read_text()


def test_a_page_without_a_place_for_them_is_refused() -> None:
    with pytest.raises(FaultwireError, match="found no `<!-- recognised"):
        filled("# Protocols\n", KNOWN)


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    """`python -m faultwire.wire`, faultwire.wire.__main__."""
    copy = Path(shutil.copy(PAGE, tmp_path / "protocols.md"))
    copy.write_text(copy.read_text().replace("| `cohere` |", "| `wrong` |"))
    assert copy.read_text() != PAGE.read_text()
    subprocess.run([sys.executable, "-m", "faultwire.wire", str(copy)], check=True)
    assert copy.read_text() == PAGE.read_text()
