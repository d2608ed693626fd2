"""What may be seen of what is held, and secrets that come back."""

from __future__ import annotations

from tests.unit.mitm.breakpoints.conftest import SECRET

from faultwire.mitm.breakpoints.veil import Veil

JSON = (("content-type", "application/json"),)


def test_a_secret_is_a_placeholder_and_comes_back_where_it_is_left() -> None:
    veil = Veil({})
    shown = veil.body(f'{{"key": "{SECRET}", "a": 1}}'.encode(), JSON)
    assert shown is not None
    assert SECRET not in shown
    assert veil.restored(shown, in_json=True) == f'{{"key": "{SECRET}", "a": 1}}'
    assert veil.restored("nothing of it") == "nothing of it"


def test_a_secret_of_the_users_own_rules_is_not_seen_either() -> None:
    veil, text = Veil({"pii": True}), "write to ann@corp.example today"
    assert "ann@corp" not in veil.text(text)
    assert veil.restored(veil.text(text)) == text
    assert Veil({}).text(text) == text


def test_credentials_of_a_head_are_not_seen() -> None:
    assert "Bearer abc" not in str(Veil({}).headers((("authorization", "Bearer abcdefghijklmnop"),)))


def test_what_is_packed_or_no_text_is_not_shown() -> None:
    veil = Veil({})
    assert veil.body(b"\x1f\x8b", (*JSON, ("content-encoding", "gzip"))) is None
    assert veil.body(b"\xff\xfe\x00", ()) is None
