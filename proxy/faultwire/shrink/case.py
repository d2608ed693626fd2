"""What a trial holds: decisions, changed settings of their faults, and the prompt. Frozen, and with a key."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from faultwire._core import sha256_hex
from faultwire.profile.model import Profile
from faultwire.profile.never import never_fires

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.profile.entry_model import Entry
    from faultwire.trials.model import Pin


@dataclass(frozen=True, slots=True)
class Case:
    """One candidate of any stage. `settings` are those of entries that differ from the profile's; `prompt` is
    None where the command takes none."""

    pins: tuple[Pin, ...]
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prompt: str | None = None

    @property
    def key(self) -> str:
        """The same for the same candidate: its name in the state file, which holds no texts."""
        about: dict[str, Any] = {"pins": sorted([pin.entry, pin.call] for pin in self.pins)}
        about |= {"settings": self.settings} if self.settings else {}
        about |= {} if self.prompt is None else {"prompt": self.prompt}
        return sha256_hex(json.dumps(about, sort_keys=True).encode())

    def profile(self, profile: Profile) -> Profile | None:
        """The profile with the case's settings, None where a fault does not take them or could never fire."""
        entries: list[Entry] = []
        for entry in profile.entries:
            changed = self.settings.get(entry.id)
            if changed is not None:
                try:
                    fault = type(entry.fault).model_validate(dict(changed))
                except ValidationError:
                    return None
                entry = entry.model_copy(update={"fault": fault})
                if next(never_fires(fault, entry.on, entry.trigger), None) is not None:
                    return None
            entries.append(entry)
        fields = {name: getattr(profile, name) for name in Profile.model_fields}
        # Made anew: a copy would keep what the original has worked out about its entries.
        return Profile(**{**fields, "entries": tuple(entries)})
