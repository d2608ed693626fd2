"""`faultwire keys` and `faultwire tape verify | seal | salvage | prove | export`, as a user types them.

Modules: `faultwire.cli.keys`, `faultwire.cli.tape_evidence`, `faultwire.cli.tape_formats`,
`faultwire.cli.tape_keep`.
"""

from __future__ import annotations

import json
import os
import runpy
import shlex
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.tape.conftest import Deck

from faultwire.cli import main
from faultwire.tape.evidence.keyring import KeyRing
from faultwire.tape.evidence.signed_note import SignerKey
from faultwire.tape.files.find import tapes
from faultwire.tape.files.prune import Old, old as pruned, remove
from faultwire.tape.record.writer import TapeWriter

STRANGER = SignerKey("stranger", b"f" * 32)
OTHER = SignerKey("other", b"g" * 32)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, list(args))


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def record(name: str, signer: SignerKey | None) -> Path:
    path = Path(".faultwire/tapes") / f"{name}.tape"
    writer = TapeWriter.create(path, origin=f"shop/{name}", settings={}, key=b"k" * 32, signer=signer)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7)
    Deck(path, writer).exchange()
    writer.close_session("s")
    writer.close()
    return path


def test_a_key_is_created_shown_and_trusted() -> None:
    assert run("keys", "show").stdout == "own  none yet: the first recorded run creates it\n"
    made = run("keys", "new").stdout.strip()
    assert made.startswith("shop+")
    assert json.loads(run("keys", "show", "--format", "json").stdout) == {"own": made, "trusted": []}
    again = run("keys", "new")
    assert again.exit_code == 2
    assert "keys.exists: found a key in `.faultwire/keys/seal.key`, expected none" in again.stderr
    other = run("keys", "new", "--force", "--name", "shop/2").stdout.strip()
    assert run("keys", "show").stdout == f"own      {other}\ntrusted  {made}\n"


def test_a_folder_that_cannot_be_written() -> None:
    Path(".faultwire").write_text("in the way")
    for command in (["keys", "new"], ["keys", "trust", str(STRANGER.verifier)]):
        failed = run(*command)
        assert failed.exit_code == 2
        assert "run.folder: cannot write below `.faultwire`" in failed.stderr


def test_a_list_states_why_no_key_can_be_read() -> None:
    record("t", None)
    assert run("tape", "seal", "t").exit_code == 0
    (KeyRing().private).chmod(0o644)
    listed = run("tape", "list", "-l")
    assert (listed.exit_code, "keys.mode" in listed.stderr) == (3, True)
    assert run("tape", "list").exit_code == 0


def test_a_strangers_tape_verifies_once_his_key_is_trusted() -> None:
    record("t", STRANGER)
    refused = run("tape", "verify", "t")
    assert refused.exit_code == 1
    assert f"bad seal_untrusted: the seal at event 7 is signed by `{STRANGER.verifier}`" in refused.stdout
    assert "hint: name the sealer's key with --key" in refused.stdout
    assert run("tape", "verify", "t", "--key", str(STRANGER.verifier)).exit_code == 0
    assert "is now trusted" in run("keys", "trust", str(STRANGER.verifier)).stdout
    found = run("tape", "verify", "t")
    assert found.exit_code == 0
    assert "evidence AUTHORITATIVE" in found.stdout
    assert run("keys", "trust", "nonsense").exit_code == 2


def test_a_named_key_demands_its_seal() -> None:
    record("t", None)
    free = run("tape", "verify", "t")
    assert (free.exit_code, "evidence PARTIAL" in free.stdout) == (0, True)
    demanded = run("tape", "verify", "t", "--key", str(STRANGER.verifier))
    assert (demanded.exit_code, "bad seal_required" in demanded.stdout) == (1, True)


def test_a_tape_is_sealed_later_and_an_event_of_it_proven(project: Path) -> None:
    record("t", None)
    sealed = run("tape", "seal", "t")
    assert sealed.exit_code == 0
    assert "file seal  .faultwire/tapes/t.tape.seal" in sealed.stdout
    report = json.loads(run("tape", "verify", "t", "--format", "json").stdout)[0]
    assert (report["class"], report["reasons"], report["trusted"]) == ("AUTHORITATIVE", [], True)
    assert run("tape", "prove", "t", "--event", "2", "-o", "e.txt").exit_code == 2
    assert run("tape", "prove", "t", "--event", "2", "-o", "e.tlog-proof").exit_code == 0
    proof = run("tape", "prove", "t", "--event", "2").stdout
    assert (project / "e.tlog-proof").read_text() == proof
    found = run("tape", "verify", "e.tlog-proof")
    own = KeyRing().signer_or_new("x").verifier
    assert found.stdout.startswith(f"e.tlog-proof: event 2 is on tape `shop/t`, sealed by {own}\n")
    (project / "f.tlog-proof").write_text(proof.replace("index 2", "index 3"))
    bad = run("tape", "verify", "f.tlog-proof", "--format", "json")
    assert (bad.exit_code, json.loads(bad.stdout)[0]["error"]) == (1, "tape.proof")
    assert "exists already" in run("tape", "prove", "t", "--event", "2", "-o", "e.tlog-proof").stderr
    both = run("tape", "verify", "t", "e.tlog-proof", "--json")
    assert (both.exit_code, [one["ok"] for one in json.loads(both.stdout)]) == (0, [True, True])
    assert run("tape", "verify", "missing.tlog-proof").exit_code == 3
    os.mkfifo("pipe.tlog-proof")  # is not waited for
    os.mkfifo("pipe.pub")
    assert "it is not a file" in run("tape", "verify", "pipe.tlog-proof").stdout
    assert run("tape", "verify", "t", "--key", "./pipe.pub").exit_code == 2
    assert run("tape", "verify", "t", "--key", "\udcff+00+AA").exit_code == 2


def test_what_is_left_of_a_damaged_tape() -> None:
    path = record("t", None)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM events WHERE seq = 4")
    done = run("tape", "salvage", "t", "-o", "saved.tape")
    assert done.exit_code == 1
    assert done.stdout.startswith("saved.tape: 4 events and ")
    assert "not copied: event 4 is missing" in done.stderr
    assert run("tape", "verify", "./saved.tape").exit_code == 0
    assert run("tape", "salvage", "t", "-o", "saved.tape").exit_code == 2


@pytest.mark.parametrize("signer", [STRANGER, None])
def test_an_export_with_its_verifier_is_checked_as_it_says(
    project: Path, signer: SignerKey | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    record("t", signer)
    done = run("tape", "export", "t", "-o", "my t.jsonl", "--with-verifier")
    assert done.stdout.splitlines()[1] == "verify_tape.py: verifies it with Python only"
    command = shlex.split(done.stderr.splitlines()[0])
    assert command[:3] == ["python3", "verify_tape.py", "my t.jsonl"]

    def checked(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["verify_tape.py", *arguments])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path("verify_tape.py", run_name="__main__")
        return int(ended.value.code or 0)

    assert checked(*command[2:]) == 0
    lines = Path("my t.jsonl").read_text().splitlines()
    Path("less.jsonl").write_text("\n".join([*lines[:2], *lines[3:]]))
    assert checked("less.jsonl", *command[3:]) == 1
    assert run("tape", "export", "t", "-o", "t.har", "--to", "har", "--with-verifier").exit_code == 2


NOT_PROVEN = "not proven: "


@pytest.mark.parametrize(
    ("signer", "options", "code", "said"),
    [
        (STRANGER, (), 1, "whose key that is"),
        (STRANGER, ("--no-signature",), 0, "--no-signature leaves signatures unchecked"),
        (None, (), 0, "the tape has no seal"),
    ],
)
def test_without_a_key_the_verifier_says_what_is_proven_and_where_the_key_is(
    project: Path,
    signer: SignerKey | None,
    options: tuple[str, ...],
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record("t", signer)
    run("tape", "export", "t", "-o", "t.jsonl", "--with-verifier")

    def checked(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["verify_tape.py", *arguments])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path("verify_tape.py", run_name="__main__")
        return int(ended.value.code or 0), capsys.readouterr().out

    found, text = checked("t.jsonl", *options)
    assert (found, NOT_PROVEN in text, said in text) == (code, True, True)
    assert ("`faultwire keys show`" in text) is (said == "whose key that is")
    if signer is not None:
        assert NOT_PROVEN not in checked("t.jsonl", "--key", str(signer.verifier))[1]
        assert NOT_PROVEN not in checked("t.jsonl", "--key", str(OTHER.verifier))[1]
    lines = Path("t.jsonl").read_text().splitlines()
    Path("less.jsonl").write_text("\n".join([*lines[:2], *lines[3:]]))
    found, text = checked("less.jsonl", *options)
    assert (found, NOT_PROVEN in text) == (1, False), "nothing is said of what is bad"


def test_an_export_is_written_once(project: Path) -> None:
    record("t", None)
    assert run("tape", "export", "t", "-o", "t.jsonl").stdout == "t.jsonl: 7 events\n"
    assert len((project / "t.jsonl").read_text().splitlines()) >= 8
    assert "exists already" in run("tape", "export", "t", "-o", "t.jsonl").stderr
    assert run("tape", "export", "t", "-o", "missing/t.jsonl").exit_code == 2


def test_tapes_are_merged_split_and_shared(project: Path) -> None:
    record("one", None)
    record("two", None)
    joined = run("tape", "merge", "one", "two", "-o", "both.tape")
    assert joined.stdout == "both.tape: 14 events, sealed\n"
    said = run("tape", "verify", "./both.tape").stdout
    assert "(14 events" in said
    assert "  because it was made from other tapes with `merge`\n" in said
    assert run("tape", "split", "./both.tape", "--session", "s-2", "-o", "b.tape").exit_code == 0
    assert run("tape", "verify", "./b.tape").exit_code == 0
    assert run("tape", "merge", "one", "two", "-o", "named").exit_code == 0
    assert "named.tape" in run("tape", "list").stdout
    missing = run("tape", "split", "./both.tape", "--session", "x", "-o", "c.tape")
    assert (missing.exit_code, "has no session `x`" in missing.stderr) == (3, True)
    assert list(project.glob("c.tape*")) == []
    assert run("tape", "export", "one", "--to", "tape", "--share", "-o", "out.tape").exit_code == 0
    assert run("tape", "export", "one", "--share", "-o", "out.jsonl").stdout == "out.jsonl: 8 events\n"
    assert "evidence PARTIAL" in run("tape", "verify", "./out.tape").stdout


def test_only_old_tapes_are_removed() -> None:
    path = record("one", STRANGER)
    assert run("tape", "prune", "--older-than", "1h").stderr == "removed 0 tapes, 0.0 kB\n"
    assert run("tape", "prune", "--older-than", "soon").exit_code == 2
    path.chmod(0o600)
    path.write_bytes(b"no tape any more")
    os.utime(path, (0, 0))
    would = run("tape", "prune", "--older-than", "30d", "--dry-run")
    size = sum(one.stat().st_size for one in path.parent.iterdir())
    assert (would.stderr, path.exists()) == (f"would remove 1 tape, {size / 1e3:.1f} kB\n", True)
    assert run("tape", "prune", "--older-than", "30d").stdout.startswith(
        ".faultwire/tapes/one.tape  1970-01-01"
    )
    assert list(path.parent.iterdir()) == []


def test_a_tape_that_is_written_is_not_removed(project: Path) -> None:
    path = Path(".faultwire/tapes/live.tape")
    writer = TapeWriter.create(path, origin="shop/live", settings={}, key=b"k" * 32, signer=STRANGER)
    old = record("old", STRANGER)
    (old.parent / "folder.tape").mkdir()
    (old.parent / "link.tape").symlink_to(old)
    (old.parent / "dangling.tape").symlink_to("nowhere")
    gone = [Old(one, 0, 1) for one in (path, old)]
    assert [remove(one) for one in gone] == [False, True]
    assert (path.exists(), old.exists(), old.with_name("old.tape.seal").exists()) == (True, False, False)
    listed = run("tape", "list", ".faultwire/tapes")
    assert (listed.exit_code, "tape.symlink" in listed.stdout) == (0, True)
    assert [one.path for one in pruned(tapes(), 1 << 60)] == [path]
    writer.close()
    assert remove(gone[0])


def test_a_partial_export_is_removed(project: Path) -> None:
    path = record("t", None)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE events SET record=CAST('{}' AS BLOB) WHERE seq=4")
    done = run("tape", "export", "t", "--to", "har", "-o", "t.har")
    assert (done.exit_code, (project / "t.har").exists()) == (3, False)


def test_the_long_list_has_cost_and_evidence_class() -> None:
    record("one", None)
    path = record("two", None)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM events WHERE seq = 4")
    listed = json.loads(run("tape", "list", "-l", "--format", "json").stdout)
    assert [(tape["class"], tape["cost"]) for tape in listed] == [
        ("PARTIAL", "unknown"),  # its answer is none that can be read
        (None, "unknown"),
    ]
    assert "cost" not in run("tape", "list").stdout
    assert "does not verify" in run("tape", "list", "--long").stdout
