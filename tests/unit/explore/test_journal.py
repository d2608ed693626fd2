from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.explore.journal import Journal
from faultwire.explore.made import Made
from faultwire.explore.space import Call, Observation, Point

CALL = Call("GET x/a", 1)
POINT = Point(CALL, "status")
RUN = Observation(
    True, "it broke", ((CALL, "k"),), frozenset([POINT]), frozenset([POINT]), frozenset({(CALL, None)}), True,
    1.5, 0.25, "out",
)  # fmt: skip
MADE = Made(RUN, {POINT: 3})


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "state"
    journal = Journal(path, "about")
    journal.append("one", MADE)
    journal.close()
    again = Journal(path, "about")
    assert again.earlier == {"one": MADE}
    with pytest.raises(UsageError, match="in use"):
        Journal(path, "about")
    again.close()


def test_a_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "state"
    journal = Journal(path, "about")
    journal.append("one", MADE)
    journal.append("two", MADE)
    journal.close()
    path.write_bytes(path.read_bytes()[:-9])
    again = Journal(path, "about")
    assert list(again.earlier) == ["one"]
    again.append("two", MADE)
    again.close()
    assert len(path.read_bytes().splitlines()) == 3


@pytest.mark.parametrize("text", ["nonsense\n", '{"faultwire_explore": 9}\n', '{"a": 1}\n'])
def test_no_state_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "state"
    path.write_text(text)
    with pytest.raises(UsageError, match="not a state file"):
        Journal(path, "about")
    path.unlink()
    Journal(path, "about").close()
    with pytest.raises(UsageError, match="another search"):
        Journal(path, "other")
