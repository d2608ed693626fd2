"""What an agent is made of, by name and digest: its own files, the lock files beside its configuration, and
the commit that is checked out there.

The folder may be hostile, so git itself is not asked: its configuration there could name programs to run.
"""

from __future__ import annotations

import hashlib
import os
import re  # noqa: TID251  # fixed patterns
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

LOCK_FILES = (
    "requirements.txt",
    "pylock.toml",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "go.sum",
    "Cargo.lock",
    "pom.xml",
    "gradle.lockfile",
    "Gemfile.lock",
    "composer.lock",
    "Dockerfile",
)
MOST = 100
"""Files that are named."""
LARGEST = 256 * 1024 * 1024
"""Bytes of a file that is hashed; a larger one is left out."""
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")  # a fixed pattern
_REF = re.compile(r"refs/[A-Za-z0-9._/-]{1,200}\Z")  # a fixed pattern
_IMAGE = re.compile(r"([A-Za-z0-9][A-Za-z0-9._:/-]{0,254})@sha256:([0-9a-f]{64})(?![0-9a-f])")
_TEXT = 4 * 1024 * 1024


def digests_of(folder: Path, named: Iterable[Path]) -> Mapping[str, str]:
    """SHA-256 of these files and of lock files in the folder, by their path as seen from there."""
    found: dict[str, str] = {}
    for path in dict.fromkeys((*named, *(folder / name for name in LOCK_FILES))):
        if len(found) == MOST:
            break
        digest = _digest(path)
        if digest is not None:
            found[os.path.relpath(path, folder)] = digest
    return dict(sorted(found.items()))


def images_of(words: Iterable[str]) -> Mapping[str, str]:
    """SHA-256 of the container images that words name by digest (`NAME@sha256:HEX`), by `image NAME`.

    A tag can be moved: what is named by its tag alone is not among them.
    """
    found = {f"image {one[1]}": one[2] for word in words for one in _IMAGE.finditer(word)}
    return dict(sorted(found.items())[:MOST])


def commit_of(folder: Path) -> str | None:
    """The commit that is checked out in the work tree around a folder, None without one.

    Files may differ from it; their own digests say what they were.
    """
    for place in (folder.absolute(), *folder.absolute().parents):
        git = place / ".git"
        if git.is_dir():
            return _head(git, git)
        if git.is_file():  # of a linked work tree or a submodule
            target = place / (_text(git) or "").removeprefix("gitdir:").strip()
            common = _text(target / "commondir")
            return _head(target, target / common.strip() if common else target)
    return None


def _head(git: Path, common: Path) -> str | None:
    head = (_text(git / "HEAD") or "").strip()
    if _COMMIT.match(head):
        return head
    ref = head.removeprefix("ref:").strip()
    if not _REF.match(ref) or ".." in ref:
        return None
    for place in (git, common):
        loose = (_text(place / ref) or "").strip()
        if _COMMIT.match(loose):
            return loose
    for line in (_text(common / "packed-refs") or "").splitlines():
        commit, _, name = line.partition(" ")
        if name == ref and _COMMIT.match(commit):
            return commit
    return None


def _digest(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None


def _text(path: Path) -> str | None:
    try:
        if not path.is_file() or path.stat().st_size > _TEXT:
            return None
        return path.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
