"""faultwire.wire.transcript.price_update, price_file and `faultwire prices`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from faultwire.cli import main
from faultwire.clock import utc_now
from faultwire.errors import ConfigError
from faultwire.wire.transcript import price_update, prices
from faultwire.wire.transcript.price_file import MOST_BYTES, contents, parse

TODAY = utc_now().date().isoformat()
ROW = "models:\n  openai:\n    ours: {input: 1, output: 2}\n"
TABLE = f"as_of: {TODAY}\n{ROW}"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A configuration folder of the test's own."""
    folder = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    yield folder / "faultwire" / "prices.yaml"
    prices.choose(None)


def faultwire(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def update(text: str | bytes, *options: str) -> Result:
    Path("table.yaml").write_bytes(text.encode() if isinstance(text, str) else text)
    return faultwire("prices", "update", "table.yaml", *options)


def test_an_installed_table_holds_for_every_command(home: Path) -> None:
    assert prices.current().price("openai", "ours") is None
    done = update(TABLE)
    assert (done.exit_code, done.stdout) == (0, f"{home}: prices of {TODAY}, 1 model of 1 provider\n")
    assert home.read_text() == TABLE
    assert home.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in home.parent.iterdir()] == [home.name], "no draft is left"
    found = prices.current().price("openai", "ours")
    assert found is not None
    assert (found.input, found.as_of) == (1, TODAY)
    builtin = prices.current().price("openai", "gpt-4o")
    assert builtin is not None
    assert builtin.as_of == prices.builtin().as_of, "a price has the date of the table that lists it"
    home.unlink()
    assert prices.current() is prices.builtin()


def test_the_tables_in_use_are_shown_with_their_dates(home: Path) -> None:
    count = sum(len(models) for models in prices.builtin().models.values())
    alone = json.loads(faultwire("prices", "show", "--format", "json").stdout)
    assert [(row["table"], row["models"]) for row in alone["tables"]] == [("built-in", count)]
    assert alone["models"] == count
    assert update(TABLE).exit_code == 0
    both = json.loads(faultwire("prices", "show", "--format", "json").stdout)
    assert [(row["table"], row["as_of"], row["models"]) for row in both["tables"]] == [
        ("installed", TODAY, 1),
        ("built-in", prices.builtin().as_of, count),
    ]
    assert both["models"] == count + 1
    Path("mine.yaml").write_text("models: {openai: {gpt-4o: {input: 1, output: 1}}}")
    shown = faultwire("--prices", "mine.yaml", "prices")
    assert [line.split()[:3] for line in shown.stdout.splitlines()[1:4]] == [
        ["--prices", "unknown", "1"],
        ["installed", TODAY, "1"],
        ["built-in", prices.builtin().as_of, str(count)],
    ]
    assert f"{count + 1} models with a price" in shown.stdout


def test_an_older_table_is_installed_by_force_only(home: Path) -> None:
    older = f"as_of: 2020-01-01\n{ROW}"
    refused = update(older)
    assert refused.exit_code == 2
    assert "found `as_of` of 2020-01-01, expected" in refused.stderr
    assert "as the built-in table has" in refused.stderr
    assert not home.exists()
    assert update(older, "--force").exit_code == 0
    assert update(TABLE).exit_code == 0, "a newer one needs no force"
    again = update(older)
    assert f"expected {TODAY} or later, as the installed table `{home}` has" in " ".join(again.stderr.split())
    assert home.read_text() == TABLE


def test_a_table_of_a_future_day_is_refused(home: Path) -> None:
    day = (utc_now() + timedelta(days=3)).date().isoformat()
    refused = update(f"as_of: {day}\n{ROW}")
    assert (refused.exit_code, home.exists()) == (2, False)
    assert f"found `as_of` of {day}, expected no day of the future" in refused.stderr


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (ROW, None, "found no `as_of`"),
        (f"as_of: {TODAY}\nmodels: {{}}", None, "found no price"),
        ("as_of: 2026-02-30\n" + ROW, 1, "`as_of` of `2026-02-30`"),
        ("as_of: 20260101\n" + ROW, 1, "`as_of` of `20260101`"),
        (TABLE + "    ours: {input: 3, output: 3}\n", 5, "`ours` twice"),
        (TABLE + "    b: {input: 1, output: -1}\n", 5, "found `-1`"),
        (TABLE + "    b: {input: 1, output: true}\n", 5, "found `true`"),
        (TABLE + "    b: {input: 1, output: 1e999999}\n", 5, "found `1e999999`"),
        (TABLE + "    b: {input: 1, output: 1e-999999}\n", 5, "found `1e-999999`"),
        (TABLE + "    b: {input: 1, output: 1_0٣}\n", 5, "expected dollars"),
        (TABLE + "    b: {input: 1, output: [[[1]]]}\n", 5, "found a list"),
        (TABLE + "    b: {input: 1, outputs: 1, output: 1}\n", 5, "found `outputs`"),
        (TABLE + "    b: {input: 1, output: 1, up_to: 1.5}\n", 5, "`up_to` of `1.5`"),
        (TABLE + "    b: &x {input: 1, output: 1}\n    c: *x\n", 5, "an anchor, an alias or a tag"),
        (TABLE + "    b: !!python/object:os.system {input: 1}\n", 5, "an anchor, an alias or a tag"),
        (TABLE + '    "b\\e[2J": {input: 1, output: 1}\n', 5, "printable characters"),
        (TABLE + "    ? [b]\n    : {input: 1, output: 1}\n", 5, "found a list as a key"),
        (TABLE + "  other: 3\n", 5, "expected models by their names"),
        (TABLE + "note: x\n", 5, "found `note`"),
        (TABLE + "---\nmodels: {}\n", 6, "a second document"),
        (TABLE + "currency: EUR\n", 5, "found currency `EUR`"),
        (TABLE + "  b: {", 6, "found no YAML"),
        (TABLE.encode() + b"#\n\xff", 6, "not UTF-8"),
        ("[" * 500, 1, "found more than 100 levels"),
        ("[" * 100_000, 1, "config.prices: found "),  # newer releases of libyaml have a limit of their own
        ("", None, "found no `models`"),
    ],
)
def test_a_bad_table_is_named_with_its_line(
    text: str | bytes, line: int | None, what: str, home: Path
) -> None:
    refused = update(text, "--force")
    place = "table.yaml" if line is None else f"table.yaml:{line}:"
    told = " ".join(refused.stderr.split())
    assert refused.exit_code == 2, refused.output
    assert what in told
    assert place in told
    assert "\x1b" not in refused.stderr
    assert not home.exists(), "what is no table is not installed, by force neither"


def test_a_pipe_is_not_waited_for_and_a_long_file_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "long").write_bytes(b"#" * (MOST_BYTES + 1))
    for name, what in (("pipe", "not a regular file"), ("long", "more than"), ("none", "no readable file")):
        with pytest.raises(ConfigError, match=what):
            contents(tmp_path / name)


def test_a_damaged_installed_table_is_an_error_and_can_be_replaced(home: Path) -> None:
    home.parent.mkdir(parents=True)
    home.write_text("models: }\n")
    with pytest.raises(ConfigError, match="found no YAML"):
        prices.current()
    before = faultwire("exec", "--", "true")
    assert before.exit_code == 2, "before anything is started"
    assert f"{home}:1: config.prices: found no YAML" in before.stderr
    assert "the installed table cannot be read" in update(TABLE).stderr
    assert update(TABLE, "--force").exit_code == 0
    assert prices.current().price("openai", "ours") is not None


def test_where_the_table_is(tmp_path: Path) -> None:
    assert prices.place({"HOME": "/h"}) == Path("/h/.config/faultwire/prices.yaml")
    assert prices.place({"HOME": "/h", "XDG_CONFIG_HOME": "rel"}) == Path("/h/.config/faultwire/prices.yaml")
    assert prices.place({"XDG_CONFIG_HOME": "/x"}) == Path("/x/faultwire/prices.yaml")
    assert prices.place({}) is None
    Path("t.yaml").write_text(TABLE)
    assert price_update.install(Path("t.yaml"))[0] == prices.installed()


def test_without_a_folder_for_it_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert "neither `XDG_CONFIG_HOME` nor `HOME`" in " ".join(update(TABLE).stderr.split())
    monkeypatch.setenv("XDG_CONFIG_HOME", os.path.abspath("table.yaml"))
    assert "cannot write" in update(TABLE).stderr


def test_a_sum_names_every_date() -> None:
    assert prices.dated(["2026-01-02", "2026-01-01", "2026-01-02"]) == "prices of 2026-01-01 and 2026-01-02"
    assert prices.dated([prices.UNDATED]) == "prices of an unknown date"


def test_prices_are_read_as_they_are_written() -> None:
    table = parse(b"models: {a: {B: {input: '0.10', output: 1_000}}}", Path("t"))
    assert (table.as_of, str(table.models["a"]["b"].dollars["input"])) == (None, "0.10")
    assert table.models["a"]["b"].dollars["output"] == 1000
