from __future__ import annotations

import io
import json

import click
import pytest
from click.testing import CliRunner

from faultwire.cli import output


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "wanted"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_colour_only_on_a_terminal_that_wants_it(
    stream: io.StringIO, environment: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert bool(output.colour(stream)) is wanted


def test_data_and_progress_go_to_different_streams() -> None:
    @click.command()
    def command() -> None:
        output.show("data \x1b")
        output.say("progress \x1b")

    done = CliRunner().invoke(command)
    assert done.stdout == "data \\x1b\n"
    assert done.stderr == "progress \\x1b\n"


def test_json_is_ascii_and_means_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    data = {"text": "\x1b[31m\u202e\u200bé"}
    output.show_json(data)
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert "\x1b" not in printed
    assert json.loads(printed) == data


def test_fields_and_columns_line_up() -> None:
    assert output.fields({"a": "1", "long": "2"}) == "a     1\nlong  2"
    assert output.columns(("name", "n"), [("x\x1b", "1"), ("longer", "2")]) == (
        "name    n\nx\\x1b   1\nlonger  2"
    )
    assert output.fields([]) == ""
