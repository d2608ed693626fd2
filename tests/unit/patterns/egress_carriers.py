"""Sixty values of thirty kinds, four encodings and sixteen carriers of a request or of messages."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus

from pattern_carriers import instance

from faultwire.events import Message

PERSONAL = {
    "email": ("jane.doe@firm.org", "m.curie@radium-lab.fr"),
    "card": ("4111 1111 1111 1111", "5555555555554444"),
    "iban": ("DE89370400440532013000", "GB29 NWBK 6016 1331 9268 19"),
    "phone": ("+49 30 901820", "+14155552671"),
    "us-ssn": ("536-22-8715", "212-45-6789"),
    "ipv4": ("81.2.69.142", "93.184.216.34"),
    "ipv6": ("2a00:1450:4001:82a::200e", "2606:4700:4700:0:0:0:0:1111"),
    "mac": ("3c:22:fb:a1:9c:07", "00-1B-63-84-45-E6"),
    "bitcoin": ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
    "bech32": (
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
    ),
    "ethereum": (
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    ),
    "imei": ("49-015420-323751-8", "35-209900-176148-1"),
    "url-credentials": (
        "postgres://app:hunter2xx@db.firm.com:5432/main",
        "https://ann:s3cr3tpw@api.firm.com/x",
    ),
    "uk-nino": ("AB123456C", "CE123456D"),
    "br-cpf": ("123.456.789-09", "529.982.247-25"),
}
"""Personal data that counts without a word beside it."""

_KEYS = {
    "github": "ghp_{x 36}",
    "anthropic": "sk-ant-api03-{u 93}AA",
    "openai": "sk-{x 20}T3BlbkFJ{x 20}",
    "huggingface": "hf_{abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ 34}",
    "groq": "gsk_{x 52}",
    "google": "AIzaSy{u 32}x",
    "aws": "AKIA{b32 16}",
    "digitalocean": "dop_v1_{hex 64}",
    "npm": "npm_{x 36}",
    "gitlab": "glpat-{u 19}x",
    "stripe": "sk_live_{x 24}",
    "shopify": "shpat_{hex 32}",
    "slack": "xoxb-{d 12}-{d 13}-{x 24}",
    "linear": "lin_api_{x 40}",
    "private key": "-----BEGIN PRIVATE KEY-----\n{b64 64}\n{b64 64}\n-----END PRIVATE KEY-----",
}
_random = Random(29)
SECRETS = {kind: (instance(form, _random), instance(form, _random)) for kind, form in _KEYS.items()}
"""Keys, made from their forms."""

VALUES = {**PERSONAL, **SECRETS}
CLEAN = "seventeen times twenty-three is asked"

ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "base64": lambda text: base64.b64encode(f"the value is {text}".encode()).decode(),
    "base32": lambda text: base64.b32encode(f"the value is {text}".encode()).decode(),
}


def mime(text: str) -> str:
    filler = "what was asked for is below, line by line. " * 4
    return base64.encodebytes(f"{filler}{text} {filler}".encode()).decode()


def frames(*texts: str) -> tuple[Message, ...]:
    return tuple(Message("client", "text", text.encode(), at, at) for at, text in enumerate(texts, 1))


def deltas(text: str) -> tuple[Message, ...]:
    cut = [text[at : at + 5] for at in range(0, len(text), 5)]
    return frames(*(json.dumps({"type": "input.delta", "delta": one}) for one in cut))


def multipart(part: bytes) -> bytes:
    return b'--b\r\nContent-Disposition: form-data; name="f"\r\n\r\n' + part + b"\r\n--b--\r\n"


def body(data: bytes, **changes: Any) -> dict[str, Any]:
    return {"body": data, **changes}


def packed(text: str) -> bytes:
    return gzip.compress(f"note: {text}".encode(), mtime=0)


FORM = (("content-type", "application/x-www-form-urlencoded"),)
CARRIERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "path": lambda text: {"path": "/v1/users/" + quote(text, safe="%")},
    "query": lambda text: {"path": "/search?x=1&q=" + quote_plus(text, safe="%")},
    "form": lambda text: body(f"a=1&to={quote_plus(text, safe='%')}&b=2".encode(), headers=FORM),
    "json": lambda text: body(json.dumps({"note": text}).encode()),
    "json in json": lambda text: body(json.dumps({"a": json.dumps({"b": json.dumps([text])})}).encode()),
    "escaped json": lambda text: body(
        ('{"a": "' + "".join(f"\\u{ord(one):04x}" for one in text) + '"}').encode()
    ),
    "text": lambda text: body(f"note: {text} end".encode()),
    "html": lambda text: body(f"<p>note: <b>{text.replace('.', '&#46;')}</b></p>".encode()),
    "content coding": lambda text: body(packed(text), headers=(("content-encoding", "gzip"),)),
    "gzip": lambda text: body(packed(text)),
    "gzip in base64": lambda text: body(
        json.dumps({"data": base64.b64encode(packed(text)).decode()}).encode()
    ),
    "multipart": lambda text: body(multipart(text.encode())),
    "gzip in multipart": lambda text: body(multipart(packed(text))),
    "mime": lambda text: body(json.dumps({"raw": mime(text)}).encode()),
    "frame": lambda text: {"messages": frames(json.dumps({"type": "note", "text": text}))},
    "joined frames": lambda text: {"messages": deltas(text)},
}


class Cell(NamedTuple):
    """A value on its way out: its kind, how it is encoded, and the parts of the exchange that hold it."""

    kind: str
    value: str
    encoding: str
    made: dict[str, Any]


def cells(carrier: str, share: int = 1) -> Iterator[Cell]:
    """The cells of a carrier; one in `share`, the same ones each time."""
    for kind, values in VALUES.items():
        for value in values:
            for encoding, encode in ENCODINGS.items():
                name = f"{carrier}\0{value}\0{encoding}"
                if hashlib.sha256(name.encode()).digest()[0] % share == 0:
                    yield Cell(kind, value, encoding, CARRIERS[carrier](encode(value)))
