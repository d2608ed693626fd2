"""What only several profiles together tell: entries of one that another leaves nothing to act on, and names
that two of them give to different agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import Location, ProfileError, printable
from faultwire.profile.dump import merge
from faultwire.profile.shadowed import shadowed
from faultwire.profile.yaml import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.profile.entry_model import Entry
    from faultwire.profile.model import Profile


def joined(profiles: Sequence[Profile]) -> Profile:
    """Several profiles as one. Raises ProfileError, as for one profile, where they do not go together."""
    found = list(_problems(profiles))
    if found:
        first, *also = found
        raise ProfileError(first.message, code=first.code, hint=first.hint, where=first.where, also=also)
    return merge(profiles)


def _problems(profiles: Sequence[Profile]) -> Iterator[ProfileError]:
    of = {id(entry): profile for profile in profiles for entry in profile.entries}
    for later, earlier in shadowed([entry for profile in profiles for entry in profile.entries]):
        one, other = of[id(later)], of[id(earlier)]
        if one is other:
            continue  # told when it was read
        message = f"found {_named(later, one)} behind {_named(earlier, other)}, which leaves it no exchange"
        hint = "leave one of the profiles out, or give the first entry a trigger or an `on` of its own"
        yield ProfileError(message, code="profile.never_fires", hint=hint, where=_place(one, later))
    agents: dict[str, Profile] = {}
    for profile in profiles:
        for name, site in profile.agents.items():
            before = agents.setdefault(name, profile)
            if before.agents[name] != site:
                message = (
                    f"found the agent {shown(name)} in `{printable(profile.path)}` and, with another "
                    f"address, in `{printable(before.path)}`, expected one"
                )
                where = Location(printable(profile.path))
                yield ProfileError(message, code="profile.conflict", hint="rename one", where=where)


def _named(entry: Entry, profile: Profile) -> str:
    where = str(_place(profile, entry))
    return f"`{entry.fault.name}` ({where})"


def _place(profile: Profile, entry: Entry) -> Location:
    return Location(printable(profile.path), entry.line or None)
