"""Where tapes are kept for a team: a folder, or a bucket that speaks S3, by the library obstore.

A URL is `s3://BUCKET/PREFIX` (with `AWS_*` variables for keys, region and `AWS_ENDPOINT_URL`), `file:///PATH`,
or the path of a folder that exists.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from faultwire.errors import FaultwireError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

HINT = "a folder, or `s3://BUCKET/PREFIX`"
LOCAL = ("127.0.0.1", "localhost", "::1")


class Objects:
    """Objects by name. Every call raises FaultwireError where the place fails."""

    def __init__(self, place: str, option: str = "--tapes") -> None:
        """Raises UsageError for what is no such place, or cannot be used. `option` is what named it."""
        self.place = printable(place)
        self._store = _opened(place, option)

    def get(self, name: str) -> bytes | None:
        """An object's bytes; None where there is none."""
        import obstore

        with self._failing(f"cannot read `{name}`"):
            try:
                return bytes(obstore.get(self._store, name).bytes())
            except (FileNotFoundError, obstore.exceptions.NotFoundError):
                return None

    def has(self, name: str, size: int) -> bool:
        """Is there an object of this name and size?"""
        import obstore

        with self._failing(f"cannot look for `{name}`"):
            try:
                return int(obstore.head(self._store, name)["size"]) == size
            except (FileNotFoundError, obstore.exceptions.NotFoundError):
                return False

    def put(self, name: str, data: bytes) -> None:
        """Write an object, whole or not at all."""
        import obstore

        with self._failing(f"cannot write `{name}`"):
            obstore.put(self._store, name, data)

    def list(self, prefix: str) -> Iterator[tuple[str, float]]:
        """Names below a prefix, each with the moment of its last change in seconds since the Unix epoch."""
        import obstore

        with self._failing(f"cannot list `{prefix}`"):
            for page in obstore.list(self._store, prefix):
                for one in page:
                    yield str(one["path"]), one["last_modified"].timestamp()

    def delete(self, name: str) -> None:
        """Remove an object; one that is gone already is no error."""
        import obstore

        with self._failing(f"cannot remove `{name}`"):
            try:
                obstore.delete(self._store, name)
            except (FileNotFoundError, obstore.exceptions.NotFoundError):
                return

    @contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as error:
            why = printable(
                str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            )
            raise FaultwireError(
                f"{what} in `{self.place}`: {why[:300]}",
                code="tapes.failed",
                hint="what was written before stays; the same command goes on from there",
            ) from error


def _opened(place: str, option: str) -> Any:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import LocalStore, S3Store
    except ImportError as error:
        raise UsageError(
            f"found no `obstore`, expected it for {option}",
            code="usage.tapes",
            hint="pip install 'faultwire[store]'",
        ) from error
    url = urlsplit(place)
    try:
        if url.scheme == "s3" and url.hostname:
            return S3Store.from_url(
                f"s3://{url.hostname}{url.path}",
                config={"checksum_algorithm": "sha256"},
                client_options={"allow_http": _plain_allowed()},
            )
        folder = Path(url.path if url.scheme == "file" else place)
        if place and url.scheme in ("", "file") and folder.is_dir():
            return LocalStore(folder.absolute())
    except (BaseError, ValueError) as error:
        raise UsageError(
            f"cannot use `{printable(place)}`: {error}", code="usage.tapes", hint=HINT
        ) from error
    raise UsageError(
        f"found `{printable(place)}` for {option}, expected a folder that exists, or a bucket",
        code="usage.tapes",
        hint=HINT,
    )


def _plain_allowed() -> bool:
    """May the endpoint be asked without TLS? Only on this machine. Raises UsageError for another."""
    endpoint = urlsplit(os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "")
    if endpoint.scheme != "http":
        return False
    if endpoint.hostname not in LOCAL:
        raise UsageError(
            f"found the endpoint `{printable(endpoint.geturl())}`, expected `https://`",
            code="usage.tapes",
            hint="without TLS only an endpoint on this machine is used",
        )
    return True
