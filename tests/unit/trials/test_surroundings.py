from __future__ import annotations

import pytest

from faultwire.trials.surroundings import digest

KEY = b"k" * 32
HELD = {"PATH": "/bin", "MODEL": "gpt-4o", "TERM": "xterm", "SSH_TTY": "/dev/pts/1"}


@pytest.mark.parametrize(
    "other", [{"MODEL": "gpt-5"}, {"RETRIES": "3"}, {"TERMS": "all"}, {"PATH": "/bin:/x"}]
)
def test_an_agent_in_another_environment_is_another(other: dict[str, str]) -> None:
    assert digest(HELD | other, KEY) != digest(HELD, KEY)


@pytest.mark.parametrize("other", [{"TERM": "dumb"}, {"SSH_TTY": "/dev/pts/7"}, {"SHLVL": "3", "_": "/x"}])
def test_another_terminal_is_none(other: dict[str, str]) -> None:
    assert digest(HELD | other, KEY) == digest(dict(reversed(HELD.items())), KEY)


def test_it_gives_no_value_away() -> None:
    assert digest(HELD, KEY) != digest(HELD, b"o" * 32)
    assert "gpt" not in digest(HELD, KEY)
