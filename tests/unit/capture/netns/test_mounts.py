"""What cannot be replaced is told, place by place, and the rest is done. (Mounts: `tests/e2e/netns`.)"""

from __future__ import annotations

from pathlib import Path

from faultwire.capture.netns.mounts import apply


def test_a_place_that_is_not_there_is_reported(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    found = apply([("/dev/null", gone)], {f"{gone}/certs": {}})
    assert found == [
        f"{gone}/certs: No such file or directory",
        f"{gone}: No such file or directory",
    ] or all("Operation not permitted" in one or "No such file" in one for one in found)
    assert len(found) == 2
