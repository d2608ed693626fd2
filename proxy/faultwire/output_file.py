"""Files that a user orders: in the working directory, and never through a symbolic link.

The agent under test can write in the working directory, and a configuration may come from a stranger: neither
may turn a report into an overwritten file somewhere else. So each folder on the way is opened from the one
before it without following links (openat(2), `O_NOFOLLOW`), and the file itself is made in the last one.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from faultwire.dice import token
from faultwire.errors import UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
ANYWHERE = "add `--output-anywhere` to write it there"


class _Way(NamedTuple):
    """The way to a file: an absolute folder, and the names from there. `links` are those that are the user's
    own, above the working directory: the way to the home folder, to the one for temporary files, and here."""

    base: Path
    names: tuple[str, ...]
    links: frozenset[Path]


def write_text(
    path: Path, text: str, *, anywhere: bool = False, parents: bool = False, mode: int = 0o666
) -> None:
    """Write a file whole, in place of one of that name. Raises UsageError and OSError, as `check`."""
    with _folder(path, anywhere=anywhere, parents=parents) as (folder, name):
        _regular(folder, name, path)
        draft = f".{name[:64]}.{token(6)}"
        try:
            with os.fdopen(os.open(draft, _NEW, mode, dir_fd=folder), "w", encoding="utf-8") as file:
                file.write(text)
            os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft, dir_fd=folder)
            raise


@contextmanager
def create(
    path: Path, *, anywhere: bool = False, parents: bool = False, mode: int = 0o666
) -> Iterator[IO[bytes]]:
    """A new file, which is removed again where its writing fails. Raises UsageError, and OSError:
    FileExistsError where the name is taken."""
    with _folder(path, anywhere=anywhere, parents=parents) as (folder, name):
        _regular(folder, name, path)
        with os.fdopen(os.open(name, _NEW, mode, dir_fd=folder), "wb") as file:
            try:
                yield file
            except BaseException:  # half a file is none, and the next try finds its name free
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)
                raise


def check(path: Path, *, anywhere: bool = False, parents: bool = False) -> Path:
    """The path, once it is known that a file can be written there; nothing is changed but that missing
    folders are made with `parents`.

    Raises UsageError where it leads outside the working directory without `anywhere`, where there is a link
    on the way or something else than a file at its end, and OSError where it cannot be written.
    """
    with _folder(path, anywhere=anywhere, parents=parents) as (folder, name):
        _regular(folder, name, path)
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=folder):
            why = errno.EROFS if os.fstatvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
            raise OSError(why, os.strerror(why), str(path))
        with suppress(FileNotFoundError):
            os.close(os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder))
    return path


def permitted(path: Path, *, anywhere: bool = False) -> Path:
    """The path, where it may be written to and, as far as it is there, has no link in it: for what is written
    by other means, as tapes are. Raises UsageError."""
    try:
        with _folder(path, anywhere=anywhere, parents=False) as (folder, name):
            _regular(folder, name, path)
    except FileNotFoundError:
        pass  # a folder that is not there holds no link
    except OSError as error:
        raise UsageError(f"cannot write `{_shown(path)}`: {error.strerror}", code="usage.output") from error
    return path


@contextmanager
def _folder(path: Path, *, anywhere: bool, parents: bool) -> Iterator[tuple[int, str]]:
    """The open folder of a file, and the file's name in it."""
    way = _way(path, anywhere=anywhere)
    folder, at = os.open(way.base, _FOLDER), way.base
    try:
        for name in way.names[:-1]:
            at /= name
            below = _enter(folder, name, at, path, follow=at in way.links, make=parents)
            os.close(folder)
            folder = below
        yield folder, way.names[-1]
    finally:
        os.close(folder)


def _enter(folder: int, name: str, at: Path, path: Path, *, follow: bool, make: bool) -> int:
    """The folder of this name in another one, opened; made where it is missing and shall be."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        if not make:
            raise
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    else:
        if stat.S_ISLNK(found.st_mode) and not follow:
            raise _link(at, path)
    try:
        return os.open(name, _FOLDER if follow else _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise _link(at, path) from None
        raise


def _regular(folder: int, name: str, path: Path) -> None:
    """Refuse what is there and no file: a link, a folder, a device."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise _link(path, path)
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "something else"
        raise UsageError(f"found {kind} at `{_shown(path)}`, expected a file", code="usage.output")


def _way(path: Path, *, anywhere: bool) -> _Way:
    """Where the walk begins. Raises UsageError where the file would be outside the working directory."""
    project = Path.cwd()
    whole = Path(os.path.normpath(project / path))
    for above in reversed(whole.parents):
        if _same(above, project):
            return _Way(project, whole.relative_to(above).parts, frozenset())
    if not anywhere:
        message = f"`{_shown(path)}` is outside `{_shown(project)}`, expected a place in it"
        raise UsageError(message, code="output.outside", hint=ANYWHERE)
    import tempfile

    own = (Path.home(), Path(tempfile.gettempdir()), Path(os.environ.get("PWD", "/")))
    links = frozenset(part for one in own if one.is_absolute() for part in (one, *one.parents))
    return _Way(Path(whole.anchor), whole.parts[1:], links)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _link(at: Path, path: Path) -> UsageError:
    return UsageError(
        f"found a symbolic link at `{_shown(at)}`, expected none on the way to `{_shown(path)}`",
        code="output.link",
        hint="name the place that it leads to, or remove it",
    )


def _shown(path: Path) -> str:
    return printable(str(path))
