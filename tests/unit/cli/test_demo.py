import pytest
from click.testing import CliRunner

from faultwire.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, ["demo", *arguments])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "report.pdf"), "usage.output: found `report.pdf` for --output, expected a name that ends in"),
        (("-o", "no/such/folder/r.html"), "usage.output: cannot write `no/such/folder/r.html`: No such file"),
        (("--agent-python", "nowhere"), "usage.bad_value: `--agent-python`: file `nowhere` does not exist"),
        (("--concurrency", "0"), "usage.bad_value: `--concurrency`: 0 is not in the range"),
        (("--seed", "x"), "usage.bad_value: `--seed`: `x` is not a valid integer"),
        (("--sed", "1"), "usage.unknown_option: found `--sed`, expected an option of"),
    ],
)
def test_mistakes_are_reported_before_anything_starts(run, tmp_path, arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_help_explains_the_exit_codes(run):
    result = run("--help")
    assert result.exit_code == 0
    assert "1 with --strict; 3 where some or all of it proves nothing" in " ".join(result.stdout.split())
