"""The visible commands, their headings and their page in the documentation; old words that still work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from faultwire.cli import COMMANDS, RENAMED, SECTIONS, main
from faultwire.cli._option_sections import SECTIONS as OPTION_SECTIONS, RenamedOption, SectionedCommand

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "commands.md"
OLD = {
    ("chaos",): "faultwire run --chaos-only",
    ("run", "--verify-only"): "faultwire verify",
    ("contract", "score"): "faultwire score --phase contract",
    ("runs", "list"): "faultwire runs",
    ("tape", "scan", "."): "faultwire scan --leaks",
    ("replay", "import", "--har", "x.har", "-o", "out"): "faultwire tape import FILE -o TAPE, then "
    "faultwire replay export --from-tape TAPE",
    ("replay", "import", "--flows", "x.flows", "-o", "out"): "faultwire tape import FILE -o TAPE, then "
    "faultwire replay export --from-tape TAPE",
}
"""Every old word as a command line, and the command line that its warning names."""


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def faultwire(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def leaves(
    command: click.Command, context: click.Context, path: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    """Every command that is listed in help and has no listed commands of its own."""
    names = command.list_commands(context) if isinstance(command, click.Group) else []
    if not names:
        yield path
    for name in names:
        assert isinstance(command, click.Group)
        below = command.get_command(context, name)
        assert below is not None
        yield from leaves(below, context, (*path, name))


def visible() -> set[str]:
    return {" ".join(path) for path in leaves(main, click.Context(main), ("faultwire",))}


def documented(page: str) -> set[str]:
    """The commands in the tables before the old ones: lower-case words up to the first argument."""
    rows = re.findall(r"^\| `(faultwire [^`]*)` \|", page.split("## Old commands")[0], re.MULTILINE)
    return {" ".join(re.match(r"faultwire(?: [a-z][a-z-]*)+", row)[0].split()) for row in rows}  # type: ignore[index]


def test_the_headings_list_every_command_once() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted([*listed, *RENAMED]) == sorted(COMMANDS)


def test_every_visible_command_is_documented_and_no_other() -> None:
    assert documented(PAGE.read_text()) == visible()


def test_a_missing_row_is_found() -> None:
    page = "\n".join(line for line in PAGE.read_text().splitlines() if "faultwire tape seal" not in line)
    assert visible() - documented(page) == {"faultwire tape seal"}


@pytest.mark.parametrize("arguments", OLD, ids=" ".join)
def test_an_old_word_warns_once_and_names_the_new_one(arguments: tuple[str, ...]) -> None:
    done = faultwire(*arguments)
    warnings = [line for line in done.stderr.splitlines() if line.startswith("deprecated: ")]
    assert len(warnings) == 1
    assert warnings[0].endswith(f"use `{OLD[arguments]}`")
    assert "deprecated" not in done.stdout


def test_a_new_word_does_not_warn() -> None:
    assert "deprecated" not in faultwire("runs").stderr
    assert "deprecated" not in faultwire("scan", "--leaks", ".").stderr
    assert "deprecated" not in faultwire("run").stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("runs", "list"), ("runs",)),
        (("tape", "scan", "page.log"), ("scan", "--leaks", "page.log")),
        (("tape", "scan", "."), ("scan", ".")),
        (("chaos",), ("run", "--chaos-only")),
        (("contract", "score"), ("score", "--phase", "contract")),
        (("run", "--verify-only"), ("verify",)),
    ],
    ids=" ".join,
)
def test_an_old_word_does_what_the_new_one_does(old: tuple[str, ...], new: tuple[str, ...]) -> None:
    Path("page.log").write_text("key sk-ant-api03-" + "Wm5Qx8Zt2Vb7Nk1R" * 2)
    before, after = faultwire(*old), faultwire(*new)
    kept = [line for line in before.stderr.splitlines() if not line.startswith("deprecated: ")]
    assert (before.stdout, kept, before.exit_code) == (
        after.stdout,
        after.stderr.splitlines(),
        after.exit_code,
    )


@pytest.mark.parametrize(
    ("group", "hidden"),
    [
        ((), "chaos"),
        (("contract",), "score"),
        (("runs",), "list"),
        (("tape",), "scan"),
        (("run",), "--verify-only"),
        (("replay", "import"), "--har"),
        (("replay", "import"), "--flows"),
    ],
)
def test_an_old_word_is_not_in_help(group: tuple[str, ...], hidden: str) -> None:
    assert not re.search(rf"^  +{re.escape(hidden)}\b", faultwire(*group, "--help").stdout, re.MULTILINE)


SECTIONED = ("exec", "proxy", "fork", "blame", "shrink", "validate", "explore", "audit")


@pytest.mark.parametrize("name", SECTIONED)
def test_every_option_is_under_the_name_of_its_command_or_a_common_heading(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert isinstance(command, SectionedCommand)
    known = {option for names in OPTION_SECTIONS.values() for option in names}
    options = {option.name for option in command.params if isinstance(option, click.Option)}
    assert (options <= known) is (name in ("exec", "proxy"))
    text = faultwire(name, "--help").stdout
    assert "\nOptions:" not in text
    headings = [line[:-1] for line in text.splitlines() if re.fullmatch(r"[A-Z][a-z]+:", line)]
    own = [] if options <= known else [name.capitalize()]
    assert headings == [*own, *(heading for heading in OPTION_SECTIONS if heading in headings)]
    assert {"Faults", "Recording", "Capture", "Network", "Output"} <= set(headings)


def test_an_option_without_a_heading_is_still_listed() -> None:
    command = SectionedCommand("x", params=[click.Option(["--seed"]), click.Option(["--stray"])])
    text = CliRunner().invoke(command, ["--help"]).stdout
    assert re.search(r"Faults:\n  --seed TEXT\n", text)
    assert re.search(r"X:\n  --stray TEXT\n", text)


def test_a_renamed_option_warns_only_where_it_is_given() -> None:
    option = RenamedOption(["--old"], is_flag=True, use="new")
    command = click.Command("x", params=[option], callback=lambda old: click.echo(old))
    assert CliRunner().invoke(command, ["--old"]).stderr.endswith("use `new`\n")
    assert CliRunner().invoke(command, []).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("one", "two"), "found 2 targets, expected one text, file or `-`"),
        (("--leaks", "--kind", "pii", "."), "in a search for leaked secrets, expected none of them"),
    ],
)
def test_scan_refuses_what_it_cannot_combine(arguments: tuple[str, ...], said: str) -> None:
    done = faultwire("scan", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_scan_takes_json_in_both_spellings() -> None:
    assert faultwire("scan", "--json", "x").stdout == faultwire("scan", "--format", "json", "x").stdout
    assert faultwire("scan", "--json", "--leaks", ".").stdout.startswith('{\n  "files": 0')
