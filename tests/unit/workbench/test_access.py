import pytest

from faultwire import clock
from faultwire.workbench.access import CSRF, SESSIONS, SHARE_S, SHARES, Access, Asked, Refusal

HOST = "127.0.0.1:8000"
OURS = {"host": HOST, "origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}


@pytest.fixture
def access() -> Access:
    return Access(frozenset({HOST}), 8000)


@pytest.fixture
def inside(access: Access) -> dict[str, str]:
    session, word = access.exchange(access.link)
    return {**OURS, "cookie": f"{access.cookie}={session}", CSRF: word}


def code(access: Access, method: str, headers: dict[str, str], **more: bool) -> str | None:
    found = access.refusal(Asked(method, headers, **more))
    return found.code if found else None


def test_the_page_itself_is_answered(access: Access, inside: dict[str, str]) -> None:
    assert code(access, "GET", inside) is None
    assert code(access, "POST", inside) is None


@pytest.mark.parametrize(
    ("changed", "method", "expected"),
    [
        ({"host": "evil.test:8000"}, "GET", "ui.host"),
        ({"host": "127.0.0.1:9000"}, "GET", "ui.host"),
        ({"host": ""}, "GET", "ui.host"),
        ({"origin": "http://evil.test"}, "GET", "ui.origin"),
        ({"origin": "null"}, "POST", "ui.origin"),
        ({"origin": "http://127.0.0.1:9000"}, "POST", "ui.origin"),
        ({"origin": f"https://{HOST}"}, "POST", "ui.origin"),
        ({"sec-fetch-site": "cross-site"}, "GET", "ui.origin"),
        ({"sec-fetch-site": "same-site"}, "GET", "ui.origin"),
        ({"sec-fetch-site": "none"}, "POST", "ui.origin"),
        ({"cookie": ""}, "GET", "ui.no_session"),
        ({"cookie": "faultwire-8000=guess"}, "GET", "ui.no_session"),
        ({CSRF: ""}, "POST", "ui.csrf"),
        ({CSRF: "guess"}, "DELETE", "ui.csrf"),
    ],
)
def test_one_thing_that_is_wrong_is_enough(
    access: Access, inside: dict[str, str], changed: dict[str, str], method: str, expected: str
) -> None:
    assert code(access, method, inside) is None
    assert code(access, method, {**inside, **changed}) == expected


def test_our_files_need_no_session_but_our_own_name(access: Access) -> None:
    assert code(access, "GET", OURS, open_to_all=True) is None
    assert code(access, "GET", {**OURS, "host": "evil.test:8000"}, open_to_all=True) == "ui.host"
    assert code(access, "GET", {"host": HOST, "sec-fetch-site": "none"}, open_to_all=True) is None


def test_a_link_works_once(access: Access) -> None:
    assert not isinstance(access.exchange(access.link), Refusal)
    again = access.exchange(access.link)
    assert isinstance(again, Refusal)
    assert again.code == "ui.token_used"


def test_a_wrong_token_is_refused_and_does_not_use_up_the_right_one(access: Access) -> None:
    for guess in ("", "x", access.link[:-1], "é"):
        wrong = access.exchange(guess)
        assert isinstance(wrong, Refusal)
        assert wrong.code == "ui.token"
    assert not isinstance(access.exchange(access.link), Refusal)


def test_the_word_of_one_session_is_not_that_of_another(access: Access, inside: dict[str, str]) -> None:
    access._used = False
    session, word = access.exchange(access.link)
    assert word != inside[CSRF]
    assert code(access, "POST", {**inside, "cookie": f"{access.cookie}={session}"}) == "ui.csrf"


def test_a_session_that_logged_out_is_none(access: Access, inside: dict[str, str]) -> None:
    access.end(Asked("DELETE", inside))
    assert code(access, "GET", inside) == "ui.no_session"


def test_sessions_are_bounded_and_the_oldest_goes(access: Access, inside: dict[str, str]) -> None:
    for _ in range(SESSIONS):
        access._used = False
        access.exchange(access.link)
    assert code(access, "GET", inside) == "ui.no_session"


def test_a_program_s_token_works_where_there_is_one(access: Access) -> None:
    bearer = {"host": HOST, "authorization": "Bearer secret"}
    assert code(access, "GET", bearer) == "ui.no_session"
    access.program = "secret"
    assert code(access, "GET", bearer) is None
    assert code(access, "POST", bearer) is None
    assert code(access, "GET", {**bearer, "authorization": "Bearer other"}) == "ui.no_session"
    assert code(access, "GET", {**bearer, "host": "evil.test"}) == "ui.host"


def test_each_port_and_tls_has_a_cookie_of_its_own() -> None:
    names = {Access(frozenset(), port, tls).cookie for port in (1, 2) for tls in (False, True)}
    assert len(names) == 4
    assert Access(frozenset(), 1, tls=True).cookie.startswith("__Host-")


def test_a_broken_cookie_header_is_no_session(access: Access) -> None:
    assert code(access, "GET", {**OURS, "cookie": "=;;\x00="}) == "ui.no_session"


def reader(access: Access) -> dict[str, str]:
    session, word = access.exchange(access.share())
    return {**OURS, "cookie": f"{access.cookie}={session}", CSRF: word}


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT", "PATCH"])
def test_who_got_a_shared_link_may_only_read(access: Access, inside: dict[str, str], method: str) -> None:
    given = reader(access)
    assert code(access, "GET", given) is None
    assert access.reads_only(Asked("GET", given))
    assert code(access, method, given) == "ui.read_only"
    assert code(access, method, inside) is None
    assert not access.reads_only(Asked("GET", inside))


def test_a_reader_may_end_its_own_session(access: Access) -> None:
    given = reader(access)
    assert code(access, "DELETE", given, leaving=True) is None
    access.end(Asked("DELETE", given))
    assert code(access, "GET", given) == "ui.no_session"


def test_a_reader_with_the_token_of_programs_is_a_program(access: Access) -> None:
    access.program = "secret"
    given = {**reader(access), "authorization": "Bearer secret"}
    assert code(access, "POST", given) is None
    assert code(access, "POST", {**given, "authorization": "Bearer guess"}) == "ui.read_only"


def test_a_shared_link_works_once_and_uses_up_no_other(access: Access) -> None:
    one, other = access.share(), access.share()
    assert not isinstance(access.exchange(one), Refusal)
    again = access.exchange(one)
    assert isinstance(again, Refusal)
    assert again.code == "ui.token"
    assert not isinstance(access.exchange(other), Refusal)
    assert not isinstance(access.exchange(access.link), Refusal)


def test_a_shared_link_ages(access: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    now = clock.monotonic()
    fresh, old = access.share(), access.share()
    monkeypatch.setattr(clock, "monotonic", lambda: now + SHARE_S - 1)
    assert not isinstance(access.exchange(fresh), Refusal)
    monkeypatch.setattr(clock, "monotonic", lambda: now + SHARE_S + 60)
    found = access.exchange(old)
    assert isinstance(found, Refusal)
    assert found.code == "ui.share_old"


def test_links_that_wait_are_bounded_and_the_oldest_goes(access: Access) -> None:
    first, second, *_ = [access.share() for _ in range(SHARES + 1)]
    gone = access.exchange(first)
    assert isinstance(gone, Refusal)
    assert gone.code == "ui.token"
    assert not isinstance(access.exchange(second), Refusal)


def test_readers_log_nobody_out_who_may_do_more(access: Access, inside: dict[str, str]) -> None:
    first = reader(access)
    for _ in range(SESSIONS):
        reader(access)
    assert code(access, "POST", inside) is None
    assert code(access, "GET", first) == "ui.no_session"
