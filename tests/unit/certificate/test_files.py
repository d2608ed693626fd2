"""Files that are on the disk whole, or as before."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.certificate.files import write_whole


def test_a_file_is_replaced_whole_and_is_its_user_s_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_a_draft_that_a_killed_process_left_is_no_obstacle_and_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".a.draft").symlink_to(tmp_path / "elsewhere")
    write_whole(tmp_path / "a", b"one")
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(OSError, match="No such file"):
        write_whole(tmp_path / "nowhere" / "a", b"one")
