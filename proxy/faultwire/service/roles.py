"""Who may do what, and who asks. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from faultwire.store.tokens import ROLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.store.tokens import Role, Token

Act = Literal["read", "push", "comment", "share", "promote", "members", "audit"]
NEEDED: Mapping[Act, Role] = {
    "read": "viewer",
    "comment": "viewer",
    "push": "runner",
    "share": "runner",
    "promote": "admin",
    "members": "admin",
    "audit": "admin",
}
"""The least role that an act needs, in its project."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who has come in: `name` as the audit log has it, roles by project, and the one run that a link
    to share shows."""

    name: str
    roles: Mapping[str, Role] = field(default_factory=dict)
    shared: tuple[str, str] | None = None

    @classmethod
    def of(cls, token: Token) -> Caller:
        """The bearer of a token, or of a link to share."""
        if token.run is not None:
            return cls(f"link:{token.id}", shared=(token.project, token.run))
        return cls(f"token:{token.name}", {token.project: token.role})

    def may(self, act: Act, project: str, run: str | None = None) -> bool:
        """May they do this in this project, to this run?"""
        if self.shared is not None:
            return act == "read" and run is not None and self.shared == (project, run)
        role = self.roles.get(project)
        return role is not None and ROLES.index(role) >= ROLES.index(NEEDED[act])
