"""Cards: read, rewritten for a listener that stands before the agent, spoofed."""

from __future__ import annotations

import json

import pytest

from faultwire.errors import WireError
from faultwire.wire.a2a import card as a2a_card
from faultwire.wire.recognition.peers import KEPT, Peers

OLD = (
    b'{"name": "writer",\n "url":"https://up.test/w", "version": 1.0, "additionalInterfaces": '
    b'[{"transport":"HTTP+JSON","url":"https://up.test/w"}, {"url":"https://other.test/"}], "skills": '
    b'[{"id":"s","description":"writes"}]}'
)
NEW = json.dumps(
    {
        "name": "writer",
        "supportedInterfaces": [
            {"url": "https://up.test/w", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": "https://up.test/w", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        ],
        "signatures": [{"protected": "e30", "signature": "AA"}],
    }
).encode()


def reach(url: str) -> str | None:
    return url.replace("https://up.test", "http://127.0.0.1:8000") if "up.test" in url else None


def test_read():
    card = a2a_card.read(OLD)
    assert (card.name, card.urls, card.signed) == (
        "writer",
        ("https://up.test/w", "https://other.test/"),
        False,
    )
    wrapped = b'{"jsonrpc":"2.0","id":1,"result":' + NEW + b"}"
    assert a2a_card.read(wrapped).signed
    for body in (b"[]", b'{"name":"x"}', b'{"url":"http://x"}', b"<html>"):
        with pytest.raises(WireError):
            a2a_card.read(body)


def test_every_address_of_ours_is_rewritten_and_no_other_byte():
    changed = a2a_card.rewritten(OLD, reach)
    assert changed.body == OLD.replace(b"https://up.test", b"http://127.0.0.1:8000")
    assert (changed.addresses, changed.signature_broken) == (2, False)


def test_a_signature_no_longer_fits():
    changed = a2a_card.rewritten(NEW, reach)
    assert (changed.addresses, changed.signature_broken) == (2, True)
    assert json.loads(changed.body)["signatures"] == json.loads(NEW)["signatures"]
    calm = a2a_card.rewritten(NEW, lambda _: None)
    assert (calm.body, calm.signature_broken) == (NEW, False)


def test_rewritten_inside_json_rpc():
    wrapped = b'{"jsonrpc":"2.0","id":1,"result":' + NEW + b"}"
    assert b"up.test" not in a2a_card.rewritten(wrapped, reach).body


def test_spoofed():
    changed = a2a_card.spoofed(OLD, url="http://evil.test/", name="x", description="y", skill="z")
    told = json.loads(changed.body)
    assert (told["name"], told["description"], told["url"]) == ("x", "y", "http://evil.test/")
    assert told["skills"][0] == {"id": "s", "description": "z"}
    assert changed.addresses == 3
    only = a2a_card.spoofed(OLD, name='Wri"ter')
    assert only.body == OLD.replace(b'"writer"', b'"Wri\\"ter"')
    assert a2a_card.spoofed(NEW, description="y").signature_broken
    assert a2a_card.spoofed(OLD).body == OLD


def test_peers_are_found_below_their_address():
    peers = Peers()
    assert not peers
    peers.add("team", ["https://up.test/"])
    peers.add("writer", ["https://up.test/w", "no url", "https://up.test:x/", "https://*"])
    assert peers.name("https://UP.test:443/w/v1/message:send?x=1") == "writer"
    assert peers.name("https://up.test/writer") == "team", "a path is no prefix of a longer name"
    assert peers.name("http://up.test/w") is None
    assert peers.name("https://elsewhere.test/w") is None, "an address is no pattern"
    for number in range(KEPT):
        peers.add("many", [f"https://h{number}.test"])
    assert peers.name("https://up.test/w") is None, "the oldest are forgotten"
