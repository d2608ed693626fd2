"""A clock that stands still for the child."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from faultwire.capture import freeze
from faultwire.errors import CaptureError, UsageError

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
STATIC = b"\x7fELF\x02\x01".ljust(0x20, b"\0") + bytes([64]).ljust(22, b"\0") + bytes([56]).ljust(10, b"\0")
"""The head of a program without any program header."""


@pytest.fixture
def lib(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "libfaketimeMT.so.1").touch()
    return {freeze.VARIABLE: str(tmp_path / "libfaketimeMT.so.1")}


def test_what_a_child_is_given(lib: dict[str, str]) -> None:
    found = freeze.frozen_clock(datetime(2026, 3, 1, 10, 0, 0, 999, tzinfo=UTC), lib, NOW)
    child = found.environment({"PATH": "/bin", "LD_PRELOAD": "/x.so"})
    assert child["LD_PRELOAD"] == f"{lib[freeze.VARIABLE]}:/x.so"
    assert (child["FAKETIME"], child["FAKETIME_FMT"]) == ("1772359200", "%s")
    assert child["FAKETIME_DONT_FAKE_MONOTONIC"] == child["NO_FAKE_STAT"] == "1"
    assert (child["PYTHONHASHSEED"], child["PATH"]) == ("0", "/bin")
    assert found.environment({"PYTHONHASHSEED": "7"})["PYTHONHASHSEED"] == "7"
    assert found.settings() == {
        "instant": "2026-03-01T10:00:00+00:00",
        "hash_seed": "0",
        "library": "libfaketimeMT.so.1",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T10:00:00Z", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T10:00:00+02:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
    ],
)
def test_instants(text: str, expected: datetime) -> None:
    assert freeze.instant(text) == expected


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "", "1772359200"])
def test_what_is_no_instant(text: str) -> None:
    with pytest.raises(UsageError, match="expected one such as"):
        freeze.instant(text)


@pytest.mark.parametrize("off", [timedelta(days=-21 * 365), timedelta(days=2)])
def test_instants_that_no_certificate_covers(off: timedelta, lib: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="of the last 20 years"):
        freeze.frozen_clock(NOW + off, lib, NOW)


def test_a_missing_library_is_named(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="expected libfaketime") as caught:
        freeze.library({freeze.VARIABLE: str(tmp_path / "none.so")})
    assert "apt install faketime" in (caught.value.hint or "")


def test_a_path_that_the_loader_would_split_is_refused(tmp_path: Path) -> None:
    odd = tmp_path / "a b"
    odd.mkdir()
    (odd / "lib.so").touch()
    with pytest.raises(CaptureError, match="without blanks"):
        freeze.library({freeze.VARIABLE: str(odd / "lib.so")})


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        (b"\x7fELF" + b"\xff Go buildinf:", "written in Go"),
        (STATIC, "linked statically"),
    ],
    ids=["go", "static"],
)
def test_a_program_that_asks_elsewhere_for_the_time_is_refused(
    contents: bytes, words: str, tmp_path: Path
) -> None:
    program = tmp_path / "agent"
    program.write_bytes(contents)
    program.chmod(0o755)
    with pytest.raises(CaptureError, match=words):
        freeze.require_reach(["env", "A=1", str(program)], {"PATH": "/bin"})
    freeze.require_reach(["sh", "-c", str(program)], {"PATH": "/bin"})
    freeze.require_reach(["no-such-program"], {"PATH": "/bin"})
