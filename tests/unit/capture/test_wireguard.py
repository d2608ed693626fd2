"""The keys of a tunnel: made once, for their owner alone; and what a device imports."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from mitmproxy_rs import wireguard as stack

from faultwire.capture.wireguard import CONF, KEYS, WireGuardKeys, keys_in, public, write_conf
from faultwire.errors import UsageError


def test_keys_are_made_once_and_for_their_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "ca"
    first = keys_in(folder)
    assert keys_in(folder) == first
    assert first.ours != first.device
    assert (folder / KEYS).stat().st_mode & 0o777 == 0o600
    assert "ours" not in repr(first)
    assert first.device not in repr(first)


def test_public_keys_are_those_of_wireguard() -> None:
    for _ in range(5):
        private = stack.genkey()
        assert public(private) == stack.pubkey(private)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"ours": "x", "device": "y"}', '{"ours": 1, "device": 2}', "\xff"]
)
def test_a_file_without_keys_is_refused_with_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / KEYS).write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match="holds no keys") as raised:
        keys_in(tmp_path)
    assert "remove it" in (raised.value.hint or "")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_keys_that_others_may_read_are_refused(tmp_path: Path, mode: int) -> None:
    keys_in(tmp_path)
    (tmp_path / KEYS).chmod(mode)
    with pytest.raises(UsageError, match=f"mode {mode:04o}, expected 0600"):
        keys_in(tmp_path)
    (tmp_path / KEYS).chmod(0o600)
    assert isinstance(keys_in(tmp_path), WireGuardKeys)


def test_a_device_s_configuration_has_its_key_and_never_ours(tmp_path: Path) -> None:
    keys = keys_in(tmp_path)
    path = write_conf(tmp_path, keys, "192.0.2.7:51820", ["[2001:db8::7]:51820"])
    text = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert f"PrivateKey = {keys.device}\n" in text
    assert f"PublicKey = {public(keys.ours)}\n" in text
    assert keys.ours not in text
    assert "Endpoint = 192.0.2.7:51820\n# or: [2001:db8::7]:51820\n" in text
    assert "AllowedIPs = 0.0.0.0/0, ::/0\n" in text, "all of the device's traffic comes"


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    keys = keys_in(tmp_path)
    other = tmp_path / "other"
    other.write_text("mine")
    os.symlink(other, tmp_path / CONF)
    write_conf(tmp_path, keys, "192.0.2.7:1")
    assert other.read_text() == "mine"
    assert not (tmp_path / CONF).is_symlink()
    folder = tmp_path / "new"
    folder.mkdir()
    os.symlink(tmp_path / "nowhere", folder / KEYS)
    with pytest.raises(OSError, match="exists"):
        keys_in(folder)
    assert not (tmp_path / "nowhere").exists()


def test_the_file_of_keys_is_json(tmp_path: Path) -> None:
    keys = keys_in(tmp_path)
    assert json.loads((tmp_path / KEYS).read_text()) == {"ours": keys.ours, "device": keys.device}
