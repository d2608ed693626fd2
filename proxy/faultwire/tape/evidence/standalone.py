"""The scripts that check an exported tape, or a certificate, without us: a file each, Python's standard
library alone."""

from __future__ import annotations

from pathlib import Path

from faultwire.errors import UsageError
from faultwire.output_file import create

NAME = "verify_tape.py"
OF_CERTIFICATES = "verify_certificate.py"


def script(name: str = NAME) -> Path:
    """Where one is: in a checkout `docs/`, else inside of the package, as the build put it."""
    package = Path(__file__).parents[2]
    checkout = package.parent.parent
    beside = checkout / "core_rs" / "Cargo.toml"
    return checkout / "docs" / name if beside.is_file() else package / "_data" / name


def place(folder: Path, name: str = NAME, *, anywhere: bool = False) -> Path:
    """Put a copy into a folder; one that is there and the same is as good. Raises UsageError."""
    target, text = folder / name, script(name).read_bytes()
    try:
        with create(target, anywhere=anywhere) as out:
            out.write(text)
    except FileExistsError as error:
        if target.read_bytes() != text:
            raise UsageError(
                f"found another file at `{target}`", code="usage.output", hint="name another folder in `-o`"
            ) from error
    except OSError as error:
        raise UsageError(f"cannot write `{target}`: {error.strerror}", code="usage.output") from error
    return target
