"""A project's keys on the disk: rights, trust, and files that are not what they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import TapeError, UsageError
from faultwire.tape.evidence.keyring import KeyRing, given_key, name_for
from faultwire.tape.evidence.signed_note import SignerKey

OTHER = SignerKey("other", b"o" * 32)


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return KeyRing(tmp_path / "keys")


def test_the_first_use_makes_the_key_and_the_next_finds_it(ring: KeyRing) -> None:
    assert ring.signer() is None
    key = ring.signer_or_new("my project/x")
    assert key.name == "my-project-x"
    assert ring.signer_or_new("another") == key
    assert ring.private.stat().st_mode & 0o777 == 0o600
    assert ring.folder.stat().st_mode & 0o777 == 0o700
    assert ring.public.read_text() == f"{key.verifier}\n"
    assert key.dump() not in ring.public.read_text()


def test_of_two_that_make_one_at_once_the_first_wins(ring: KeyRing) -> None:
    first = ring._make(SignerKey.fresh("a"), replace=False)
    assert ring._make(SignerKey.fresh("b"), replace=False) == first
    assert ring.public.read_text() == f"{first.verifier}\n"


def test_a_renewed_key_leaves_the_old_one_trusted(ring: KeyRing) -> None:
    old = ring.signer_or_new("p")
    new = ring.renew("p")
    assert new != old
    assert ring.trusted() == (new.verifier, old.verifier)


def test_trust_is_given_once(ring: KeyRing) -> None:
    own = ring.signer_or_new("p")
    assert ring.trust(OTHER.verifier)
    assert not ring.trust(OTHER.verifier)
    assert not ring.trust(own.verifier)
    assert ring.trusted() == (own.verifier, OTHER.verifier)


def test_a_key_that_others_may_read_is_not_used(ring: KeyRing) -> None:
    ring.signer_or_new("p")
    ring.private.chmod(0o644)
    with pytest.raises(TapeError, match="has mode 644, expected 600"):
        ring.signer()


@pytest.mark.parametrize("text", ["", "nonsense", "PRIVATE+KEY+a+b+c"])
def test_a_file_that_holds_no_key(ring: KeyRing, text: str) -> None:
    ring.signer_or_new("p")
    ring.private.write_text(text)
    with pytest.raises(TapeError, match="holds no seal key"):
        ring.signer()


def test_a_link_in_place_of_a_key_is_not_followed(ring: KeyRing, tmp_path: Path) -> None:
    ring.signer_or_new("p")
    ring.private.rename(tmp_path / "elsewhere")
    ring.private.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TapeError, match="cannot read"):
        ring.signer()


def test_a_bad_line_in_the_trust_list_is_named(ring: KeyRing) -> None:
    ring.trust(OTHER.verifier)
    ring.trust_list.write_text(f"# friends\n{OTHER.verifier}\nnonsense\n")
    with pytest.raises(TapeError, match="trusted:3: no verifier key"):
        ring.trusted()


def test_a_given_key_is_a_text_or_a_file(ring: KeyRing, tmp_path: Path) -> None:
    own = ring.signer_or_new("p").verifier
    assert given_key(str(own)) == own
    assert given_key(str(ring.public)) == own
    for bad in ("nope+x+y", str(tmp_path / "missing"), str(ring.private)):
        with pytest.raises(UsageError) as error:
            given_key(bad)
        assert error.value.code == "keys.unreadable"


@pytest.mark.parametrize(
    ("folder", "name"), [("a b", "a-b"), ("", "project"), ("..", "project"), ("x" * 80, "x" * 64)]
)
def test_key_names_from_folders(folder: str, name: str) -> None:
    assert name_for(folder) == name
