"""Asks and answers by object storage, between a campaign and its pods.

Whoever may read or write the storage learns nothing and changes nothing: each object is encrypted
(ChaCha20-Poly1305) by a key that only the campaign and its pods have, and bound to its name.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from faultwire.campaign.engine import Command, Ended
from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from faultwire.store.objects import Objects

NONCE = 12
FOLDER = "kube"


def new_key() -> bytes:
    """A key for one campaign, 32 bytes."""
    return ChaCha20Poly1305.generate_key()


def encrypt(key: bytes, name: str, data: bytes) -> bytes:
    """The data as the content of an object of this name."""
    nonce = ChaCha20Poly1305.generate_key()[:NONCE]
    return nonce + ChaCha20Poly1305(key).encrypt(nonce, data, name.encode())


def decrypt(key: bytes, name: str, data: bytes) -> bytes:
    """The data of an object. Raises FaultwireError where it was not written for this name by this key."""
    try:
        return ChaCha20Poly1305(key).decrypt(data[:NONCE], data[NONCE:], name.encode())
    except (InvalidTag, ValueError) as error:
        raise FaultwireError(
            f"found an object `{name}` that was not made for this campaign, or was changed",
            code="campaign.box",
        ) from error


@dataclass(frozen=True, slots=True)
class Ask:
    """What a pod is to do: run a command with an input."""

    command: Command
    text: str

    def as_bytes(self) -> bytes:
        """As an object's content."""
        found = {"words": self.command.words, "folder": self.command.folder, "text": self.text}
        return json.dumps(found).encode("utf-8", "surrogatepass")

    @classmethod
    def parse(cls, data: bytes) -> Ask:
        """Raises FaultwireError where it is no ask."""
        try:
            found = json.loads(data)
            words = tuple(map(str, found["words"]))
            return cls(Command(words, str(found["folder"])), str(found["text"]))
        except (ValueError, KeyError, TypeError) as error:
            raise FaultwireError(f"found no ask of a campaign: {error}", code="campaign.request") from error


def answer_bytes(ended: Ended) -> bytes:
    """How a command ended: a line of JSON, and its output."""
    about = {"code": ended.code, "errors": ended.errors, "lost": ended.lost}
    return json.dumps(about).encode() + b"\n" + ended.output


def parse_answer(batch: str, data: bytes) -> Ended:
    """The same as a batch's end. Raises FaultwireError where it is no answer."""
    line, mark, output = data.partition(b"\n")
    try:
        found = json.loads(line)
        if not mark:
            raise ValueError("it is cut")
        return Ended(batch, int(found["code"]), output, str(found["errors"]), str(found["lost"]))
    except (ValueError, KeyError, TypeError) as error:
        raise FaultwireError(f"found no answer of a pod: {error}", code="campaign.worker") from error


class Exchange:
    """The objects of one campaign below a prefix."""

    def __init__(self, objects: Objects, prefix: str, key: bytes) -> None:
        self._objects, self._prefix, self._key = objects, prefix, key

    @classmethod
    def probed(cls, objects: Objects, prefix: str, key: bytes) -> Exchange:
        """One that was written to, read and cleaned up once. Raises FaultwireError where that fails."""
        found = cls(objects, prefix, key)
        found.put("probe", b"probe")
        if found.get("probe") != b"probe":
            raise FaultwireError(
                f"found something else in `{objects.place}` than was put there", code="tapes.failed"
            )
        found.delete("probe")
        return found

    def put(self, name: str, data: bytes) -> None:
        """Write an object, whole or not at all."""
        path = f"{self._prefix}/{name}"
        self._objects.put(path, encrypt(self._key, path, data))

    def get(self, name: str) -> bytes | None:
        """An object's content; None where there is none."""
        path = f"{self._prefix}/{name}"
        found = self._objects.get(path)
        return None if found is None else decrypt(self._key, path, found)

    def delete(self, name: str) -> None:
        """Remove an object."""
        self._objects.delete(f"{self._prefix}/{name}")

    def clear(self) -> None:
        """Remove all that is left below the prefix."""
        for path, _ in list(self._objects.list(self._prefix)):
            self._objects.delete(path)

    @property
    def key_text(self) -> str:
        """The key as the value of a variable."""
        return b64encode(self._key).decode()


def ask_name(job: str, index: int) -> str:
    """The object with the ask of an index."""
    return f"{job}/{index}.ask"


def answer_name(job: str, index: int) -> str:
    """The object with its answer."""
    return f"{job}/{index}.answer"
