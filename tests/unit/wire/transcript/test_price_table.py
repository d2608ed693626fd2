"""The built-in table of prices is what `docs/prices.py` makes of the facts in `docs/prices.csv`."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from faultwire.wire.transcript.price_file import parse
from faultwire.wire.transcript.prices import BUILTIN

ROOT = Path(__file__).parents[4]
FACTS = ROOT / "docs" / "prices.csv"
HEAD = FACTS.read_text().partition("\n")[0]
ROW = "a,one two,1,2,,,,,,,2026-01-02,https://a.example/prices"


def generated(facts: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(ROOT / "docs" / "prices.py"), str(facts)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def made(tmp_path: Path, *rows: str) -> subprocess.CompletedProcess[str]:
    facts = tmp_path / "facts.csv"
    facts.write_text("\n".join((HEAD, *rows)) + "\n")
    return generated(facts)


def test_the_table_is_what_the_generator_makes() -> None:
    assert generated(FACTS).stdout == BUILTIN.read_text()


def test_each_fact_has_its_day_and_its_source() -> None:
    rows = list(csv.DictReader(FACTS.read_text().splitlines()))
    assert len(rows) > 500
    assert all(len(row["read_on"]) == 10 and row["source"].startswith("https://") for row in rows)
    table = parse(BUILTIN.read_bytes(), BUILTIN)
    assert str(table.as_of) == min(row["read_on"] for row in rows)
    assert sum(len(row["models"].split()) for row in rows) == sum(len(m) for m in table.models.values())


def test_a_changed_fact_changes_the_table(tmp_path: Path) -> None:
    table = parse(
        made(tmp_path, ROW, ROW.replace("one two", "x:0").replace("-02", "-01")).stdout.encode(), FACTS
    )
    assert str(table.as_of) == "2026-01-01", "the day of the oldest row"
    assert {name: int(row.dollars["output"]) for name, row in table.models["a"].items()} == {
        "one": 2,
        "two": 2,
        "x:0": 2,
    }


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ((ROW, ROW), "3: found 'one' again"),
        ((ROW.replace("2026-01-02", "soon"),), "2: found read_on of 'soon'"),
        ((ROW.replace("https://", ""),), "2: found no source"),
        ((ROW.replace(",1,2,", ",-1,2,"),), "2: found input of '-1'"),
        ((ROW.replace(",1,2,", ",1,,"),), "2: found no price"),
        ((ROW + ",",), "2: found another number of fields"),
        ((), "1: found no row"),
    ],
)
def test_a_bad_fact_is_named_with_its_line(tmp_path: Path, rows: tuple[str, ...], what: str) -> None:
    done = made(tmp_path, *rows)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(what)
