"""`faultwire certificate`, as a user types it. Modules: `faultwire.cli.certificate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.certificate.conftest import SIGNER, about, record
from tests.unit.report.conftest import play

from faultwire.certificate.cosignature import WitnessKey
from faultwire.cli import main
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.signed_note import SignerKey

RUN = "20261121T220000Z-00aa"


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["certificate", *args])


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / ".faultwire/runs" / RUN).mkdir(parents=True)
    monkeypatch.chdir(folder)
    place = Path(".faultwire/runs") / RUN
    named = {"ledger": record(place / "run.tape"), "tapes": (str(place / "run.tape"),), "phase": "contract"}
    (place / "report.json").write_text(json.dumps(play(about=named)))
    (place / "run.json").write_text(json.dumps(about()))
    KeyRing().trust(SIGNER.verifier)
    return folder


def test_a_run_is_certified_and_the_certificate_verified(project: Path) -> None:
    made = run("issue", "last", "--with-verifier")
    assert made.exit_code == 0, made.output
    assert made.stdout.splitlines() == [f"{RUN}.dsse.json", "verify_certificate.py"]
    assert made.stderr.startswith("signed by shop+")
    done = run("verify", f"{RUN}.dsse.json", "--run", "last")
    assert done.exit_code == 0, done.output
    assert f"{RUN}.dsse.json: holds" in done.stdout
    assert "the run's files are those that it names" in done.stdout
    assert "verdict: failed" in done.stdout
    again = run("issue", "last")
    assert again.exit_code == 2
    assert "exists already" in again.stderr


def test_files_that_were_not_compared_are_not_called_so() -> None:
    run("issue", "last")
    done = run("verify", f"{RUN}.dsse.json")
    assert "no run's files were compared (--run)" in done.stdout
    assert "are those that it names" not in done.stdout


def test_what_does_not_hold_is_exit_1_and_shows_no_verdict() -> None:
    run("issue", "last")
    path = Path(f"{RUN}.dsse.json")
    found = json.loads(path.read_text())
    path.write_text(json.dumps(found | {"signatures": [found["signatures"][0] | {"sig": "AAAA"}]}))
    for command in ("verify", "show"):
        done = run(command, str(path))
        assert done.exit_code == 1
        assert "does not hold" in done.stdout
        assert "signature_invalid" in done.stdout
        assert "verdict:" not in done.stdout
    assert not Path("c.html").exists()
    assert run("show", str(path), "-o", "c.html").exit_code == 1
    assert not Path("c.html").exists()
    path.write_text("{}")
    assert run("verify", str(path)).exit_code == 3
    assert run("verify", "nowhere.json").exit_code == 3


def test_a_key_that_is_not_trusted_is_named_with_the_way_out() -> None:
    run("issue", "last")
    done = run("verify", f"{RUN}.dsse.json", "--key", str(SIGNER.verifier))
    assert done.exit_code == 1
    assert "signature_untrusted" in done.stdout
    assert "hint: name the issuer's key with --key" in done.stdout
    document = json.loads(run("verify", f"{RUN}.dsse.json", "--format", "json").stdout)
    assert document["ok"] is True
    assert document["statement"]["predicate"]["verdict"] == "fail"


def test_a_run_that_differs_is_exit_1() -> None:
    run("issue", "last")
    report = Path(".faultwire/runs") / RUN / "report.json"
    report.write_text(report.read_text() + " ")
    done = run("verify", f"{RUN}.dsse.json", "--run", "last")
    assert done.exit_code == 1
    assert "evidence_mismatch: report `report.json`" in done.stdout


def test_pages_are_written_once_and_to_known_kinds() -> None:
    run("issue", "last")
    for name in ("c.html", "c.pdf"):
        assert run("show", f"{RUN}.dsse.json", "-o", name).stdout == f"{name}\n"
        assert run("show", f"{RUN}.dsse.json", "-o", name).exit_code == 2
    assert run("show", f"{RUN}.dsse.json", "-o", "c.txt").exit_code == 2
    assert "95% interval" in run("show", f"{RUN}.dsse.json").stdout


WITNESS = WitnessKey.of(SignerKey("w1", b"\x09" * 32))


def test_a_witness_and_its_key_are_named_together() -> None:
    address, key = ("--witness", "http://127.0.0.1:1"), ("--witness-key", str(WITNESS))
    for words, problem in (
        (address, "found 1 `--witness` and 0 `--witness-key`"),
        (key, "found 0 `--witness` and 1 `--witness-key`"),
        ((*address, *key, *key), "found 1 `--witness` and 2 `--witness-key`"),
        ((*address, "--witness-key", str(SIGNER.verifier)), "is no key of a witness: it is a key that signs"),
        (("--witness", "w1", *key), "found no address for `--witness`"),
    ):
        done = run("issue", "last", *words)
        assert done.exit_code == 2, done.output
        assert problem in done.stderr
    assert not Path(f"{RUN}.dsse.json").exists()
    assert not Path(".faultwire/certificates/pending").exists()


def test_a_name_that_is_taken_adds_nothing_to_the_log() -> None:
    Path("taken.json").write_text("")
    words = ("--witness", "http://127.0.0.1:1", "--witness-key", str(WITNESS))
    done = run("issue", "last", "-o", "taken.json", *words)
    assert (done.exit_code, "exists already" in done.stderr) == (2, True)
    assert not Path(".faultwire/certificates").exists()


def test_the_log_has_one_key_and_a_name_of_its_own() -> None:
    first = run("log")
    assert first.exit_code == 0, first.output
    key = first.stdout.strip()
    assert key.startswith("shop/certificates-")
    assert Path(".faultwire/keys/log.pub").read_text() == f"{key}\n"
    assert Path(".faultwire/keys/log.key").stat().st_mode & 0o777 == 0o600
    assert "0 entries in .faultwire/certificates, 0 of them cosigned" in first.stderr
    found = json.loads(run("log", "--format", "json").stdout)
    assert found == {"key": key, "folder": ".faultwire/certificates", "entries": 0, "cosigned": 0}
    assert key not in map(str, KeyRing().trusted()), "a log's key signs no certificate"


def test_without_a_witness_s_key_it_is_said_and_with_one_it_is_demanded() -> None:
    run("issue", "last")
    path = f"{RUN}.dsse.json"
    assert "log: in none" in run("verify", path).stdout
    done = run("verify", path, "--witness-key", str(WITNESS))
    assert done.exit_code == 1
    assert "cosignature_missing: it is in no log" in done.stdout
    assert run("show", path, "--witness-key", str(WITNESS)).exit_code == 1
    document = json.loads(run("verify", path, "--format", "json").stdout)
    assert (document["log"], document["cosigned"]) == (None, [])
    assert run("verify", path, "--witness-key", "nowhere").exit_code == 2
    done = run("verify", path, "--log", ".faultwire")
    assert (done.exit_code, "log_mismatch" in done.stdout) == (1, True)


def test_the_schema_is_printed() -> None:
    done = CliRunner().invoke(main, ["schema", "certificate"])
    assert json.loads(done.stdout)["title"] == "Statement"
