"""A state file of a search: whole on disk, one search's own, and written by one process at a time."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import orjson
import pytest

from faultwire.errors import UsageError
from faultwire.trials.state_file import StateFile


def opened(path: Path, about: str = "a") -> StateFile:
    return StateFile(path, "explore", about, "command and seed")


def lines(path: Path) -> list[Any]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def test_lines_come_back_in_order_and_more_can_follow(tmp_path: Path) -> None:
    path = tmp_path / "s"
    for n in range(3):
        file = opened(path)
        assert file.earlier == [{"n": earlier} for earlier in range(n)]
        file.append({"n": n})
        file.close()
    assert lines(path) == [{"faultwire_explore": 1, "about": "a"}, {"n": 0}, {"n": 1}, {"n": 2}]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_line_is_on_disk_before_the_next_run(tmp_path: Path) -> None:
    file = opened(tmp_path / "s")
    file.append({"n": 1})
    assert lines(tmp_path / "s")[1:] == [{"n": 1}]
    file.close()


@pytest.mark.parametrize("cut", range(1, 9))
def test_of_a_cut_line_nothing_is_left_in_what_follows(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "s"
    file = opened(path)
    file.append({"n": 1})
    file.append({"n": 2})
    file.close()
    path.write_bytes(path.read_bytes()[:-cut])
    file = opened(path)
    assert file.earlier == [{"n": 1}]
    file.append({"n": 3})
    file.close()
    assert lines(path)[1:] == [{"n": 1}, {"n": 3}]


def test_a_file_whose_head_was_cut_off_is_begun_anew(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(b'{"faultwire_explore": 1, "ab')
    opened(tmp_path / "s").close()
    assert lines(tmp_path / "s") == [{"faultwire_explore": 1, "about": "a"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("no json\n", "which is not a state file of `explore`"),
        ("[]\n", "which is not a state file of `explore`"),
        ('{"faultwire_attack": 1, "about": "a"}\n', "which is not a state file of `explore`"),
        ('{"faultwire_explore": 2, "about": "a"}\n', "which is not a state file of `explore`"),
        ('{"faultwire_explore": 1}\n', "which is not a state file of `explore`"),
        ('{"faultwire_explore": 1, "about": "a"}\nno json\n', "which is not a state file of `explore`"),
        ('{"faultwire_explore": 1, "about": "b"}\n', "expected one with the same command and seed"),
    ],
)
def test_what_is_not_its_own_is_refused_and_left_as_it_is(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s"
    path.write_text(text + '{"cut')
    with pytest.raises(UsageError, match=message) as found:
        opened(path)
    assert (found.value.code, found.value.hint) == (
        "explore.state", "name another file with --state, or remove it",
    )  # fmt: skip
    assert path.read_text() == text + '{"cut'


def test_a_second_search_waits_for_nobody_and_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    file = opened(tmp_path / "s")
    with pytest.raises(UsageError, match="in use by another process, expected one search at a time"):
        opened(tmp_path / "s")
    file.close()
    opened(tmp_path / "s").close()


def test_a_refused_file_is_let_go(tmp_path: Path) -> None:
    opened(tmp_path / "s", "another").close()
    with pytest.raises(UsageError, match="another search"):
        opened(tmp_path / "s")
    opened(tmp_path / "s", "another").close()


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "s").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="Too many levels"):
        opened(tmp_path / "s")
    assert not (tmp_path / "elsewhere").exists()


def test_lines_of_several_threads_are_whole(tmp_path: Path) -> None:
    file = opened(tmp_path / "s")
    threads = [
        threading.Thread(target=lambda n=n: [file.append({"n": n, "pad": "x" * 9000}) for _ in range(20)])
        for n in range(4)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    file.close()
    kept = opened(tmp_path / "s")
    assert sorted(line["n"] for line in kept.earlier) == sorted([0, 1, 2, 3] * 20)
    kept.close()
