"""`faultwire profiles`: list, show and validate profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli.output import Format, columns, fields, format_option, say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from faultwire.profile.entry_model import Entry
    from faultwire.profile.model import Profile

REPEATED = frozenset({"rate_limit", "overloaded", "reset", "refuse", "close", "dns_failure", "hang"})
"""Faults after which the SDKs repeat a request on their own."""
REPEATED_CODES = frozenset({408, 409, 429})
"""Status codes below 500 that they repeat."""


@click.group()
def profiles() -> None:
    """List, show and validate profiles."""


@profiles.command(name="list")
@format_option
def list_(format_: Format) -> None:
    """List the named profiles: ./profiles/*.yaml and the built-in ones."""
    from faultwire.profile.find import available

    found = [(place, _description(place.path)) for place in available()]
    if format_ == "json":
        keys = ("name", "origin", "path", "description")
        rows = ((place.name, place.origin, str(place.path), description) for place, description in found)
        show_json([dict(zip(keys, row, strict=True)) for row in rows])
        return
    table = ((place.name, place.origin, description) for place, description in found)
    show(columns(("profile", "where", "what happens"), table))


def _description(path: Path) -> str:
    """A profile's description. Other YAML in the folder must not hide valid profiles."""
    from faultwire.errors import ProfileError
    from faultwire.profile.load import load

    try:
        return load(path).description
    except ProfileError as error:
        return f"(invalid profile: {error.code})"


@profiles.command(name="show")
@click.argument("name")
@format_option
def show_(name: str, format_: Format) -> None:
    """Show a profile, by name or path, as its author wrote it."""
    from faultwire.profile.load import dump, find, load

    path = find(name)
    profile = load(path)
    if format_ == "json":
        show_json(dump(profile))
        return
    show(fields((("profile", profile.name), ("path", profile.path), ("sha256", profile.digest))))
    show()
    show(path.read_text(encoding="utf-8").rstrip("\n"), whole=True)


@profiles.command(name="validate")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@format_option
def validate(files: tuple[str, ...], format_: Format) -> None:
    """Check a profile, by name or path; prints every problem with its line (exit code 2).

    Several are checked together, too, as several --profile options are: an entry of one may leave an entry
    of another nothing to act on.
    """
    from faultwire.profile.across import joined
    from faultwire.profile.load import dump, find, load

    profile = joined([load(find(file)) for file in files])
    if format_ == "json":
        show_json(
            {
                "valid": True,
                "profile": dump(profile),
                "warnings": list(profile.warnings),
                "notes": list(_notes(profile)),
            }
        )
    else:
        show(_summary(profile))
        for warning in profile.warnings:
            say(f"warning: {warning}")
        for note in _notes(profile):
            say(f"note: {note}")


def _summary(profile: Profile) -> str:
    count = len(profile.entries)
    head = f"{profile.path}: valid, {count} fault{'' if count == 1 else 's'}"
    return "\n".join((head, *(f"  {entry.line}: {_sentence(entry)}" for entry in profile.entries)))


def _notes(profile: Profile) -> Iterator[str]:
    """What may be meant otherwise: `first: 1` is not the first attempt."""
    for entry in profile.entries:
        trigger = entry.trigger
        counted = "first" if trigger.first is not None else "calls" if trigger.calls is not None else None
        if counted is None or trigger.attempts != "all" or trigger.no_sdk_retry or not _repeated(entry):
            continue
        yield (
            f"{entry.line}: {entry.id}: `{counted}` counts calls, and an SDK's own retries of a call get the "
            "fault, too; with `attempts: first` they come through"
        )


def _repeated(entry: Entry) -> bool:
    """Does the fault make a request fail in a way after which SDKs send it again on their own?"""
    if entry.fault.name == "status":
        code = getattr(entry.fault, "code", 0)
        return code in REPEATED_CODES or code >= 500
    return entry.fault.name in REPEATED


def _sentence(entry: Entry) -> str:
    on = entry.on.model_dump(mode="json", exclude_defaults=True)
    trigger = entry.trigger.model_dump(mode="json", exclude_defaults=True)
    parts = [entry.id, f"on {_pairs(on)}" if on else "on every exchange it can act on"]
    if trigger:
        parts.append(f"when {_pairs(trigger)}")
    return ", ".join(parts)


def _pairs(values: dict[str, object]) -> str:
    return " ".join(f"{key}={_written(value)}" for key, value in values.items())


def _written(value: object) -> str:
    """A value as a profile has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_written(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
