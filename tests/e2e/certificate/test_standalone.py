"""What the script on the standard library says to a stranger who gives it the wrong thing.

Modules: `faultwire.tape.evidence.standalone`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.e2e.certificate.test_certificate import SCRIPT
from tests.unit.certificate.conftest import SIGNER

from faultwire.certificate import dsse
from faultwire.certificate.cosignature import WitnessKey
from faultwire.certificate.keys import ProjectSigner
from faultwire.certificate.shape import PREDICATE, STATEMENT

KEY = str(SIGNER.verifier)
WITNESS = str(WitnessKey.of(SIGNER))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The least that the script takes for a certificate, and keys beside it."""
    predicate = {
        "issuedOn": "2026-01-01", "tool": {}, "run": {"id": "r1"}, "verdict": "pass",
        "phases": [{"verdict": "pass"}], "notTested": ["a\x1b[31m\u202e"], "log": None,
        "evidence": {"ledger": "", "reports": [], "tapes": []},
    }  # fmt: skip
    made = {"_type": STATEMENT, "predicateType": PREDICATE, "subject": [{}], "predicate": predicate}
    unsigned = dsse.Envelope(json.dumps(made).encode(), ())
    signature = dsse.Signature(
        ProjectSigner(SIGNER).verifier.keyid, ProjectSigner(SIGNER).sign(unsigned.signed_bytes)
    )
    (tmp_path / "c.json").write_bytes(dsse.Envelope(unsigned.payload, (signature,)).dump())
    (tmp_path / "seal.key").write_text(SIGNER.dump())
    (tmp_path / "seal.pub").write_text(f"{KEY}\n")
    return tmp_path


def alone(folder: Path, *words: str) -> tuple[int, str, str]:
    command = [sys.executable, "-I", "-S", str(SCRIPT), *words]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_a_sound_one_is_shown_with_its_signer_and_what_was_not_compared(folder: Path) -> None:
    for key in (KEY, "seal.pub"):
        code, out, _ = alone(folder, "c.json", "--key", key)
        assert code == 0
        assert out.splitlines()[:3] == [
            "c.json: holds",
            "  run r1: pass, issued 2026-01-01",
            "  no tape or report was compared (--tape)",
        ]
        assert f"signed by {SIGNER.name}+{SIGNER.verifier.id.hex()}" in out
        assert "in no log" in out
        assert "\x1b" not in out
    code, out, _ = alone(folder, "c.json", "--key", KEY, "--json")
    assert (code, json.loads(out)["ok"]) == (0, True)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("c.json", "--key", "seal.key"), "--key seal.key: it is a private one, expected a verifier key"),
        (("c.json", "--key", SIGNER.dump()), "the key of --key: it is a private one"),
        (("c.json", "--key", "nowhere.pub"), "the key of --key: expected a verifier key"),
        (("c.json", "--key", WITNESS), "the key of --key: expected a verifier key"),
        (("c.json", "--key", KEY, "--witness-key", KEY), "the key of --witness-key: expected a witness's"),
        (("none.json", "--key", KEY), "none.json: No such file or directory"),
        (("seal.pub", "--key", KEY), "seal.pub: found no JSON"),
        (("c.json", "--key", KEY, "--tape", "run.tape"), "--tape run.tape: No such file or directory"),
    ],
    ids=["private", "private_text", "missing", "witness", "verifier", "file", "form", "tape"],
)  # fmt: skip
def test_what_cannot_be_read_is_named_and_no_secret_is_quoted(
    folder: Path, words: tuple[str, ...], problem: str
) -> None:
    code, out, err = alone(folder, *words)
    assert (code, out) == (3, "")
    assert err.startswith(f"nothing was verified: {problem}")
    assert SIGNER.dump().split("+")[-1][4:20] not in err
