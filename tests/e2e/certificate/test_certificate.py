"""A certificate of a real run: issued, and verified by us, by the script on the standard library, and by the
libraries of in-toto in an environment of their own; keys are openssl's, too."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from tests.e2e.agents import environments

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "docs" / "verify_certificate.py"
STOCK = """
import json, sys
from google.protobuf.json_format import ParseDict
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey
from securesystemslib.exceptions import VerificationError
from cryptography.hazmat.primitives.serialization import load_pem_public_key

envelope = Envelope.from_dict(json.load(open(sys.argv[1])))
(keyid,) = envelope.signatures
key = SSlibKey.from_crypto(load_pem_public_key(open(sys.argv[2], "rb").read()), keyid=sys.argv[3])
try:
    envelope.verify([key], 1)
except VerificationError:
    sys.exit("refused")
found = json.loads(envelope.payload)
parsed = ParseDict({("type" if k == "_type" else k): v for k, v in found.items()}, statement_pb2.Statement())
Statement.copy_from_pb(parsed).validate()
print(parsed.predicate_type, len(parsed.subject))
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("faultwire")), *words],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("FAULTWIRE_")},
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project with a finished contract run, whose agent is in a repository."""
    folder = tmp_path_factory.mktemp("shop")
    assert run(folder, "init").returncode == 0
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "agent.py"], ["commit", "-q", "-m", "agent"]):
        subprocess.run([*git, *words], cwd=folder, check=True)
    done = run(folder, "contract", "run")
    assert done.returncode == 0, done.stderr
    return folder


def keys(folder: Path, curve: str) -> tuple[Path, Path, str]:
    """A pair of keys by openssl in PEM, and the name that certificates give it."""
    private, public = folder / f"{curve}.pem", folder / f"{curve}.pub"
    kind = (
        ["-algorithm", "ed25519"]
        if curve == "ed25519"
        else ["-algorithm", "EC", "-pkeyopt", f"ec_paramgen_curve:{curve}"]
    )
    subprocess.run(["openssl", "genpkey", *kind, "-out", private], check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", public, "-outform", "DER"], check=True, capture_output=True
    ).stdout
    return private, public, f"sha256:{sha256(der).hexdigest()}"


def alone(folder: Path, *words: str) -> int:
    command = [sys.executable, "-I", "-S", str(SCRIPT), *words]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, timeout=60).returncode


def test_a_run_is_certified_by_the_project_s_key(project: Path) -> None:
    made = run(project, "certificate", "issue", "last", "-o", "own.dsse.json")
    assert made.returncode == 0, made.stderr
    done = run(project, "certificate", "verify", "own.dsse.json", "--run", "last", "--format", "json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert found["compared"] is True
    statement = found["statement"]
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=project, check=True, capture_output=True, text=True
    )
    assert {"name": "commit", "digest": {"gitCommit": head.stdout.strip()}} in statement["subject"]
    assert "agent.py" in {one["name"] for one in statement["subject"]}
    assert statement["predicate"]["verdict"] == "pass"
    report = json.loads(next(project.glob(".faultwire/runs/*/report.json")).read_text())
    never = [e["id"] for s in report["scenarios"] for e in s["entries"] if not e["outcome"]["fired"]]
    assert never
    for name in never:
        assert any(f"entry {name} never fired" in text for text in statement["predicate"]["notTested"])
    (tape,) = project.glob(".faultwire/runs/*/run.tape")
    key = (project / ".faultwire/keys/seal.pub").read_text().strip()
    assert alone(project, "own.dsse.json", "--key", key, "--tape", str(tape)) == 0
    assert alone(project, "own.dsse.json", "--key", key, "--tape", "agent.py") == 1
    other = key.replace("+", "x+", 1)
    assert alone(project, "own.dsse.json", "--key", other) == 3


@pytest.mark.parametrize("curve", ["P-256", "ed25519"])
def test_keys_of_openssl_sign_and_stock_libraries_verify(project: Path, tmp_path: Path, curve: str) -> None:
    private, public, keyid = keys(tmp_path, curve)
    name = f"{curve}.dsse.json"
    made = run(project, "certificate", "issue", "last", "--key", str(private), "-o", name)
    assert made.returncode == 0, made.stderr
    assert keyid in made.stderr
    assert run(project, "certificate", "verify", name, "--key", str(public)).returncode == 0
    assert run(project, "certificate", "verify", name).returncode == 1
    assert alone(project, name, "--key", str(public)) == 0
    stock = tmp_path / "stock.py"
    stock.write_text(STOCK)
    python = environments.python("in-toto-0")

    def judged(path: Path) -> subprocess.CompletedProcess[str]:
        command = [str(python), str(stock), str(path), str(public), keyid]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)

    accepted = judged(project / name)
    assert accepted.returncode == 0, accepted.stderr
    assert accepted.stdout.split() == ["https://github.com/faultwire/faultwire/resilience/v1", "3"]
    found = json.loads((project / name).read_text())
    payload = base64.b64decode(found["payload"])
    assert b'"verdict":"pass"' in payload
    bent = payload.replace(b'"verdict":"pass"', b'"verdict":"fail"', 1)
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(found | {"payload": base64.b64encode(bent).decode()}))
    refused = judged(changed)
    assert (refused.returncode, refused.stderr.strip()) == (1, "refused")
    assert run(project, "certificate", "verify", str(changed), "--key", str(public)).returncode == 1
    assert alone(project, str(changed), "--key", str(public)) == 1


def test_a_run_that_judged_nothing_is_not_certified(project: Path, tmp_path: Path) -> None:
    ask = (
        "import urllib.request as u; u.urlopen(u.Request('http://api.openai.com/v1/models', "
        "headers={'authorization': 'Bearer none'})).read()"
    )
    done = run(tmp_path, "exec", "-q", "--mock", "--", sys.executable, "-c", ask)
    assert done.returncode == 0, done.stderr
    refused = run(tmp_path, "certificate", "issue", "last")
    assert refused.returncode == 2
    assert "judged nothing" in refused.stderr
    assert not list(tmp_path.glob("*.json"))


def test_a_run_whose_report_was_changed_no_longer_fits(project: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(next(project.glob(".faultwire/runs/*")), copy)
    assert run(project, "certificate", "issue", "last", "-o", "fits.dsse.json").returncode == 0
    assert run(project, "certificate", "verify", "fits.dsse.json", "--run", str(copy)).returncode == 0
    report = copy / "report.json"
    report.write_text(report.read_text().replace('"gate": "pass"', '"gate": "fail"', 1))
    done = run(project, "certificate", "verify", "fits.dsse.json", "--run", str(copy))
    assert done.returncode == 1
    assert "evidence_mismatch: report `report.json`" in done.stdout
