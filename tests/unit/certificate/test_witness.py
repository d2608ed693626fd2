"""A witness keeps what it cosigns before it answers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.certificate.witnessed_log import LOG, OTHER, request, text

from faultwire.certificate import witness as module
from faultwire.certificate.cosignature import RefusedError
from faultwire.certificate.witness import KEY, Witness, by_origin
from faultwire.errors import FaultwireError, UsageError

KEYS = {LOG.name: LOG.verifier}


def opened(folder: Path, name: str = "w1") -> closing[Witness]:
    return closing(Witness(folder, name, KEYS))


def test_it_goes_on_after_a_restart_with_its_key_and_what_it_cosigned(tmp_path: Path) -> None:
    with opened(tmp_path) as first:
        line = first.add(request(0, 5).encode())
        assert first.key.cosigned(text(5), line)
    with opened(tmp_path) as again:
        assert again.key == first.key
        with pytest.raises(RefusedError) as caught:
            again.add(request(0, 5, "fork").encode())
        assert (caught.value.status, caught.value.text) == (409, "5\n")
        assert again.key.cosigned(text(9), again.add(request(5, 9).encode()))


def test_the_same_tree_is_cosigned_again_and_a_refused_one_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        made.add(request(0, 5).encode())
        with pytest.raises(RefusedError):
            made.add(request(5, 9, "fork").encode())
        assert made.add(request(5, 5).encode())


def test_what_the_disk_does_not_keep_is_not_cosigned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: Path, _data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with opened(tmp_path) as made:
        made.add(request(0, 5).encode())
        with monkeypatch.context() as patch:
            patch.setattr(module, "write_whole", full)
            with pytest.raises(FaultwireError, match="No space left"):
                made.add(request(5, 9).encode())
        assert made.add(request(5, 7).encode())


def test_a_folder_has_one_witness(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(UsageError, match="another witness"):
        Witness(tmp_path, "w1", KEYS)
    with opened(tmp_path):
        pass


def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        made.add(request(0, 5).encode())
    assert (tmp_path / KEY).stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="is called `w1`"):
        Witness(tmp_path, "w2", KEYS)
    (state,) = tmp_path.glob("*.log")
    state.write_text(state.read_text()[:-9])
    with pytest.raises(UsageError, match="cannot read what was cosigned"):
        Witness(tmp_path, "w1", KEYS)
    (tmp_path / KEY).write_text("no key")
    with pytest.raises(UsageError, match="no key of a witness"):
        Witness(tmp_path, "w1", KEYS)


def test_two_keys_that_claim_one_origin_are_refused() -> None:
    assert by_origin([LOG.verifier, LOG.verifier]) == KEYS
    with pytest.raises(UsageError, match=r"found two keys for the log `logs\.example/shop`"):
        by_origin([LOG.verifier, OTHER.verifier])
