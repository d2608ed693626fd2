"""Lines and columns of `faultwire scan`, and that many findings cost no more than the text."""

from time import process_time

from click.testing import CliRunner

from faultwire.cli.scan import scan


def test_lines_and_columns_of_each_hit(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("a@firm.org b@firm.org\n\n  Grüße c@firm.org\nd@firm.org", "utf-8")
    result = CliRunner().invoke(scan, [str(path), "--kind", "pii"])
    places = [line.removeprefix(f"{path}:").split(": ")[0] for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert places == ["1:1", "1:12", "3:9", "4:1"]


def test_the_time_grows_with_the_text_and_not_with_hits_times_text(tmp_path):
    """Counting lines from the start for each hit takes sixteen times as long for four times the text."""

    def took(lines: int) -> float:
        path = tmp_path / f"{lines}.txt"
        path.write_text(("x" * 1500 + "\nwrite to ann@firm.org\n") * lines, "utf-8")
        began = process_time()
        result = CliRunner().invoke(scan, [str(path), "--kind", "pii"])
        assert len(result.stdout.splitlines()) == lines
        return process_time() - began

    took(10)
    few = min(took(1000) for _ in range(3))
    assert min(took(4000) for _ in range(2)) < 8 * few
