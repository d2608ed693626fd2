"""What `doctor` says of each runtime: only what its calls showed."""

from __future__ import annotations

from faultwire.cli._runtime_table import Row, rows, table


def only(by_proxy: bool, inside: tuple[bool, bool] | None, name: str = "node") -> Row:
    (row,) = rows({name: by_proxy}, None if inside is None else {name: inside}, ())
    return row


def test_roots_in_files_need_nothing() -> None:
    row = only(True, (True, True), "python3")
    assert row.cells == ("python3", "captured", "captured", "files", "nothing")


def test_roots_that_are_compiled_in_need_their_variable() -> None:
    row = only(True, (False, True))
    assert row.trust == "NODE_EXTRA_CA_CERTS"
    assert "keep `NODE_EXTRA_CA_CERTS`" in row.advice


def test_what_the_proxy_misses_and_the_namespace_has() -> None:
    row = only(False, (True, True))
    assert (row.by_proxy, row.in_namespace) == (False, True)
    assert row.advice == "use `--capture netns`"


def test_a_call_that_arrived_nowhere_is_not_called_captured() -> None:
    row = only(False, (False, False))
    assert row.cells[1:4] == ("not captured", "not captured", "unknown")
    assert row.advice


def test_without_a_namespace_nothing_is_said_of_it() -> None:
    assert only(True, None).cells[2] == "not tried"
    assert only(False, None).trust == "unknown"


def test_a_runtime_without_a_small_call_was_not_tried() -> None:
    (row,) = rows({}, {}, ("java",))
    assert row.cells[:3] == ("java", "not tried", "not tried")


def test_columns_are_aligned() -> None:
    lines = table([only(True, (True, True), "python3"), only(True, (False, True))])
    assert len({line.index("captured") for line in lines[1:]}) == 1
    assert lines[0].startswith("runtime")
