import json
import shutil
import stat

import pytest

from faultwire.errors import FaultError, UsageError
from faultwire.runner.folder import RunFolder, private_dir


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_run_has_a_folder_for_its_user_alone(tmp_path):
    folder = RunFolder.create("demo", base=tmp_path / ".faultwire", seed=42)
    folder.event("started", port=1)
    assert folder.path.parent == tmp_path / ".faultwire" / "runs"
    assert {mode(p) for p in (folder.path, folder.path.parent, folder.path.parent.parent)} == {0o700}
    assert {mode(p) for p in folder.path.iterdir()} == {0o600}
    about = json.loads((folder.path / "run.json").read_text())
    assert (about["id"], about["command"], about["seed"], about["version"]) == (folder.id, "demo", 42, "1")


def test_git_ignores_the_folder(tmp_path):
    RunFolder.create("demo", base=tmp_path / ".faultwire")
    assert (tmp_path / ".faultwire" / ".gitignore").read_text() == "*\n"


def test_two_runs_never_share_a_folder(tmp_path):
    assert RunFolder.create("a", base=tmp_path).path != RunFolder.create("a", base=tmp_path).path


def test_notes_add_up_and_events_follow_in_order(tmp_path):
    folder = RunFolder.create("demo", base=tmp_path)
    folder.event("one", text="a\nb\udc80")
    folder.event("two")
    folder.note(agent="x")
    folder.end("finished", score=83.33)
    about = json.loads((folder.path / "run.json").read_text())
    assert (about["agent"], about["status"], about["score"]) == ("x", "finished", 83.33)
    events = [json.loads(line) for line in (folder.path / "events.jsonl").read_text().splitlines()]
    assert [e["type"] for e in events] == ["one", "two"]
    assert events[0]["text"] == "a\nb\udc80"
    assert not [p for p in folder.path.iterdir() if p.name.endswith(".draft")]


def test_files_are_written_atomically(tmp_path):
    folder = RunFolder.create("demo", base=tmp_path)
    folder.write("report.html", "long text")
    assert folder.write("report.html", "short").read_text() == "short"


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError) as error:
        RunFolder.create("demo", base=tmp_path / "file")
    assert error.value.code == "run.folder"
    assert error.value.exit_code == 2


def test_a_folder_that_was_removed_while_it_was_used_is_an_error_of_its_own(tmp_path):
    folder = RunFolder.create("exec", base=tmp_path / ".faultwire")
    assert folder.removed is None
    shutil.rmtree(tmp_path / ".faultwire")
    for use in (lambda: folder.note(a=1), lambda: folder.event("x"), lambda: folder.write("r", "")):
        with pytest.raises(FaultError, match="was removed while it ran, and with it the tape") as found:
            use()
        assert found.value.code == "run.folder"
    folder.end("void", error="run.void")  # its own reason is on its way
    with pytest.raises(FaultError, match="was removed"):
        folder.end("finished")


def test_a_folder_that_exists_keeps_its_mode(tmp_path):
    tmp_path.chmod(0o755)
    private_dir(tmp_path / "a" / "b")
    assert (mode(tmp_path), mode(tmp_path / "a")) == (0o755, 0o700)
