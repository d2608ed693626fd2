"""Where a profile's name leads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from faultwire.errors import Location, ProfileError, did_you_mean, printable

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Found:
    """A profile's file: `origin` says whether it is the user's (`local`) or ours (`built-in`)."""

    name: str
    path: Path
    origin: Literal["local", "built-in"]


def find(name: str, here: Path | None = None) -> Path:
    """The file of a profile: a path as it is, else `./profiles/NAME.yaml`, else a built-in one.

    Whatever has a folder or a suffix is a path. `here` is the folder to start from. Raises ProfileError.
    """
    path = Path(name)
    if path.suffix in SUFFIXES or len(path.parts) > 1:
        if path.is_file():
            return path
        raise _missing(name, f"found no file `{printable(name)}`, expected a profile")
    known = {found.name: found for found in available(here)}
    if name in known:
        return known[name].path
    raise _missing(name, f"found no profile `{printable(name)}`, expected a name or a path", sorted(known))


def available(here: Path | None = None) -> tuple[Found, ...]:
    """The profiles that have a name here, sorted; a local one hides a built-in one."""
    local = Path("profiles") if here is None else here / "profiles"
    found: dict[str, Found] = {}
    ours = builtin()
    for path in sorted(ours.glob("*.yaml")):
        found[path.stem] = Found(path.stem, path, "built-in")
    if local.is_dir() and not local.samefile(ours):  # in a checkout they are one folder
        for path in sorted(local.glob("*.yaml")):
            if path.is_file():
                found[path.stem] = Found(path.stem, path, "local")
    return tuple(found[name] for name in sorted(found))


def builtin() -> Path:
    """The folder of the built-in profiles: in a checkout beside the package, else inside it.

    An editable installation copies them into the package too, where they would go stale.
    """
    package = Path(__file__).parents[1]
    checkout = package.parent.parent
    beside = checkout / "core_rs" / "Cargo.toml"
    return checkout / "profiles" if beside.is_file() else package / "_data" / "profiles"


def _missing(name: str, message: str, known: list[str] | None = None) -> ProfileError:
    hint = did_you_mean(name, known) if known else "`faultwire profiles list` names the built-in ones"
    where = Location(printable(name)) if known is None else None
    return ProfileError(message, code="profile.not_found", hint=hint, where=where)
