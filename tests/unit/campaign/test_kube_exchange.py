"""What goes by object storage is read by who has the key, under its own name, and as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.campaign.engine import Command, Ended
from faultwire.campaign.kube_exchange import (
    Ask,
    Exchange,
    answer_bytes,
    answer_name,
    ask_name,
    decrypt,
    encrypt,
    new_key,
    parse_answer,
)
from faultwire.errors import FaultwireError
from faultwire.store.objects import Objects


def test_the_storage_holds_nothing_that_can_be_read_and_no_two_alike(tmp_path: Path) -> None:
    key = new_key()
    exchange = Exchange.probed(Objects(str(tmp_path)), "kube/1", key)
    exchange.put("a", b"sk-secret")
    first = (tmp_path / "kube/1/a").read_bytes()
    exchange.put("a", b"sk-secret")
    assert b"sk-secret" not in first
    assert (tmp_path / "kube/1/a").read_bytes() != first
    assert (exchange.get("a"), exchange.get("b")) == (b"sk-secret", None)
    exchange.clear()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("at", [0, 11, 12, -1])
def test_a_bent_byte_is_found(at: int) -> None:
    key = new_key()
    data = bytearray(encrypt(key, "a", b"data"))
    assert decrypt(key, "a", bytes(data)) == b"data"
    data[at] ^= 1
    with pytest.raises(FaultwireError, match="not made for this campaign, or was changed"):
        decrypt(key, "a", bytes(data))


def test_an_object_in_the_place_of_another_is_found_and_so_is_another_key(tmp_path: Path) -> None:
    key = new_key()
    data = encrypt(key, answer_name("job", 0), b"data")
    for other, name in ((key, answer_name("job", 1)), (new_key(), answer_name("job", 0))):
        with pytest.raises(FaultwireError, match="not made for this campaign"):
            decrypt(other, name, data)
    with pytest.raises(FaultwireError, match="not made for this campaign"):
        decrypt(key, "a", b"")
    assert ask_name("job", 0) != answer_name("job", 0)


def test_an_ask_and_an_answer_come_as_they_went() -> None:
    ask = Ask(Command(("python", "-c", "x"), "/project"), "a line\n\ud800")
    assert Ask.parse(ask.as_bytes()) == ask
    ended = Ended("b", 3, b"one\ntwo\x00", "it failed\n", "by signal 9")
    assert parse_answer("b", answer_bytes(ended)) == ended


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[1]\n", b'{"code": "x"}\n', b'{"code": 0, "errors": "", "lost": ""}']
)
def test_what_is_neither_is_refused(data: bytes) -> None:
    with pytest.raises(FaultwireError, match="found no answer of a pod"):
        parse_answer("b", data)
    with pytest.raises(FaultwireError, match="found no ask of a campaign"):
        Ask.parse(data)
