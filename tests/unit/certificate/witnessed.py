"""A log of certificates, and witnesses that are asked without a network between."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from faultwire.certificate.cosignature import RefusedError, WitnessKey
from faultwire.certificate.log import CertificateLog
from faultwire.certificate.submission import WitnessAddress
from faultwire.certificate.witness import Witness
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.evidence.standalone import OF_CERTIFICATES, script

OURS = SignerKey("shop/certificates-1", b"\x0b" * 32)


class Near(WitnessAddress):
    """A witness in this process."""

    witness: Witness

    def post(self, body: str) -> tuple[int, str]:
        try:
            return 200, self.witness.add(body.encode())
        except RefusedError as why:
            return why.status, why.text


@contextmanager
def witness(folder: Path, key: SignerKey = OURS, *, name: str = "w1") -> Iterator[Near]:
    made = Witness(folder, name, {key.name: key.verifier})
    near = Near("http://127.0.0.1:1", made.key)
    object.__setattr__(near, "witness", made)
    try:
        yield near
    finally:
        made.close()


@contextmanager
def log(folder: Path, key: SignerKey = OURS) -> Iterator[CertificateLog]:
    with CertificateLog.held(folder, key) as made:
        yield made


def entry(number: int, fork: str = "") -> bytes:
    return f"{number}{fork}".encode().rjust(32, b".")


def standalone() -> Any:
    """The script on the standard library, as a module."""
    spec = importlib.util.spec_from_file_location("verify_certificate", script(OF_CERTIFICATES))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def their_key(key: WitnessKey) -> Any:
    return standalone().line_key(str(key), 4)
