"""What workers send is for the coordinator alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.campaign.sealed_box import BoxKey, seal
from faultwire.errors import FaultwireError


def test_only_the_holder_of_the_key_can_open_a_box(tmp_path: Path) -> None:
    key, other = BoxKey(tmp_path / "key"), BoxKey(tmp_path / "other")
    box = seal(b"sk-secret", key.public)
    assert b"sk-secret" not in box
    assert key.open(box) == b"sk-secret"
    with pytest.raises(FaultwireError, match="not made for this campaign"):
        other.open(box)


def test_a_key_stays_and_is_its_owners_alone(tmp_path: Path) -> None:
    box = seal(b"x", BoxKey(tmp_path / "key").public)
    assert BoxKey(tmp_path / "key").open(box) == b"x"
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("at", [0, 31, 32, -1])
def test_a_bent_byte_is_found(tmp_path: Path, at: int) -> None:
    key = BoxKey(tmp_path / "key")
    box = bytearray(seal(b"answer", key.public))
    box[at] ^= 1
    with pytest.raises(FaultwireError) as raised:
        key.open(bytes(box))
    assert raised.value.code == "campaign.box"


def test_two_boxes_of_the_same_differ(tmp_path: Path) -> None:
    key = BoxKey(tmp_path / "key")
    assert seal(b"x", key.public) != seal(b"x", key.public)


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FaultwireError, match="no public key"):
        seal(b"x", b"short")
    (tmp_path / "key").write_bytes(b"short")
    with pytest.raises(FaultwireError, match="found no key"):
        BoxKey(tmp_path / "key")
    with pytest.raises(FaultwireError):
        BoxKey(tmp_path / "other").open(b"")
