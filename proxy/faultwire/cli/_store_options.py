"""`--store`, `--project` and `--tapes`: where a team keeps what runs gave."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.store.results import Store
    from faultwire.store.service_client import ServiceClient

    Target = Store | ServiceClient

    from faultwire.cli._upload import Upload

F = TypeVar("F", bound="Callable[..., Any]")


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """The options as they were given."""

    url: str | None
    name: str | None
    token: Path | None = None
    tapes: str | None = None

    @property
    def project(self) -> str:
        """The project that was named, else the name of this folder."""
        from faultwire.tape.evidence.keyring import name_for

        return self.name or name_for(Path.cwd().name)

    def upload(self) -> Upload:
        """Where the run's tapes go, too; it can be used. Raises UsageError and FaultwireError."""
        from faultwire.cli._upload import Upload

        found = Upload(self.tapes, self.project)
        found.open()
        return found

    def open(self) -> Target | None:
        """The store, if there is one. Raises UsageError and FaultwireError."""
        if self.url is None:
            return None
        if self.url.startswith(("https://", "http://")):
            from faultwire.store.service_client import ServiceClient

            return ServiceClient.open(self.url, self.project, self.token)
        with with_store():
            from faultwire.store.results import Store
        return Store.open(self.url, self.project)


@contextmanager
def with_store() -> Iterator[None]:
    """Import what the store is made of. Raises UsageError that names the package which is missing."""
    try:
        yield
    except ImportError as error:
        from faultwire.errors import UsageError

        raise UsageError(
            f"found no `{error.name}`, expected it for --store",
            code="usage.store",
            hint="pip install 'faultwire[store]'",
        ) from error


def stored(store: Target | None, upload: Upload | None, run: Path) -> None:
    """Keep a run's tapes and results where they are to be kept, if anywhere; closes the store. Raises
    UsageError and FaultwireError where the results cannot be kept."""
    if upload is not None:
        upload.finish(run)
    if store is None:
        return
    from faultwire.cli.output import say
    from faultwire.store.results import run_of

    try:
        store.add(run_of(run))
        for note in store.notes:
            say(note)
    finally:
        store.close()


def project_option(command: F) -> F:
    """Add `--project`."""
    return click.option(
        "--project", metavar="NAME", help="Whose runs and tapes these are.  [default: this folder's name]"
    )(command)


def store_option(command: F) -> F:
    """Add `--store` and `--store-token`."""
    token = click.option(
        "--store-token",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        metavar="FILE",
        help="The token for a --store that is a service.",
    )
    return click.option(
        "--store",
        "store_url",
        metavar="URL",
        help="Keep the run's results in a database, too (sqlite:///FILE, postgresql://USER@HOST/NAME), or at "
        "a team's service (https://HOST).",
    )(token(command))


def tapes_option(command: F) -> F:
    """Add `--tapes`, which must be given."""
    return click.option(
        "--tapes",
        required=True,
        metavar="PLACE",
        help="Where tapes are kept: a folder, or s3://BUCKET/PREFIX.",
    )(command)


def recording_tapes_option(command: F) -> F:
    """Add `--tapes` to a command that records."""
    return click.option(
        "--tapes",
        metavar="PLACE",
        help="Upload the run's tapes, too, already while they are recorded: a folder, or s3://BUCKET/PREFIX.",
    )(command)


def store_options(command: F) -> F:
    """Add `--store`, `--tapes` and `--project`, and hand them over as one value, `store`."""

    @functools.wraps(command)
    def packed(
        store_url: str | None, project: str | None, store_token: Path | None, tapes: str | None, **rest: Any
    ) -> Any:
        return command(store=StoreOptions(store_url, project, store_token, tapes), **rest)

    found: Any = packed
    return store_option(recording_tapes_option(project_option(found)))  # type: ignore[no-any-return]


def upload_options(command: F) -> F:
    """Add `--tapes` and `--project`, and hand them over as one value, `upload`, that can be used."""
    from faultwire.cli._upload import Upload

    @functools.wraps(command)
    def packed(tapes: str | None, project: str | None, **rest: Any) -> Any:
        upload = Upload(tapes, StoreOptions(None, project).project)
        upload.open()
        return command(upload=upload, **rest)

    found: Any = packed
    return recording_tapes_option(project_option(found))  # type: ignore[no-any-return]
