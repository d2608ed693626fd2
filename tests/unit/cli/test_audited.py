from __future__ import annotations

from faultwire.cli._audited import LINE, LINES, printed


def test_the_last_lines_of_a_command_are_repeated() -> None:
    assert printed("one\n\ntwo\n", "Error: no key\n") == ["one", "two", "Error: no key"]
    assert printed("", "") == []
    many = printed("\n".join(f"line {n}" for n in range(100)))
    assert (len(many), many[-1]) == (LINES, "line 99")


def test_they_cannot_steer_a_terminal() -> None:
    (line,) = printed("\x1b[2J" + "x" * 2000)
    assert "\x1b" not in line
    assert len(line) == LINE
