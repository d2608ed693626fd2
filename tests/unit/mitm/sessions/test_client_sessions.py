from __future__ import annotations

from typing import Any

from faultwire.mitm.sessions import client_sessions
from faultwire.mitm.sessions.client_sessions import ClientSessions

USER, TOKEN = "s12ab", "0123456789abcdef"


class Opened:
    """A session that was opened."""

    def __init__(self, name: str) -> None:
        self.name, self.closing = name, False


def made(*, announced: bool = False) -> Any:
    return ClientSessions(USER, TOKEN, Opened, announced=announced)  # type: ignore[arg-type]


def test_a_name_opens_one_session_by_user_and_by_path() -> None:
    clients = made()
    found = clients.by_user(f"{USER}.billing", TOKEN)
    assert found.name == "billing"
    assert clients.by_token(f"{TOKEN}.billing") is found
    assert clients.by_user(f"{USER}.other", TOKEN) is not found


def test_nothing_is_opened_without_the_token_or_a_name() -> None:
    clients = made()
    assert clients.by_user(f"{USER}.billing", "0" * 16) is None
    assert clients.by_user(f"{USER}.", TOKEN) is None
    assert clients.by_user("stranger.billing", TOKEN) is None
    assert clients.by_user(f"{USER}.{'n' * 64}", TOKEN) is None
    assert clients.by_user(f"{USER}.a/b", TOKEN) is None
    assert clients.by_token("0000.billing") is None
    assert clients.by_token(TOKEN) is None


def test_of_several_engines_only_the_one_it_was_announced_to_opens_a_session() -> None:
    clients = made(announced=True)
    assert clients.by_user(f"{USER}.billing", TOKEN) is None
    clients.announce("billing")
    assert clients.by_user(f"{USER}.billing", TOKEN).name == "billing"


def test_a_session_that_is_closed_is_not_opened_again() -> None:
    clients = made()
    clients.by_user(f"{USER}.billing", TOKEN).closing = True
    assert clients.by_user(f"{USER}.billing", TOKEN) is None


def test_there_are_so_many_and_no_more(monkeypatch: Any) -> None:
    monkeypatch.setattr(client_sessions, "MOST", 2)
    clients = made()
    found = [clients.by_user(f"{USER}.{name}", TOKEN) for name in "abc"]
    assert [one is None for one in found] == [False, False, True]
    assert clients.by_user(f"{USER}.a", TOKEN) is found[0]
