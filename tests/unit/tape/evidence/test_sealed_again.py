"""A tape that was altered and sealed again with another key does not verify, and both keys are named.

Covers faultwire.tape.evidence.check_seals by way of `faultwire tape verify`, the core's verifier of exports
and `verify_tape.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.unit.tape.evidence.resealed import (
    KEY,
    NAMESAKE,
    STRANGER,
    TRUSTED,
    copied,
    findings,
    recorded,
    rewrite,
    seal_file,
    tampered,
)

from faultwire.cli import main
from faultwire.tape.evidence.signed_note import SignerKey, VerifierKey
from faultwire.tape.evidence.standalone import script

OTHERS = tuple(SignerKey(f"other{n}", bytes([n]) * 32).verifier for n in range(4))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("template"), KEY)


@pytest.fixture
def tape(template: Path, tmp_path: Path) -> Path:
    """One session with two exchanges, a seal after the first and on close."""
    return copied(template, tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["tape", *arguments])


@pytest.mark.parametrize("stranger", [STRANGER, NAMESAKE], ids=lambda key: key.name)
def test_a_file_altered_and_its_seal_made_anew_by_a_stranger_does_not_verify(
    tape: Path, stranger: SignerKey
) -> None:
    """The events are the same and the tape's own seal holds: only the seal of the file can tell."""
    assert run("verify", str(tape), "--key", str(KEY.verifier)).exit_code == 0, "the control: untouched"
    rewrite(tape, lambda rows: rows.execute("CREATE INDEX more ON events (session)"))
    rewrite(tape, lambda rows: rows.execute("DROP INDEX more"))
    assert [code for code, *_ in findings(tape)] == ["file_mismatch"], "the control: altered only"
    seal_file(tape, stranger)
    done = run("verify", str(tape), "--key", str(KEY.verifier))
    assert done.exit_code == 1
    his = f"{stranger.name}+{stranger.verifier.id.hex()}"
    assert (
        f"bad seal_invalid: `t.tape.seal` is signed by `{his}`, "
        f"expected a signature of `{KEY.verifier}` like the tape\n" in done.stdout
    )
    seal_file(tape, KEY)
    assert findings(tape) == [], "the control: with the tape's own key it is sealed"


@pytest.mark.parametrize("stranger", [STRANGER, NAMESAKE], ids=lambda key: key.name)
def test_a_tape_altered_and_sealed_again_by_a_stranger_names_both_keys(
    tape: Path, stranger: SignerKey
) -> None:
    tampered(tape, stranger)
    said = f"is signed by `{stranger.verifier}`, expected `{KEY.verifier}`\n"
    done = run("verify", str(tape), "--key", str(KEY.verifier))
    assert (done.exit_code, done.stdout.count(f"bad seal_untrusted: the seal at event 11 {said}")) == (1, 1)
    tampered(tape, KEY)
    assert run("verify", str(tape), "--key", str(KEY.verifier)).exit_code == 0, "the control"


def test_all_three_verifiers_name_both_keys(tape: Path) -> None:
    tampered(tape, STRANGER)
    lines = tape.with_suffix(".jsonl")
    assert run("export", str(tape), "-o", str(lines)).exit_code == 0

    def alone(*keys: VerifierKey) -> dict[str, Any]:
        given = [part for key in keys for part in ("--key", str(key))]
        command = [sys.executable, str(script()), str(lines), "--json", *given]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 1, done.stderr
        return dict(json.loads(done.stdout))

    for trusted, expected in (
        (TRUSTED, f"`{KEY.verifier}`"),
        (OTHERS[:3], " or ".join(f"`{key}`" for key in OTHERS[:3])),
        (OTHERS, " or ".join(f"`{key}`" for key in OTHERS[:3]) + " or another of 4 trusted keys"),
    ):
        said = f"the seal at event 11 is signed by `{STRANGER.verifier}`, expected {expected}"
        assert findings(tape, trusted) == [("seal_untrusted", 11, said)]
        given = [part for key in trusted for part in ("--key", str(key))]
        core = json.loads(run("verify", str(lines), "--json", *given).stdout)[0]
        for found in (core["findings"], alone(*trusted)["findings"]):
            assert [(one["code"], one["seq"], one["message"]) for one in found] == [
                ("seal_untrusted", 11, said)
            ]
    (_, _, said) = findings(tape, (), demanded=False)[0]
    assert said.endswith(
        f"is signed by `{STRANGER.verifier}`, expected a trusted key, and none is trusted here"
    )
    assert "expected a trusted key, and none is" in alone()["findings"][0]["message"]


def test_the_second_verifier_refuses_a_key_that_is_none(tape: Path) -> None:
    lines = tape.with_suffix(".jsonl")
    assert run("export", str(tape), "-o", str(lines)).exit_code == 0
    command = [sys.executable, str(script()), str(lines), "--key", "a+b+c"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == f"cannot verify {lines}: a key is not `NAME+ID+BASE64`\n"
