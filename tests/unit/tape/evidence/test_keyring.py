"""A project's keys on the disk: rights, trust, and files that are not what they should be."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.tape.evidence.resealed import label

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


def test_a_key_of_another_kind_has_files_of_its_own(ring: KeyRing) -> None:
    seal, log = ring.signer_or_new("p"), KeyRing(ring.folder, kind="log")
    made = log.signer_or_named("p/certificates-1")
    assert made.name == "p/certificates-1"
    assert log.signer_or_named("another") == made
    assert (ring.signer(), log.private.name, log.public.name) == (seal, "log.key", "log.pub")
    log.private.write_text("none")
    with pytest.raises(TapeError, match="holds no log key"):
        log.signer()
    log.private.chmod(0o644)
    with pytest.raises(TapeError, match=r"log key .* has mode 644"):
        log.signer()


def test_of_two_that_make_one_at_once_the_first_wins(ring: KeyRing, monkeypatch: pytest.MonkeyPatch) -> None:
    first: list[SignerKey] = []

    def overtaken(name: str) -> SignerKey:
        """While this one makes its key, the other looks, finds none, and writes its own."""
        monkeypatch.undo()
        first.append(KeyRing(ring.folder).signer_or_new("a"))
        return SignerKey.fresh(name)

    monkeypatch.setattr(SignerKey, "fresh", overtaken)
    assert ring.signer_or_new("b") == first[0]
    assert ring.signer() == first[0]
    assert ring.public.read_text() == f"{first[0].verifier}\n"


def test_a_key_that_somebody_takes_away_at_once_is_still_the_one(
    ring: KeyRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(draft: Path, path: Path) -> None:
        Path(draft).rename(path)
        Path(path).unlink()

    monkeypatch.setattr(os, "link", taken)
    key = ring.signer_or_new("p")
    assert ring.signer() is None
    assert ring.public.read_text() == f"{key.verifier}\n"


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


# ---------------------------------------------------------------- files and what they say


def test_the_files_have_their_names_and_modes(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        ring = KeyRing(tmp_path / "deep" / "keys")
        own = ring.signer_or_new("p")
        ring.trust(OTHER.verifier)
        below = KeyRing(tmp_path / "other" / "keys")
        below.trust(OTHER.verifier)
    finally:
        os.umask(old)
    assert {path.name: path.stat().st_mode & 0o777 for path in ring.folder.iterdir()} == {
        "seal.key": 0o600,
        "seal.pub": 0o644,
        "trusted": 0o600,
    }
    assert [one.folder.stat().st_mode & 0o777 for one in (ring, below)] == [0o700, 0o700]
    assert (ring.folder / "seal.key").read_text() == f"{own.dump()}\n"
    assert (ring.folder / "seal.pub").read_text() == f"{own.verifier}\n"
    assert (ring.folder / "trusted").read_text() == f"{OTHER.verifier}\n"


def test_the_first_key_is_renewed_without_an_old_one(ring: KeyRing) -> None:
    key = ring.renew("a")
    assert (ring.signer(), ring.trusted(), key.name) == (key, (key.verifier,), "a")


def test_a_key_in_the_place_of_another_is_not_written_over(ring: KeyRing) -> None:
    first = ring.signer_or_new("a")
    public = ring.public.stat().st_mtime_ns
    assert ring.signer_or_new("b") == first
    assert ring.public.stat().st_mtime_ns == public, "nothing is written"


def test_the_trust_list_keeps_its_order_and_not_our_own_key(ring: KeyRing) -> None:
    third = SignerKey("third", b"t" * 32)
    own = ring.signer_or_new("p")
    for key in (OTHER, third):
        assert ring.trust(key.verifier)
    assert ring.trust_list.read_text() == f"{OTHER.verifier}\n{third.verifier}\n"
    assert ring.trusted() == (own.verifier, OTHER.verifier, third.verifier)
    alone = KeyRing(ring.folder.parent / "alone")
    for key in (OTHER, third):
        assert alone.trust(key.verifier)
    assert alone.trusted() == (OTHER.verifier, third.verifier)


def test_empty_lines_and_comments_are_no_keys_in_the_list_of_others(ring: KeyRing) -> None:
    ring.trust(OTHER.verifier)
    ring.trust_list.write_text(f"\n# ours\n  \n{OTHER.verifier}\n")
    ring.trust_list.chmod(0o644)  # is no secret
    assert ring.trusted() == (OTHER.verifier,)


def refused(action: Callable[[], object]) -> tuple[str, str, str | None]:
    """Message, code and hint of the error that an action raises."""
    with pytest.raises((TapeError, UsageError)) as error:
        action()
    return error.value.message, error.value.code, error.value.hint


def test_errors_name_the_file_the_code_and_the_way_out(ring: KeyRing) -> None:
    ring.signer_or_new("p")
    ring.private.chmod(0o640)
    assert refused(ring.signer) == (
        f"seal key `{ring.private}` has mode 640, expected 600",
        "keys.mode",
        f"chmod 600 {ring.private}",
    )
    ring.private.chmod(0o600)
    ring.private.write_text("nonsense")
    said = f"`{ring.private}` holds no seal key: a signer key begins with `PRIVATE+KEY+`"
    assert refused(ring.signer)[:2] == (said, "keys.unreadable")
    ring.private.write_bytes(b"x" * (64 * 1024 + 1))
    said = f"cannot read `{ring.private}`: it is longer than 65536 bytes"
    assert refused(ring.signer)[:2] == (said, "keys.unreadable")
    ring.private.write_bytes(b"\xff")
    assert "holds no seal key" in refused(ring.signer)[0]
    ring.private.unlink()
    ring.trust_list.write_text("nonsense\n")
    said = f"{ring.trust_list}:1: no verifier key: a key is `NAME+ID+BASE64`"
    assert refused(ring.trusted)[:2] == (said, "keys.unreadable")


def test_a_key_of_exactly_the_longest_size_is_read(ring: KeyRing) -> None:
    key = ring.signer_or_new("p")
    text = ring.private.read_text()
    ring.private.write_text(text + "\n" * (64 * 1024 - len(text)))
    assert ring.signer() == key


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ring = KeyRing(tmp_path / "file" / "keys")
    said = f"cannot write keys below `{ring.folder}`: Not a directory"
    assert refused(lambda: ring.signer_or_new("p"))[:2] == (said, "keys.write")
    said = f"cannot write `{ring.trust_list}`: Not a directory"
    assert refused(lambda: ring.trust(OTHER.verifier))[:2] == (said, "keys.write")


def test_nothing_is_left_of_a_key_that_could_not_be_put_in_its_place(ring: KeyRing) -> None:
    ring.folder.mkdir()
    ring.private.mkdir()
    assert refused(lambda: ring.renew("p"))[1] == "keys.unreadable"
    ring.private.rmdir()
    ring.public.mkdir()
    assert refused(lambda: ring.renew("p"))[:2] == (
        f"cannot write keys below `{ring.folder}`: Is a directory",
        "keys.write",
    )
    assert sorted(path.name for path in ring.folder.iterdir()) == ["seal.key", "seal.pub"]


# ---------------------------------------------------------------- a key that a user named


def test_a_given_file_may_be_a_link_and_have_comments(ring: KeyRing, tmp_path: Path) -> None:
    (tmp_path / "a+b").write_text(f"# a friend\n\n{OTHER.verifier} \n")
    (tmp_path / "link").symlink_to("a+b")
    (tmp_path / "a+b").chmod(0o644)
    for name in ("a+b", "link"):
        assert given_key(str(tmp_path / name)) == OTHER.verifier


def test_a_given_text_that_is_no_key(tmp_path: Path) -> None:
    file, hint = tmp_path / "keys", "name a verifier key or a file that holds one"
    said = f"cannot read `{file}`: No such file or directory"
    assert refused(lambda: given_key(str(file))) == (said, "keys.unreadable", hint)
    for count in (0, 2):
        file.write_text(f"{OTHER.verifier}\n" * count)
        said = f"`{file}` has {count} keys, expected one"
        assert refused(lambda: given_key(str(file)))[:2] == (said, "keys.unreadable")
    said = "the given key is no verifier key: that is not base64"
    hint = "a verifier key is `NAME+ID+BASE64`, as `faultwire keys show` prints it"
    assert refused(lambda: given_key("a+b+c")) == (said, "keys.unreadable", hint)
    assert refused(lambda: given_key(f"{OTHER.verifier}\n{OTHER.verifier}"))[0] == (
        "the given key has 2 keys, expected one"
    )


@pytest.mark.parametrize(
    ("folder", "name"), [("-a.b-", "a.b"), ("..X_x..", "X_x"), ("a  ä  b", "a-b"), ("Xa", "Xa")], ids=label
)
def test_key_names_keep_what_a_key_may_have(folder: str, name: str) -> None:
    assert name_for(folder) == name
