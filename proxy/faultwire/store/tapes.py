"""Tapes in an object store: pieces by their content, and a manifest for each tape, which is written last.

    blobs/AB/SHA256            a piece of a file, as its hash says
    tapes/PROJECT/SHA256.json  the manifest of a tape: its files with their hashes and pieces

A tape is there once its manifest is. Pieces that are there already are not sent again, so that an upload
which was cut goes on, and files that begin alike share what they have in common. Only a tape that verifies
and is sealed is sent; what comes back is held against every hash, and verified again.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire import clock, dice
from faultwire.errors import TapeTampered, UsageError, printable
from faultwire.store import pieces
from faultwire.tape.evidence.sealer import seal_path
from faultwire.tape.evidence.verify import verify
from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from faultwire.store.objects import Objects

PIECE = 1 << 20
"""Bytes that a piece has at most."""
GRACE_S = 24 * 3600.0
"""Seconds for which pieces that no manifest names are left alone: an upload may be under way."""
VERSION = 1
_HASH = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of an upload: pieces that were `sent`, and that were there already (`known`)."""

    digest: str
    sent: int
    known: int
    sent_bytes: int = 0
    known_bytes: int = 0


def push(objects: Objects, tape: Path, project: str) -> Pushed:
    """Send a tape. Raises TapeTampered where it does not verify, UsageError where it has no seal, and
    FaultwireError where the store fails: then there is no manifest, and the same call goes on."""
    _sealed(tape)
    count = _Count()
    files: dict[str, dict[str, Any]] = {}
    for role, path in (("tape", tape), ("seal", seal_path(tape))):
        whole, named = sha256(), []
        for data in _pieces_of(path):
            whole.update(data)
            named.append([_keep(objects, data, count), len(data)])
        files[role] = {"sha256": whole.hexdigest(), "pieces": named}
    digest = str(files["tape"]["sha256"])
    with TapeReader.open(tape) as reader:
        origin = reader.info().origin
    manifest = {"version": VERSION, "name": tape.name, "origin": origin, "files": files}
    objects.put(manifest_name(project, digest), json.dumps(manifest, sort_keys=True).encode())
    for path in (tape, seal_path(tape)):
        # Somebody may have collected garbage while it was no tape yet.
        for data in _pieces_of(path):
            _keep(objects, data, _Count())
    return Pushed(digest, count.sent, count.known, count.sent_bytes, count.known_bytes)


@dataclass(slots=True)
class _Count:
    sent: int = 0
    known: int = 0
    sent_bytes: int = 0
    known_bytes: int = 0


def _pieces_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while window := file.read(pieces.WINDOW):
            for piece in pieces.cut(window):
                yield piece.data


def _keep(objects: Objects, data: bytes, count: _Count) -> str:
    """Send a piece unless it is there; its name."""
    name = sha256(data).hexdigest()
    if objects.has(blob_name(name), len(data)):
        count.known += 1
        count.known_bytes += len(data)
    else:
        objects.put(blob_name(name), data)
        count.sent += 1
        count.sent_bytes += len(data)
    return name


def _sealed(tape: Path) -> None:
    report = verify(tape, demanded=True)
    bad = [
        one
        for one in report.findings
        if not one.is_note and one.code not in ("seal_untrusted", "seal_required")
    ]
    if bad:
        raise TapeTampered(
            f"tape `{tape}` does not verify: {bad[0].message}", hint=f"faultwire tape verify {tape}"
        )
    if not seal_path(tape).is_file():
        raise UsageError(
            f"found no seal of `{tape}`, expected a tape that is closed and sealed",
            code="tapes.unsealed",
            hint=f"faultwire tape seal {tape}",
        )


def pull(objects: Objects, digest: str, project: str, target: Path) -> Path:
    """Fetch a tape by the hash of its file (or the beginning of it) to `target`, with its seal.

    Raises UsageError where there is none, or several, or the target exists; TapeTampered where anything is
    not what a hash says, or the tape does not verify. Nothing is left at the target then.
    """
    whole = _find(objects, digest, project)
    if target.exists():
        raise UsageError(f"found a tape at `{target}`, expected a new name", code="tape.exists")
    manifest = read_manifest(objects, project, whole)
    if manifest["files"]["tape"]["sha256"] != whole:
        raise TapeTampered(f"the manifest `{whole[:16]}` is that of another tape")
    drafts = {role: target.with_name(f".{target.name}.{role}.{dice.token(4)}") for role in ("tape", "seal")}
    try:
        for role, draft in drafts.items():
            _fetch(objects, manifest["files"][role], draft)
        draft = drafts["tape"].rename(target.with_name(f".{whole}.tape"))
        drafts["tape"] = draft
        drafts["seal"] = drafts["seal"].rename(seal_path(draft))
        _sealed(draft)
        seal_path(draft).rename(seal_path(target))
        draft.rename(target)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
    return target


def _fetch(objects: Objects, about: Mapping[str, Any], target: Path) -> None:
    whole = sha256()
    with target.open("xb") as file:
        for name, size in about["pieces"]:
            data = objects.get(blob_name(name))
            if data is None:
                raise TapeTampered(f"the store lacks the piece `{name[:16]}`", code="tapes.piece_missing")
            if len(data) != size or sha256(data).hexdigest() != name:
                raise TapeTampered(f"the piece `{name[:16]}` was changed", code="tapes.piece_changed")
            whole.update(data)
            file.write(data)
    if whole.hexdigest() != about["sha256"]:
        raise TapeTampered("the pieces do not make the tape that the manifest names", code="tapes.changed")


def _find(objects: Objects, digest: str, project: str) -> str:
    found = [one for one in kept(objects, project) if digest and one.startswith(digest)]
    if len(found) != 1:
        raise UsageError(
            f"found {len(found)} tapes of the project `{project}` that begin with "
            f"`{printable(digest)[:64]}`, expected one",
            code="tapes.none" if not found else "tapes.several",
        )
    return found[0]


def kept(objects: Objects, project: str) -> list[str]:
    """The hashes of a project's tapes."""
    names = (name.rpartition("/")[2].removesuffix(".json") for name, _ in objects.list(f"tapes/{project}/"))
    return sorted(name for name in names if _HASH.match(name))


def read_manifest(objects: Objects, project: str, digest: str) -> dict[str, Any]:
    """What a tape is made of. Raises TapeTampered where that is damaged, or of another version."""
    data = objects.get(manifest_name(project, digest))
    try:
        found = json.loads(data or b"")
        version = found["version"]
        pieces = [piece for role in ("tape", "seal") for piece in found["files"][role]["pieces"]]
        sound = all(
            _HASH.match(name) and isinstance(size, int) and 0 < size <= PIECE for name, size in pieces
        )
    except (ValueError, KeyError, TypeError) as error:
        raise TapeTampered(f"the manifest `{digest[:16]}` is damaged: {error!r}") from error
    if version != VERSION or not sound:
        raise TapeTampered(
            f"found a manifest of version `{printable(str(version))[:20]}`, expected `{VERSION}`"
            if version != VERSION
            else f"the manifest `{digest[:16]}` names what is no piece"
        )
    return dict(found)


def lacking(objects: Objects, project: str, digests: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Tapes that are not whole, each with how many of its pieces are not there; a manifest that cannot be
    read counts as one."""
    there = {name.rpartition("/")[2] for name, _ in objects.list("blobs/")}
    for digest in digests:
        try:
            manifest = read_manifest(objects, project, digest)
        except TapeTampered:
            yield digest, 1
            continue
        needed = {piece for role in ("tape", "seal") for piece, _ in manifest["files"][role]["pieces"]}
        if needed - there:
            yield digest, len(needed - there)


def collect_garbage(
    objects: Objects, *, dry_run: bool = False, now_s: Callable[[], float] = lambda: clock.wall_ms() / 1000
) -> Iterator[str]:
    """Remove the pieces that no manifest of any project names, but for young ones; gives their names.

    Raises TapeTampered where a manifest cannot be read: what it needs is not known then, and nothing goes.
    """
    old = [name for name, changed_s in objects.list("blobs/") if changed_s <= now_s() - GRACE_S]
    needed = needed_pieces(objects)  # after the list, so that a tape that has come since counts
    for name in old:
        piece = name.rpartition("/")[2]
        if piece not in needed:
            if not dry_run:
                objects.delete(name)
            yield piece


def needed_pieces(objects: Objects) -> set[str]:
    """The pieces that a tape of any project needs. Raises TapeTampered where a manifest cannot be read."""
    needed = set[str]()
    for name, _ in objects.list("tapes/"):
        project, _, file = name.removeprefix("tapes/").rpartition("/")
        needed |= set(pieces_of(read_manifest(objects, project, file.removesuffix(".json"))))
    return needed


def pieces_of(manifest: Mapping[str, Any]) -> Iterator[str]:
    """The pieces that a manifest names."""
    return (piece for role in ("tape", "seal") for piece, _ in manifest["files"][role]["pieces"])


def blob_name(name: str) -> str:
    """Where a piece is, by its hash."""
    return f"blobs/{name[:2]}/{name}"


def manifest_name(project: str, digest: str) -> str:
    """Where the manifest of a tape is."""
    return f"tapes/{project}/{digest}.json"
