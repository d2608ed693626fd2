"""What an agent is made of."""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from faultwire.runner import artefacts
from faultwire.runner.artefacts import commit_of, digests_of, images_of


def test_files_and_lock_files_are_named_with_the_digest_of_all_of_them(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "agent.py").write_bytes(b"1")
    (folder / "uv.lock").write_bytes(b"2")
    (folder / "notes.txt").write_bytes(b"3")
    (tmp_path / "shared.py").write_bytes(b"4")
    found = digests_of(folder, [folder / "agent.py", tmp_path / "shared.py", folder / "gone.py"])
    assert found == {
        "agent.py": sha256(b"1").hexdigest(),
        "uv.lock": sha256(b"2").hexdigest(),
        "../shared.py": sha256(b"4").hexdigest(),
    }


def test_a_file_is_hashed_whole_or_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "agent"
    file.write_bytes(b"x" * 17_000_000)
    assert digests_of(tmp_path, [file])["agent"] == sha256(b"x" * 17_000_000).hexdigest()
    monkeypatch.setattr(artefacts, "LARGEST", 10)
    assert digests_of(tmp_path, [file]) == {}


def test_no_more_than_a_hundred_are_named(tmp_path: Path) -> None:
    files = [tmp_path / str(n) for n in range(120)]
    for file in files:
        file.write_bytes(b"")
    assert len(digests_of(tmp_path, files)) == artefacts.MOST


def git(folder: Path, *words: str) -> str:
    about = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    command = ["git", *about, *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_images_that_are_named_by_digest_are_named_and_tags_are_not() -> None:
    one, two = "ab" * 32, "cd" * 32
    words = ["docker", "run", f"registry.example:5000/shop/agent:1@sha256:{one}", f"--image=a@sha256:{two}"]
    assert images_of(words) == {"image a": two, "image registry.example:5000/shop/agent:1": one}
    for word in ("shop/agent:1", f"shop@sha256:{one[:-1]}", f"shop@sha256:{one}0", f"@sha256:{one}"):
        assert images_of([word]) == {}


def test_the_commit_is_what_git_says(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    below = repo / "a" / "b"
    below.mkdir(parents=True)
    assert commit_of(below) is None
    git(repo, "init", "-q")
    assert commit_of(below) is None
    git(repo, "commit", "-q", "--allow-empty", "-m", "one")
    head = git(repo, "rev-parse", "HEAD")
    assert commit_of(below) == head
    git(repo, "pack-refs", "--all")
    assert commit_of(below) == head
    git(repo, "worktree", "add", "-q", "-b", "side", "../side")
    git(tmp_path / "side", "commit", "-q", "--allow-empty", "-m", "two")
    assert commit_of(tmp_path / "side") == git(tmp_path / "side", "rev-parse", "HEAD") != head
    git(repo, "checkout", "-q", "--detach")
    assert commit_of(below) == head


@pytest.mark.parametrize("head", ["", "ref: refs/../../secret", "ref: /etc/passwd", "a" * 39, "\xff"])
def test_a_head_that_is_none_leads_nowhere(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "secret").write_text("b" * 40)
    (tmp_path / ".git" / "HEAD").write_bytes(head.encode("latin-1"))
    assert commit_of(tmp_path) is None
