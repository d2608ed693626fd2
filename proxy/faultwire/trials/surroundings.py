"""The environment of an agent, as a digest: outcomes of a run in another one say nothing of this one."""

from __future__ import annotations

import hmac
import json
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_A_TERMINAL = (
    "_", "SHLVL", "PWD", "OLDPWD", "COLUMNS", "LINES", "TERM", "TERM_*", "COLORTERM", "WINDOWID", "TMUX",
    "TMUX_*", "STY", "WINDOW", "GPG_TTY", "SSH_*", "XDG_SESSION_*", "XDG_ACTIVATION_TOKEN", "DISPLAY",
    "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_STARTUP_ID", "INVOCATION_ID", "JOURNAL_STREAM",
    "ITERM_*", "KITTY_*", "KONSOLE_*", "GNOME_TERMINAL_*", "ALACRITTY_*", "WEZTERM_*", "VSCODE_*", "WT_*",
    "PS1", "PS2", "PROMPT", "PROMPT_COMMAND", "LS_COLORS", "HISTFILE", "HISTSIZE", "PYTEST_CURRENT_TEST",
)  # fmt: skip
"""Variables in which two terminals of one user differ, and on which no agent should depend."""


def digest(environment: Mapping[str, str], key: bytes) -> str:
    """HMAC-SHA-256 over the variables but for `OF_A_TERMINAL`. With a key, since values may be passwords that
    can be guessed."""
    held = sorted(
        (name, value)
        for name, value in environment.items()
        if not any(fnmatchcase(name, glob) for glob in OF_A_TERMINAL)
    )
    text = json.dumps(held).encode()
    return hmac.digest(key, text, "sha256").hex()
